//! What is beyond the usual.

use super::path::{Path, TimePart};
use super::{Cause, Prices};
use crate::stats::middle;
use crate::trace::InterruptKind;
use std::collections::BTreeMap;

/// Medians over all operations.
pub(super) struct Usual {
    parts: BTreeMap<TimePart, f64>,
    interrupts: BTreeMap<InterruptKind, f64>,
    faults: f64,
}

impl Usual {
    pub(super) fn from_paths(paths: &[&Path]) -> Usual {
        let median = |values| middle(values).map_or(0.0, |value| value as f64);
        let mut parts: BTreeMap<TimePart, Vec<u64>> = BTreeMap::new();
        for (at, path) in paths.iter().enumerate() {
            for (part, ns) in &path.parts {
                let values = parts.entry(part.class()).or_default();
                values.resize(paths.len(), 0);
                values[at] += ns;
            }
        }
        let kinds = InterruptKind::ALL.into_iter();
        Usual {
            parts: parts.into_iter().map(|(part, ns)| (part, median(ns))).collect(),
            interrupts: kinds
                .map(|kind| {
                    let of = |path: &&Path| path.interrupts.get(&kind).copied().unwrap_or(0);
                    (kind, median(paths.iter().map(of).collect()))
                })
                .collect(),
            faults: median(paths.iter().map(|path| path.faults).collect()),
        }
    }

    /// How much longer than usual an operation ran.
    pub(super) fn longer_ns(&self, path: &Path) -> f64 {
        let usual_ns = self.parts.get(&TimePart::Running).copied().unwrap_or(0.0);
        let ran_ns = path.parts.get(&TimePart::Running).copied().unwrap_or(0);
        (ran_ns as f64 - usual_ns).max(0.0)
    }

    /// Where the excess of an operation went; `counted` says what interrupts that are not recorded
    /// took of what is left.
    pub(super) fn causes(
        &self,
        path: &Path,
        excess_ns: f64,
        prices: &Prices<'_>,
        counted: impl FnOnce(f64) -> Vec<(InterruptKind, f64)>,
    ) -> Vec<(Cause, f64)> {
        let mut by_class: BTreeMap<TimePart, f64> = BTreeMap::new();
        for (part, &ns) in &path.parts {
            *by_class.entry(part.class()).or_default() += ns as f64;
        }
        let mut causes: Vec<(Cause, f64)> = Vec::new();
        for (&part, &ns) in &path.parts {
            let TimePart::Of(cause) = part else { continue };
            let whole_ns = by_class.get(&part.class()).copied().unwrap_or(0.0);
            let usual_ns = self.parts.get(&part.class()).copied().unwrap_or(0.0);
            let more_ns = (whole_ns - usual_ns) * ns as f64 / whole_ns.max(1.0);
            if more_ns > 0.0 {
                causes.push((cause, more_ns));
            }
        }
        let mut left_ns = self.longer_ns(path);
        let more = |count: u64, usual: f64| (count as f64 - usual).max(0.0);
        let interrupts = path.interrupts.iter().map(|(&kind, &count)| {
            let price = prices.interrupts.get(&kind).copied().unwrap_or(0) as f64;
            let usual = self.interrupts.get(&kind).copied().unwrap_or(0.0);
            (Cause::Interrupts(kind), more(count, usual) * price)
        });
        let fault_ns = prices.fault_ns as f64;
        let faults = (Cause::Faults, more(path.faults, self.faults) * fault_ns);
        let mut explain = |cause, ns: f64| {
            let ns = ns.min(left_ns);
            left_ns -= ns;
            if ns > 0.0 {
                causes.push((cause, ns));
            }
            left_ns
        };
        let mut rest_ns = 0.0;
        for (cause, ns) in interrupts.chain([faults]) {
            rest_ns = explain(cause, ns);
        }
        for (kind, ns) in counted(rest_ns) {
            explain(Cause::Interrupts(kind), ns);
        }
        if left_ns > 0.0 {
            causes.push((Cause::OnCpu, left_ns));
        }
        // Less of one part than usual makes up for more of another; what is missing yet
        // has no cause.
        let sum: f64 = causes.iter().map(|(_, ns)| ns).sum();
        if sum > excess_ns {
            let scale = excess_ns / sum;
            causes.iter_mut().for_each(|(_, ns)| *ns *= scale);
        } else if sum < excess_ns {
            let on_cpu = causes.iter_mut().find(|(cause, _)| *cause == Cause::OnCpu);
            match on_cpu {
                Some((_, ns)) => *ns += excess_ns - sum,
                None => causes.push((Cause::OnCpu, excess_ns - sum)),
            }
        }
        causes.sort_by(|a, b| b.1.total_cmp(&a.1));
        causes
    }
}
