//! Where the two threads of a pair run.

use crate::engine::reason::Reason;
use meter::probe::MachineShape;
use std::io;
use sys::affinity::{allowed_cpus, current_cpu};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Both pinned to the measuring CPU.
    SameCpu,
    /// The second one pinned to another CPU.
    OtherCpu,
    /// Both wherever the scheduler puts them, among the CPUs that may be used.
    Free,
}

/// The CPUs that each thread may use, by side; empty where the system has no
/// such sets.
pub(super) type Sets = [Vec<u32>; 2];

impl Placement {
    /// The sets on this machine, as seen from the measuring thread.
    pub(super) fn sets(self, machine: &MachineShape) -> Result<Sets, Reason> {
        let here = || {
            let here = current_cpu().or(machine.pinned);
            here.ok_or(Reason::missing("this system does not say on which CPU a thread runs"))
        };
        Ok(match self {
            Placement::SameCpu => {
                let here = here()?;
                [vec![here], vec![here]]
            }
            Placement::OtherCpu => {
                let here = here()?;
                let next = machine.cpus.iter().find(|&&cpu| cpu > here);
                let any = machine.cpus.iter().find(|&&cpu| cpu != here);
                [vec![here], vec![*next.or(any).ok_or(Reason::OneCpu)?]]
            }
            // Without sets of CPUs every thread is free.
            Placement::Free if is_unsupported(&allowed_cpus()) => [Vec::new(), Vec::new()],
            Placement::Free => [machine.cpus.clone(), machine.cpus.clone()],
        })
    }

    /// Which two CPUs, where they are two: it matters whether they share a
    /// cache.
    pub(super) fn note(self, sets: &Sets) -> Option<String> {
        match (self, &sets[0][..], &sets[1][..]) {
            (Placement::OtherCpu, [first], [second]) => {
                Some(format!("the two CPUs: {first} and {second}"))
            }
            _ => None,
        }
    }
}

fn is_unsupported<T>(result: &io::Result<T>) -> bool {
    matches!(result, Err(e) if e.kind() == io::ErrorKind::Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{here, small_machine};
    use crate::engine::threads::Pinned;

    #[test]
    fn the_other_cpu_is_the_next_one_if_there_is_one() {
        let here = here();
        let _here = Pinned::to(&[here]).expect("the first CPU");
        let of = |cpus: Vec<u32>, placement: Placement| {
            let machine = MachineShape { cpus, ..small_machine() };
            let sets = placement.sets(&machine)?;
            Ok((placement.note(&sets), sets))
        };
        let one = || vec![here];
        assert_eq!(of(one(), Placement::OtherCpu), Err(Reason::OneCpu));
        assert_eq!(of(one(), Placement::SameCpu), Ok((None, [one(), one()])));
        let many = vec![here, here + 3, here + 5];
        let note = format!("the two CPUs: {here} and {}", here + 3);
        let other = (Some(note), [one(), vec![here + 3]]);
        assert_eq!(of(many.clone(), Placement::OtherCpu), Ok(other));
        let free = (None, [many.clone(), many.clone()]);
        assert_eq!(of(many, Placement::Free), Ok(free));
    }
}
