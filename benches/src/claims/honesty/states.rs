//! What a figure is of, and what the idle machine's figure of the same is.

use crate::ours;
use crate::spread::median;
use model::estimate::{Estimate, Verdict};
use model::run::{Bound, Run};
use std::collections::BTreeMap;

/// One estimate, boiled down.
#[derive(Clone)]
pub(super) struct SeenEstimate {
    pub(super) ok: bool,
    /// Not invalid, and not *inconclusive*.
    pub(super) usable: bool,
    pub(super) bound: Bound,
    pub(super) ns: Option<f64>,
    pub(super) cycles: Option<f64>,
    pub(super) nothing: bool,
    /// The mode that the figure is of, as each page names it (`same CPU`).
    pub(super) mode: Option<String>,
    /// What each mode costs, or each state that the samples fall into, ns.
    pub(super) states: Vec<(String, f64)>,
    pub(super) why: String,
}

impl SeenEstimate {
    fn new(estimate: &Estimate, bound: Bound) -> SeenEstimate {
        let states = estimate.modes.iter().map(|mode| (mode.name.clone(), mode.typical.ns.value));
        SeenEstimate {
            ok: estimate.verdict == Verdict::Ok,
            usable: estimate.verdict.is_usable(),
            bound,
            ns: estimate.ns().map(|i| i.value),
            cycles: estimate.quiet.and_then(|q| Some(q.cycles?.value)),
            nothing: estimate.below_ns.is_some(),
            mode: estimate.mode().map(str::to_owned),
            states: states.collect(),
            why: format!("{} {}", estimate.verdict.text(), estimate.reason),
        }
    }
}

pub(super) type SeenRows = BTreeMap<String, SeenEstimate>;

pub(super) fn seen(run: &Run) -> SeenRows {
    let machine_shape =
        meter::machine_shape::MachineShape::from_machine(&run.machine, vec![0], None);
    let paced = meter::plan::paced_by_core(&machine_shape);
    ours::estimates(run)
        .into_iter()
        .map(|(name, bound, estimate)| {
            // Beyond what the core paces a point follows memory, whatever its
            // row says.
            let point: Option<u64> =
                name.split_once('@').and_then(|(_, at)| at.split(',').next()?.parse().ok());
            let bound = match point {
                Some(bytes) if bytes > paced => Bound::Memory,
                _ => bound,
            };
            let seen = SeenEstimate::new(&estimate, bound);
            (name, seen)
        })
        .collect()
}

/// The idle machine's value of a row.
#[derive(Default)]
pub(super) struct Reference {
    /// Of its figure, where most idle runs are sure of it.
    pub(super) ns: Option<f64>,
    pub(super) cycles: Option<f64>,
    /// Of each mode or state that most idle runs saw, ns.
    pub(super) states: BTreeMap<String, f64>,
}

/// What the idle machine could not measure in most runs is no reference.
pub(super) fn references(idle: &[SeenRows]) -> BTreeMap<String, Reference> {
    let names: Vec<&String> = idle.iter().flat_map(BTreeMap::keys).collect();
    let most = |values: Vec<f64>| median(&values).filter(|_| values.len() * 2 > idle.len());
    let mut references = BTreeMap::new();
    for name in names {
        let all = || idle.iter().filter_map(|rows| rows.get(name)).filter(|seen| !seen.nothing);
        let ok = || all().filter(|seen| seen.ok);
        let mut by_state: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
        for (state, ns) in all().filter(|seen| seen.usable).flat_map(|seen| &seen.states) {
            by_state.entry(state).or_default().push(*ns);
        }
        let states =
            by_state.into_iter().filter_map(|(state, ns)| Some((state.clone(), most(ns)?)));
        let reference = Reference {
            ns: most(ok().filter_map(|seen| seen.ns).collect()),
            cycles: most(ok().filter_map(|seen| seen.cycles).collect()),
            states: states.collect(),
        };
        if reference.ns.is_some() || !reference.states.is_empty() {
            references.insert(name.clone(), reference);
        }
    }
    references
}

