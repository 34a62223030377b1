//! Where the two threads of a pair run.

use super::pair::Side;
use crate::across::ONE_CPU;
use meter::probe::Terrain;
use std::io;
use sys::affinity::{allowed_cpus, current_cpu, pin_to};

/// Where the two threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Both pinned to the measuring CPU.
    SameCpu,
    /// The second one pinned to another CPU.
    OtherCpu,
    /// Both wherever the scheduler puts them, among the CPUs that may be used.
    Free,
}

/// The CPUs that each thread may use; empty where the system has no such
/// sets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sets {
    pub(super) by_side: [Vec<u32>; 2],
    placement: Placement,
}

impl Placement {
    /// The sets on this machine, as seen from the measuring thread.
    ///
    /// # Errors
    /// Why there are none.
    pub(crate) fn sets(self, terrain: &Terrain) -> Result<Sets, String> {
        let here = || {
            current_cpu()
                .or(terrain.pinned)
                .ok_or("this system does not say on which CPU a thread is")
        };
        let by_side = match self {
            Placement::SameCpu => {
                let here = here()?;
                [vec![here], vec![here]]
            }
            Placement::OtherCpu => {
                let here = here()?;
                let next = terrain.cpus.iter().find(|&&cpu| cpu > here);
                let any = terrain.cpus.iter().find(|&&cpu| cpu != here);
                let other = next.or(any).ok_or(ONE_CPU)?;
                [vec![here], vec![*other]]
            }
            // Without sets of CPUs every thread is free.
            Placement::Free if is_unsupported(&allowed_cpus()) => [Vec::new(), Vec::new()],
            Placement::Free => [terrain.cpus.clone(), terrain.cpus.clone()],
        };
        Ok(Sets {
            by_side,
            placement: self,
        })
    }
}

fn is_unsupported<T>(result: &io::Result<T>) -> bool {
    matches!(result, Err(e) if e.kind() == io::ErrorKind::Unsupported)
}

impl Sets {
    /// The CPUs of a side.
    pub(crate) fn of(&self, side: Side) -> &[u32] {
        &self.by_side[side.place()]
    }

    /// Which two CPUs, where they are two: it matters whether they share a
    /// cache.
    pub(crate) fn note(&self) -> Option<String> {
        let [first, second] = &self.by_side;
        match (self.placement, first.as_slice(), second.as_slice()) {
            (Placement::OtherCpu, [first], [second]) => {
                Some(format!("the two CPUs: {first} and {second}"))
            }
            _ => None,
        }
    }
}

/// The calling thread on a set of CPUs; back where it was when dropped.
pub(crate) struct Pinned {
    before: Option<Vec<u32>>,
}

impl Pinned {
    /// Moves the calling thread; not at all if the set is empty or is what it
    /// has.
    ///
    /// # Errors
    /// Why it can't be moved.
    pub(crate) fn to(cpus: &[u32]) -> Result<Pinned, String> {
        if cpus.is_empty() {
            return Ok(Pinned { before: None });
        }
        let refused = |e: io::Error| {
            let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
            format!("a thread can't be put on CPU {}: {e}", list.join(", "))
        };
        let before = allowed_cpus().map_err(refused)?;
        if before == cpus {
            return Ok(Pinned { before: None });
        }
        pin_to(cpus).map_err(refused)?;
        Ok(Pinned {
            before: Some(before),
        })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Where it came from it may go back to, unless somebody took
            // those CPUs away meanwhile: then it stays.
            let _ = pin_to(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::across::alone;
    use crate::handoff::testing::{allowed, terrain};

    #[test]
    fn a_pinned_thread_goes_back() {
        let before = allowed();
        let here = Pinned::to(&before[..1]).expect("the first CPU");
        assert_eq!(allowed(), before[..1]);
        drop(here);
        assert_eq!(allowed(), before);
        drop(Pinned::to(&before).expect("where it is"));
        drop(Pinned::to(&[]).expect("nowhere"));
        assert_eq!(allowed(), before);
    }

    #[test]
    fn one_cpu_has_no_other() {
        let here = allowed()[0];
        let _here = Pinned::to(&[here]).expect("the first CPU");
        let one = Terrain {
            cpus: vec![here],
            ..terrain()
        };
        assert_eq!(
            Placement::OtherCpu.sets(&one),
            Err("only one CPU may be used".into())
        );
        assert_eq!(alone(&one).as_deref(), Some("only one CPU may be used"));
        let same = Placement::SameCpu.sets(&one).expect("the CPU it is on");
        assert_eq!(same.by_side, [[here], [here]]);
        assert_eq!(same.note(), None);
    }

    #[test]
    fn the_other_cpu_is_the_next_one_and_is_told() {
        let here = allowed()[0];
        let _here = Pinned::to(&[here]).expect("the first CPU");
        let many = Terrain {
            cpus: vec![here, here + 3, here + 5],
            ..terrain()
        };
        assert_eq!(alone(&many), None);
        let sets = Placement::OtherCpu.sets(&many).expect("there is one");
        assert_eq!(sets.by_side, [[here], [here + 3]]);
        let note = format!("the two CPUs: {here} and {}", here + 3);
        assert_eq!(sets.note(), Some(note));
        let free = Placement::Free.sets(&many).expect("all of them");
        assert_eq!(free.by_side, [many.cpus.clone(), many.cpus]);
    }
}
