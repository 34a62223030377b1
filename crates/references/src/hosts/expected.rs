//! What published figures let one expect of the host of a run.

use super::contradictions::contradictions;
use super::memory::{MemoryOfHosts, NothingPublished, memory_of_hosts, usual_l3};
use crate::comparison::{PublishedFigure, PublishedUnit, RowName, published_figures, run_core};
use crate::machine::{IdentityDoubt, MachineIdentity, MatchCertainty, find_records};
use crate::packed::DamagedRecords;
use crate::record::Provider;
use crate::source::Source;
use model::fit::Element;
use model::fit::expectation::{ElementSpread, Expectation, ExpectedElement, SCHEMA};
use model::fit::identity::Identity;
use model::fit::published::{Basis, PublishedHosts};
use model::run::Run;

/// What is expected of a run's host; without an element where nothing is published of its CPU.
pub fn published_expectation(run: &Run) -> Result<Expectation, DamagedRecords> {
    let identity = MachineIdentity::shown_by(&run.machine);
    let emulated = identity.doubts.contains(&IdentityDoubt::Emulated);
    if emulated || run.program.emulated.is_some() || run.imported.is_some() {
        return Ok(expectation(Vec::new(), Err(NothingPublished::Emulated)));
    }
    let figures = published_figures(&find_records(&identity)?, run_core(run));
    let memory = memory_of_hosts(run, &identity)?;
    let mut all = expectation(elements_of_design(&figures), memory);
    if let Basis::Published(hosts) = &mut all.basis {
        let l3 = hosts.usual_l3_bytes.filter(|_| hosts.types > 0);
        hosts.contradictions = contradictions(run, &identity, &figures, l3);
    }
    Ok(all)
}

fn expectation(
    mut elements: Vec<ExpectedElement>,
    memory: Result<MemoryOfHosts, NothingPublished>,
) -> Expectation {
    let mut hosts =
        PublishedHosts { credit: Source::Cloud.credit().into(), ..PublishedHosts::default() };
    let mut names = Vec::new();
    match memory {
        Ok(memory) => {
            let (median, spread) = (memory.ns, memory.spread);
            let element = Element::Dram;
            elements.push(ExpectedElement { element, median, spread, hosts: memory.types.len() });
            let mut providers: Vec<Provider> =
                memory.types.iter().map(|record| record.provider).collect();
            providers.sort();
            providers.dedup();
            hosts.providers = providers.len();
            hosts.provider = memory.provider.map(|provider| provider.text().into());
            hosts.types = memory.types.len();
            hosts.usual_l3_bytes = usual_l3(&memory.types);
            hosts.cpu = memory.cpu;
            names.extend(memory.types.iter().map(|record| record.type_name.clone()));
        }
        Err(why) => hosts.no_memory = Some(why.to_string()),
    }
    names.sort();
    Expectation {
        schema: SCHEMA,
        runs: names.len(),
        hosts: names,
        left_out: Vec::new(),
        identity: Identity::default(),
        elements,
        groups: Vec::new(),
        limit: 1.0,
        basis: Basis::Published(hosts),
    }
}

/// Cycles that belong to the core, of the signature's own record.
fn elements_of_design(figures: &[PublishedFigure]) -> Vec<ExpectedElement> {
    let rows = [(Element::Multiply, "cpu.mul_i64"), (Element::L1, "memory.latency/L1")];
    let elements = rows.into_iter().filter_map(|(element, row)| {
        let own = figures.iter().find(|figure| {
            figure.row == RowName::row(row)
                && figure.unit == PublishedUnit::Cycles
                && figure.certainty != MatchCertainty::Weak
        })?;
        let spread = ElementSpread {
            deviation: (own.expected.high / own.expected.low).ln() / 2.0,
            degrees_of_freedom: own.records as f64,
            within: None,
        };
        Some(ExpectedElement { element, median: own.expected.value, spread, hosts: own.records })
    });
    elements.collect()
}
