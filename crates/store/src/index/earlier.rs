//! What stored runs of a machine say to a new one: of its canaries and its clock.

use super::Index;
use crate::{Store, StoreError};
use model::core_clock::ClockMovement;
use model::machine::Machine;
use model::movement::{Moved, MovementOfRows, StoredFigure};
use model::summary::{KeptRun, MachineKey};
use std::collections::BTreeMap;

/// Newest runs whose quiet ratio counts.
const RATIOS: usize = 8;
/// Newest runs whose clock counts: the clock of a machine changes with its host
/// and its settings.
const CLOCKS: usize = 40;

/// What stored runs of a machine say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Earlier {
    /// The lowest quiet ratio of the newest runs that derived one for later
    /// runs; absent where none did.
    pub quiet_ratio: Option<f64>,
    /// How far the core's clock moves between runs.
    pub clock_movement: ClockMovement,
    /// How far the rows asked about move between runs; absent where too few runs are stored to know.
    pub movement: MovementOfRows,
}

/// What stored runs of this machine say, and of these rows how far they move; nothing where they can't be read.
pub fn earlier(
    store: &Store,
    machine: &Machine,
    emulated: Option<&str>,
    rows: &[String],
) -> Earlier {
    let key = MachineKey::of_machine(machine, emulated);
    let Ok(index) = Index::open(store.clone()) else { return Earlier::default() };
    let mut runs = index.by_time().unwrap_or_default();
    runs.retain(|run| run.machine == key);
    let ratios = runs.iter().filter_map(|run| run.quiet_ratio).take(RATIOS);
    let governor = machine.governor.get().map(ToString::to_string);
    let clocks = runs.iter().filter_map(|run| clock(run, &governor));
    let clocks: Vec<StoredFigure> = clocks.take(CLOCKS).collect();
    Earlier {
        quiet_ratio: ratios.min_by(f64::total_cmp),
        clock_movement: ClockMovement::from_clocks(&clocks),
        movement: movement_of_rows(&index, &runs, rows).unwrap_or_default(),
    }
}

/// How far rows move between these runs, the newest first, each point by itself, where enough of them have it. Verdicts
/// don't count, since they depend on this.
fn movement_of_rows(
    index: &Index,
    runs: &[KeptRun],
    rows: &[String],
) -> Result<MovementOfRows, StoreError> {
    let mut moved = MovementOfRows::new();
    for row in rows {
        let values = index.values_of(row)?;
        let mut points: BTreeMap<&[u64], Vec<StoredFigure>> = BTreeMap::new();
        for run in runs.iter().filter(|run| run.partial.is_none() && !run.imported) {
            for (at, ns) in values.get(&run.id).into_iter().flatten() {
                let figure = StoredFigure { started_unix_ms: run.started_unix_ms, ns: *ns };
                points.entry(at).or_default().push(figure);
            }
        }
        for (at, mut figures) in points {
            figures.truncate(CLOCKS);
            let known = Some(Moved::from_figures(&figures)).filter(Moved::is_known);
            moved.extend(known.map(|known| ((row.clone(), at.to_vec()), known)));
        }
    }
    Ok(moved)
}

