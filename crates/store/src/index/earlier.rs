//! What stored runs of a machine say to a new one: of its canaries and its clock.

use super::Index;
use crate::Store;
use model::core_clock::{ClockMovement, StoredClock};
use model::machine::Machine;
use model::summary::{KeptRun, MachineKey};

/// Newest runs whose quiet ratio counts.
const RATIOS: usize = 8;
/// Newest runs whose clock counts: the clock of a machine changes with its host
/// and its settings.
const CLOCKS: usize = 40;

/// What stored runs of a machine say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Earlier {
    /// The lowest quiet ratio of the newest runs that derived one for later
    /// runs; absent where none did.
    pub quiet_ratio: Option<f64>,
    /// How far the core's clock moves between runs.
    pub clock_movement: ClockMovement,
}

/// What stored runs of this machine say; nothing where they can't be read.
pub fn earlier(store: &Store, machine: &Machine, emulated: Option<&str>) -> Earlier {
    let key = MachineKey::of_machine(machine, emulated);
    let runs = Index::open(store.clone()).and_then(|index| index.by_time());
    let mut runs = runs.unwrap_or_default();
    runs.retain(|run| run.machine == key);
    let ratios = runs.iter().filter_map(|run| run.quiet_ratio).take(RATIOS);
    let governor = machine.governor.get().map(ToString::to_string);
    let clocks = runs.iter().filter_map(|run| clock(run, &governor));
    let clocks: Vec<StoredClock> = clocks.take(CLOCKS).collect();
    Earlier {
        quiet_ratio: ratios.min_by(f64::total_cmp),
        clock_movement: ClockMovement::of(&clocks),
    }
}

/// The clock of a run, if it was made as a new one is: whole, by latlas, under
/// this governor. Which of several kinds of cores it used is not known of a stored
/// run: there the movement comes out too large rather than too small.
fn clock(run: &KeptRun, governor: &Option<String>) -> Option<StoredClock> {
    let alike = run.partial.is_none() && !run.imported && run.setup.governor == *governor;
    Some(StoredClock {
        started_unix_ms: run.started_unix_ms,
        cycle_ns: run.cycle_ns.filter(|_| alike)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::core_clock::MovementSource;
    use model::gate::{GateState, Learned};
    use model::machine::Fact;
    use model::run::Run;
    use model::synthetic;

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
            earlier(&self.store, &synthetic::run().machine, None)
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
