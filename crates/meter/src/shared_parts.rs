//! Rows that depend on a part of the computer that others choose or use: how far their figures hold beyond their own
//! run.
//!
//! Behind a hypervisor, or a network, others use the same device: of five quiet runs of a guest the median of a random
//! read differed by 47 to 74 %, by at most 13 % within each. And the hypervisor moves the guest's CPUs: a line took 10.6,
//! 27 or 107 ns from one to the other in runs of the same half hour. No single run can see that; stored runs do.

use crate::plan::Plan;
use crate::probe::SharedPart;
use model::filesystem::DeviceKind;
use model::machine::{Machine, Presence};
use model::movement::Moved;
use model::run::Row;
use model::share;

/// From what movement between runs on a figure is noisy, as a logarithm of a ratio: a distribution's limit within one.
const NOISY_ABOVE: f64 = 0.10;

/// Downgrades such rows where stored runs say that they move, and where nothing is known and the part is shared.
pub(crate) fn flag_shared_parts(
    rows: &mut [Row],
    plan: &Plan,
    device: Option<DeviceKind>,
    machine: &Machine,
) {
    for row in rows {
        let of_row = plan.cells.iter().filter(|cell| cell.row == row.id);
        let Some(part) = of_row.filter_map(|cell| cell.depends_on).next() else { continue };
        let is_shared = is_shared(part, device, machine);
        let id = row.id.clone();
        row.downgrade(|figure| moves(part, plan.movement.get(&(id.clone(), figure.at)), is_shared));
    }
}

/// Whether others may use or choose it.
fn is_shared(part: SharedPart, device: Option<DeviceKind>, machine: &Machine) -> bool {
    let in_guest = matches!(machine.hypervisor.get(), Some(Presence::Present(_)));
    match part {
        SharedPart::CpuPlacement => in_guest,
        SharedPart::StorageDevice => {
            in_guest
                || !device.is_some_and(DeviceKind::is_disk)
                || device == Some(DeviceKind::Virtio)
        }
    }
}

/// Why another run may well say something else, if it may.
fn moves(part: SharedPart, stored: Option<&Moved>, is_shared: bool) -> Option<String> {
    let (moving, cause) = match part {
        SharedPart::StorageDevice => ("the device's time", "others use this device too"),
        SharedPart::CpuPlacement => {
            ("the time between these CPUs", "the hypervisor moves CPUs between its cores")
        }
    };
    match stored.and_then(|moved| Some((moved.relative?, moved.runs))) {
        Some((relative, runs)) if relative > NOISY_ABOVE => {
            let differ = share::percent(relative.exp() - 1.0);
            Some(format!("{moving} differs by up to {differ} between {runs} stored runs"))
        }
        Some(_) => None,
        None if is_shared => {
            Some(format!("{cause}: six runs within an hour would show how far it moves"))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{self, Request};
    use crate::probe::Probe;
    use model::estimate::{Estimate, Verdict};
    use model::machine::Fact;
    use model::movement::MovementOfRows;
    use model::run::{Bound, Outcome};
    use model::synthetic;
    use model::unit::Unit;

    const DISK: SharedPart = SharedPart::StorageDevice;

    fn moved(relative: f64) -> Moved {
        Moved { relative: Some(relative), runs: 7, pairs: 21 }
    }

    #[test]
    fn only_what_a_device_answers_and_is_ok_is_downgraded() {
        let probes = [
            Probe { depends_on: Some(SharedPart::StorageDevice), ..Probe::blank("my.device") },
            Probe { depends_on: Some(SharedPart::StorageDevice), ..Probe::blank("my.steady") },
            Probe::blank("my.other"),
        ];
        let steady = MovementOfRows::from([(("my.steady".into(), vec![]), moved(0.05))]);
        let request = Request { movement: steady, ..Request::default() };
        let machine = synthetic::run().machine;
        let plan = plan::plan(&probes, &request, &machine).expect("a plan");
        let judged = |verdict: Verdict| {
            let of = |id| {
                let outcome = Outcome::Figure(Estimate::bare(None, verdict));
                Row::new(id, Unit::Time, Bound::Memory, outcome)
            };
            let mut rows = ["my.device", "my.steady", "my.other"].map(of);
            flag_shared_parts(&mut rows, &plan, Some(DeviceKind::Virtio), &machine);
            rows.map(|row| row.estimate().expect("a figure").verdict)
        };
        assert_eq!(judged(Verdict::Ok), [Verdict::Noisy, Verdict::Ok, Verdict::Ok]);
        assert_eq!(judged(Verdict::Invalid), [Verdict::Invalid; 3]);
    }

    #[test]
    fn stored_runs_say_whether_a_device_moves() {
        let reason = moves(DISK, Some(&moved(0.47)), false).expect("it moves");
        assert_eq!(reason, "the device's time differs by up to 60 % between 7 stored runs");
        assert_eq!(moves(DISK, Some(&moved(0.47)), true), Some(reason));
        for is_shared in [false, true] {
            assert_eq!(moves(DISK, Some(&moved(0.09)), is_shared), None);
        }
    }

    #[test]
    fn of_an_unknown_movement_only_a_device_of_its_own_is_trusted() {
        assert_eq!(moves(DISK, None, false), None);
        assert!(
            moves(DISK, None, true)
                .is_some_and(|why| why.starts_with("others use this device too"))
        );
        let mut machine = synthetic::run().machine;
        machine.hypervisor = Fact::known(Presence::Absent);
        let shared = |device: Option<DeviceKind>| is_shared(DISK, device, &machine);
        assert!(!shared(Some(DeviceKind::Nvme)) && !shared(Some(DeviceKind::Rotational)));
        for device in [None, Some(DeviceKind::Virtio), Some(DeviceKind::Network)] {
            assert!(shared(device), "{device:?}");
        }
        machine.hypervisor = Fact::known(Presence::Present("KVM".into()));
        assert!(is_shared(DISK, Some(DeviceKind::Nvme), &machine), "a hypervisor's");
    }

    #[test]
    fn of_a_guests_cpus_each_pair_is_judged_by_its_own_runs() {
        let probe = Probe {
            depends_on: Some(SharedPart::CpuPlacement),
            ..Probe::blank("memory.core_to_core")
        };
        let movement = [(vec![1, 0], moved(0.05)), (vec![2, 0], moved(1.37))];
        let movement = movement.map(|(at, moved)| ((probe.id.to_string(), at), moved));
        let request = Request { movement: movement.into(), ..Request::default() };
        let mut machine = synthetic::run().machine;
        let plan = plan::plan(&[probe], &request, &machine).expect("a plan");
        let mut judged = |hypervisor: Presence| {
            machine.hypervisor = Fact::known(hypervisor);
            let mut rows = [synthetic::core_to_core_row(3, |_, _| 27.0)];
            flag_shared_parts(&mut rows, &plan, None, &machine);
            let Outcome::Map { points, .. } = &rows[0].outcome else { panic!("a map") };
            let reasons = points.iter().map(|point| point.estimate.reason.clone());
            reasons.collect::<Vec<String>>()
        };
        let moves = "the time between these CPUs differs by up to 294 % between 7 stored runs";
        let unknown = "the hypervisor moves CPUs between its cores: six runs within an hour would show how far it moves";
        assert_eq!(judged(Presence::Present("KVM".into())), ["", moves, unknown]);
        assert_eq!(judged(Presence::Absent), ["", moves, ""]);
    }
}