/// The clock of a run, if it was made as a new one is: whole, by latlas, under
/// this governor. Which of several kinds of cores it used is not known of a stored
/// run: there the movement comes out too large rather than too small.
fn clock(run: &KeptRun, governor: &Option<String>) -> Option<StoredFigure> {
    let alike = run.partial.is_none() && !run.imported && run.setup.governor == *governor;
    Some(StoredFigure { started_unix_ms: run.started_unix_ms, ns: run.cycle_ns.filter(|_| alike)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::core_clock::MovementSource;
    use model::estimate::{Estimate, Typical, Verdict};
    use model::gate::{GateState, Learned};
    use model::machine::Fact;
    use model::run::{Bound, Outcome, Row, Run};
    use model::stats::Interval;
    use model::synthetic;
    use model::unit::Unit;
    use std::collections::BTreeSet;

    /// A store, and a way to save runs there a minute apart.
    struct Saved {
        store: Store,
        number: u64,
        _directory: tempfile::TempDir,
    }

    impl Saved {
        fn none() -> Saved {
            let directory = tempfile::tempdir().expect("a directory");
            Saved { store: Store::in_directory(directory.path()), number: 0, _directory: directory }
        }

        fn save(&mut self, change: impl Fn(&mut Run)) {
            let mut run = synthetic::run();
            self.number += 1;
            run.id = format!("00000000-0000-4000-8000-{:012}", self.number);
            run.started_unix_ms += self.number * 60_000;
            change(&mut run);
            self.store.save(&run).expect("kept");
        }

        fn earlier(&self) -> Earlier {
            earlier(&self.store, &synthetic::run().machine, None, &[])
        }
    }

    #[test]
    fn the_lowest_ratio_that_was_derived_on_this_machine() {
        let mut saved = Saved::none();
        assert_eq!(saved.earlier(), Earlier::default(), "nothing is kept");
        let mut keep = |ratio: f64, change: fn(&mut Run)| {
            saved.save(|run| {
                run.gate.quiet_ratio = Some(ratio);
                change(run);
            });
            saved.earlier().quiet_ratio
        };
        assert_eq!(keep(2.0, |_| ()), Some(2.0));
        keep(1.0, |_| ());
        assert_eq!(keep(2.0, |_| ()), Some(1.0));
        keep(0.1, |run| run.machine.hostname = Fact::known("another".into()));
        keep(0.2, |run| run.program.emulated = Some("qemu-user".into()));
        keep(0.3, |run| run.gate.state = GateState::MostlyContended);
        keep(0.4, |run| run.gate.multiply_ratio = Some(2.91));
        let last = keep(0.6, |run| run.gate.learned = Learned::FromKeptRuns);
        assert_eq!(last, Some(1.0));
        // However many runs came since that teach nothing here.
        for _ in 0..9 {
            keep(0.1, |run| run.machine.hostname = Fact::known("another".into()));
            let last = keep(0.3, |run| run.gate.quiet_ratio = None);
            assert_eq!(last, Some(1.0));
        }
    }

    #[test]
    fn what_is_shared_moves_by_what_its_rows_say_whatever_their_verdict() {
        let mut saved = Saved::none();
        let mut moved_after = |ns: f64, verdict: Verdict| {
            saved.save(|run| {
                let ns = Interval { value: ns, low: ns * 0.9, high: ns * 1.1 };
                let typical = Typical { ns, p10_ns: ns.low, p90_ns: ns.high, samples: 40 };
                let figure = Outcome::Figure(Estimate::bare(Some(typical), verdict));
                run.rows.push(Row::new("my.device", Unit::Time, Bound::Memory, figure));
                let near = synthetic::core_to_core_row(3, |y, x| match (y, x) {
                    (1, 0) => 30.0,
                    _ => 3e-4 * ns.value,
                });
                run.rows.retain(|row| row.id != near.id);
                run.rows.push(near);
            });
            let machine = synthetic::run().machine;
            let rows = ["my.device", "my.other", "memory.core_to_core"].map(str::to_owned);
            earlier(&saved.store, &machine, None, &rows).movement
        };
        for k in 0..5 {
            let few = moved_after(1e5 * 1.5_f64.powi(k % 2), Verdict::Noisy);
            assert!(few.is_empty(), "{few:?}");
        }
        let six = moved_after(1.5e5, Verdict::Ok);
        let far = ["memory.core_to_core", "my.device"].map(str::to_owned);
        assert_eq!(BTreeSet::from_iter(six.keys().map(|(row, _)| row.clone())), far.into());
        let expected = 1.5_f64.ln() * model::stats::t_quantile_975(5) / 1.96;
        let pair = |y, x| six[&("memory.core_to_core".to_owned(), vec![y, x])];
        for found in [six[&("my.device".to_owned(), vec![])], pair(2, 0), pair(2, 1)] {
            assert!((found.relative.expect("known") - expected).abs() < 1e-9, "{found:?}");
            assert_eq!((found.runs, found.pairs), (6, 15));
        }
        assert_eq!(pair(1, 0).relative, Some(0.0), "each pair of CPUs by itself");
    }

    #[test]
    fn the_clock_moves_as_it_did_between_runs_made_alike() {
        let mut saved = Saved::none();
        let clock = |run: &mut Run, cycle_ns: f64| {
            let clock = run.core_clock.as_mut().expect("a clock");
            clock.cycle_ns = clock.cycle_ns.scaled(cycle_ns / clock.cycle_ns.value);
        };
        let others: [fn(&mut Run); 4] = [
            |run| run.machine.hostname = Fact::known("another".into()),
            |run| run.machine.governor = Fact::known("powersave".into()),
            |run| run.partial = Some("interrupted".into()),
            |run| run.imported = Some(synthetic::imported()),
        ];
        for k in 0..6 {
            // 2 % apart, in turns.
            saved.save(|run| clock(run, 0.30 * 1.02_f64.powi(k % 2)));
            for other in others {
                saved.save(|run| {
                    clock(run, 0.60);
                    other(run);
                });
            }
        }
        let found = saved.earlier().clock_movement;
        let expected = 1.02_f64.ln() * model::stats::t_quantile_975(5) / 1.96;
        assert!((found.relative - expected).abs() < 1e-9, "{found:?}");
        let source = MovementSource::Stored { runs: 6, pairs: 15 };
        assert_eq!(found.source, source);
        // A run without a clock says nothing of it.
        saved.save(|run| run.core_clock = None);
        assert_eq!(saved.earlier().clock_movement, found);
    }
}
