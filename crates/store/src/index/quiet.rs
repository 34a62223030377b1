//! What kept runs of a machine say of its canaries.

use super::Index;
use crate::Store;
use model::machine::Machine;
use model::summary::MachineKey;

/// Newest runs that are listened to.
const HEARD: usize = 8;

/// The lowest quiet ratio of the newest kept runs of this machine that derived
/// one for later runs; `None` where none did, or the kept runs can't be read.
pub fn kept_quiet_ratio(store: &Store, machine: &Machine, emulated: Option<&str>) -> Option<f64> {
    let key = MachineKey::of_machine(machine, emulated);
    let runs = Index::open(store.clone()).ok()?.by_time().ok()?;
    let of_machine = runs.iter().filter(|run| run.machine == key);
    let taught = of_machine.filter_map(|run| run.quiet_ratio);
    taught.take(HEARD).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::gate::{GateState, Learned};
    use model::machine::Fact;
    use model::run::Run;
    use model::synthetic;

    #[test]
    fn the_lowest_that_was_derived_on_this_machine() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store::in_directory(dir.path());
        let machine = synthetic::run().machine;
        let kept = || kept_quiet_ratio(&store, &machine, None);
        assert_eq!(kept(), None, "nothing is kept");
        let mut number = 0;
        let mut keep = |ratio: f64, change: fn(&mut Run)| {
            let mut run = synthetic::run();
            number += 1;
            run.id = format!("00000000-0000-4000-8000-{number:012}");
            run.started_unix_ms += number * 1000;
            run.gate.quiet_ratio = Some(ratio);
            change(&mut run);
            store.save(&run).expect("kept");
        };
        keep(2.0, |_| ());
        assert_eq!(kept(), Some(2.0));
        keep(1.0, |_| ());
        keep(2.0, |_| ());
        assert_eq!(kept(), Some(1.0));
        keep(0.1, |run| {
            run.machine.hostname = Fact::known("another".into())
        });
        keep(0.2, |run| run.program.emulated = Some("qemu-user".into()));
        keep(0.3, |run| run.gate.state = GateState::MostlyContended);
        keep(0.4, |run| run.gate.multiply_ratio = Some(2.91));
        keep(0.6, |run| run.gate.learned = Learned::FromKeptRuns);
        assert_eq!(kept(), Some(1.0));
        // However many runs came since that teach nothing here.
        for _ in 0..9 {
            keep(0.1, |run| {
                run.machine.hostname = Fact::known("another".into())
            });
            keep(0.3, |run| run.gate.quiet_ratio = None);
        }
        assert_eq!(kept(), Some(1.0));
    }
}