/// How far a figure is from the idle machine's.
#[derive(Clone)]
pub(super) struct Deviation {
    pub(super) ns: Option<f64>,
    pub(super) cycles: Option<f64>,
    /// The one that the row answers for: cycles where the core sets the pace
    /// (the core's clock is not the row's to hold), else ns.
    pub(super) own: Option<f64>,
    /// The idle machine's, ns.
    pub(super) reference_ns: f64,
    /// Of which mode or state both are.
    pub(super) state: Option<String>,
    /// Whether the figure does not say itself of which state it is: the idle
    /// machine has several, and this is the nearest of them.
    pub(super) is_nearest: bool,
}

/// A figure next to the idle machine's of the same state. The error is the name of a mode that the
/// idle machine did not run in, whose figure says so.
pub(super) fn deviation(seen: &SeenEstimate, reference: &Reference) -> Result<Deviation, String> {
    let of = |reference_ns: f64, state: Option<&String>, is_nearest: bool| {
        let ns = seen.ns.map(|ns| ns / reference_ns - 1.0);
        let cycles = seen.cycles.zip(reference.cycles).map(|(now, then)| now / then - 1.0);
        let own = match (seen.bound, cycles) {
            (Bound::Core, Some(cycles)) => Some(cycles),
            _ => ns,
        };
        Deviation { ns, cycles, own, reference_ns, state: state.cloned(), is_nearest }
    };
    if let Some(mode) = &seen.mode {
        let ns = reference.states.get(mode).ok_or_else(|| mode.clone())?;
        return Ok(of(*ns, Some(mode), false));
    }
    if let Some(ns) = reference.ns {
        return Ok(of(ns, None, false));
    }
    let distance = |ns: &f64| seen.ns.map_or(0.0, |own| (own / ns).ln().abs());
    let mut states: Vec<_> = reference.states.iter().collect();
    states.sort_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
    match states.first() {
        Some((state, ns)) => Ok(of(**ns, Some(state), true)),
        None => Err("none".into()),
    }
}

/// Whether it is more than this share.
pub(super) fn is_off(deviation: Option<f64>, share: f64) -> bool {
    deviation.is_some_and(|d| d.abs() > share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(ns: f64, mode: Option<&str>, states: &[(&str, f64)]) -> SeenEstimate {
        SeenEstimate {
            ok: states.len() < 2,
            usable: true,
            bound: Bound::Memory,
            ns: Some(ns),
            cycles: None,
            nothing: false,
            mode: mode.map(str::to_owned),
            states: states.iter().map(|(name, ns)| ((*name).to_owned(), *ns)).collect(),
            why: String::new(),
        }
    }

    fn reference(idle: &SeenEstimate) -> Reference {
        let rows = SeenRows::from([("row".to_owned(), idle.clone())]);
        references(&[rows]).remove("row").expect("a reference")
    }

    #[test]
    fn a_figure_of_a_mode_is_set_against_the_same_mode() {
        let both = [("same CPU", 2_000.0), ("other CPU", 14_500.0)];
        let idle = reference(&seen(2_000.0, Some("same CPU"), &both));
        assert_eq!(idle.ns, None, "it was not sure of one figure");
        let of = |busy: SeenEstimate| deviation(&busy, &idle);
        let same = of(seen(2_100.0, Some("same CPU"), &both[..1])).expect("seen idle");
        assert!((same.own.expect("ns") - 0.05).abs() < 1e-9 && !same.is_nearest);
        let other = of(seen(7_250.0, Some("other CPU"), &both[1..])).expect("seen idle");
        assert_eq!((other.own, other.reference_ns), (Some(-0.5), 14_500.0));
        let moved = of(seen(9_000.0, Some("moved"), &[("moved", 9_000.0)]));
        assert_eq!(moved.err().as_deref(), Some("moved"));
    }

    #[test]
    fn a_figure_without_a_name_is_set_against_the_nearest_state() {
        let idle = reference(&seen(100.0, None, &[("fast", 100.0), ("slow", 400.0)]));
        let busy = deviation(&seen(380.0, None, &[]), &idle).expect("two states");
        assert_eq!((busy.state.as_deref(), busy.is_nearest), (Some("slow"), true));
        let one = reference(&seen(100.0, None, &[]));
        let off = deviation(&seen(380.0, None, &[]), &one).expect("a figure");
        assert!(off.state.is_none() && is_off(off.own, 0.25));
    }
}
