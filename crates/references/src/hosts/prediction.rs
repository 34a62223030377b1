//! What a type's loads from memory take, predicted from the other types of its group.

use super::curve::{CurveExcess, usual_ns, with_slower_memory};
use super::groups::{GroupKey, Response, large_groups};
use super::term::{Term, log2_cpus, terms};
use crate::record::{CloudType, Membench};
use model::fit::published::shrunk_deviation;
use model::ridge::{RobustRidge, SparseRow, predicted};
use model::stats::{deviation_from, mean, median};
use std::collections::HashMap;

/// A type with what is known of it.
struct ModelHost {
    group: usize,
    record: &'static CloudType,
    curve: &'static Membench,
    row: SparseRow,
    ln_ns: f64,
}

/// The types of a group.
struct HostGroup {
    key: GroupKey,
    hosts: Vec<(&'static CloudType, &'static Membench)>,
    log2_cpus: f64,
    deviation: f64,
}

/// A fitted prediction for all groups.
pub struct HostModel {
    response: Response,
    groups: Vec<HostGroup>,
    hosts: Vec<ModelHost>,
    columns: HashMap<Term, usize>,
    fit: RobustRidge,
}

/// A type, predicted without itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftOutHost {
    /// Place of its group.
    pub group: usize,
    /// Its time of a load, as a logarithm.
    pub ln_ns: f64,
    /// How much slower than predicted, as a logarithm.
    pub off: f64,
    /// Spread of its group.
    pub deviation: f64,
    /// Whether it was quiet.
    pub quiet: bool,
}

impl HostModel {
    /// Of all groups of these types; `None` without one.
    pub fn fitted(records: &'static [CloudType], response: Response) -> Option<HostModel> {
        let groups = large_groups(records, response).into_iter();
        let group = |(key, hosts): (GroupKey, Vec<(&'static CloudType, _)>)| {
            let cpus: Vec<f64> = hosts.iter().map(|(host, _)| log2_cpus(host)).collect();
            let log2_cpus = mean(&cpus).unwrap_or(0.0);
            HostGroup { key, hosts, log2_cpus, deviation: f64::NAN }
        };
        let groups: Vec<HostGroup> = groups.map(group).collect();
        let mut columns: HashMap<Term, usize> = HashMap::new();
        let mut penalties = Vec::new();
        let mut hosts = Vec::new();
        for (place, group) in groups.iter().enumerate() {
            for (index, &(record, curve)) in group.hosts.iter().enumerate() {
                let excess = group.excess(index, curve);
                let mut row = SparseRow::new();
                for (term, value) in group.terms(response, place, record, curve, excess) {
                    let column = *columns.entry(term.clone()).or_insert_with(|| {
                        penalties.push(term.penalty());
                        penalties.len() - 1
                    });
                    row.push((column, value));
                }
                let ln_ns = response.ns_of(curve)?.ln();
                hosts.push(ModelHost { group: place, record, curve, row, ln_ns });
            }
        }
        let rows: Vec<SparseRow> = hosts.iter().map(|host| host.row.clone()).collect();
        let values: Vec<f64> = hosts.iter().map(|host| host.ln_ns).collect();
        let fit = RobustRidge::fitted(&rows, &values, &penalties)?;
        let mut model = HostModel { response, groups, hosts, columns, fit };
        model.learn_spreads()?;
        Some(model)
    }

    fn learn_spreads(&mut self) -> Option<()> {
        let left_out = self.left_out(0.0);
        let deviation = |offs: Vec<f64>| deviation_from(median(offs.iter().copied())?, offs);
        let of_all = deviation(left_out.iter().map(|host| host.off).collect())?;
        for (place, group) in self.groups.iter_mut().enumerate() {
            let own = left_out.iter().filter(|host| host.group == place).map(|host| host.off);
            let own = deviation(own.collect())?;
            group.deviation = shrunk_deviation(own, group.hosts.len(), of_all);
        }
        Some(())
    }

    /// Every type, predicted without itself, as if its memory took longer by a share.
    pub fn left_out(&self, slower_by: f64) -> Vec<LeftOutHost> {
        let mut index_in_group = vec![0; self.groups.len()];
        let hosts = self.hosts.iter().enumerate().map(|(index, host)| {
            let group = &self.groups[host.group];
            let place = index_in_group[host.group];
            index_in_group[host.group] += 1;
            let coefficients = self.fit.coefficients_without(index, &host.row, host.ln_ns);
            let curve = with_slower_memory(host.record, host.curve, slower_by);
            let excess = group.excess(place, &curve);
            let terms = group.terms(self.response, host.group, host.record, &curve, excess);
            let ln_ns = self.response.ns_of(&curve).map_or(f64::NAN, f64::ln);
            LeftOutHost {
                group: host.group,
                ln_ns,
                off: ln_ns - predicted(&coefficients, &self.known_row(terms)),
                deviation: group.deviation,
                quiet: excess.is_quiet(&curve),
            }
        });
        hosts.collect()
    }

    /// The group of this key: how many types, the prediction in ns for one more type of it that shows this, and the
    /// spread. A family that is not known is as the group's mean.
    pub(super) fn predict(
        &self,
        key: &GroupKey,
        like: &CloudType,
    ) -> Option<(Vec<&'static CloudType>, f64, f64)> {
        let place = self.groups.iter().position(|group| group.key == *key)?;
        let group = &self.groups[place];
        let terms = terms((place, group.log2_cpus), like, None);
        let ns = predicted(self.fit.coefficients(), &self.known_row(terms)).exp();
        let types = group.hosts.iter().map(|(record, _)| *record).collect();
        Some((types, ns, group.deviation))
    }

    fn known_row(&self, terms: Vec<(Term, f64)>) -> SparseRow {
        let known = terms.into_iter();
        known.filter_map(|(term, value)| Some((*self.columns.get(&term)?, value))).collect()
    }
}

impl HostGroup {
    fn terms(
        &self,
        response: Response,
        place: usize,
        record: &CloudType,
        curve: &Membench,
        excess: CurveExcess,
    ) -> Vec<(Term, f64)> {
        let from_curve = (response == Response::LargestSet).then_some((curve, excess));
        terms((place, self.log2_cpus), record, from_curve)
    }

    /// What a host's curve exceeds those of the others by.
    fn excess(&self, index: usize, curve: &Membench) -> CurveExcess {
        let host = self.hosts[index].0;
        let others = self.hosts.iter().enumerate().filter(|(other, (record, _))| {
            *other != index && record.cache_kib[2] == host.cache_kib[2]
        });
        let others: Vec<&Membench> = others.map(|(_, (_, curve))| *curve).collect();
        CurveExcess::against(host, curve, |kib| usual_ns(others.iter().copied(), kib))
    }
}
