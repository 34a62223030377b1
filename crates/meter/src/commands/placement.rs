//! On which CPU commands run, and where the one that watches them stays.

use crate::placement::{NotPinned, quietest_cpu, step_aside};
use model::machine::Machine;
use std::time::Duration;
use sys::clock::Counter;

/// Length of the clock's calibration for the look at the CPUs.
const CALIBRATION: Duration = Duration::from_millis(5);

/// Why a command can't be pinned.
#[derive(thiserror::Error, Debug)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum PlacementError {
    #[error("CPU {cpu} can't be used: allowed here are {allowed}")]
    NotAllowed {
        cpu: u32,
        /// Which there are, in words.
        allowed: String,
    },
    #[error("no process can be pinned here: {0}; leave --pin out")]
    NotHere(#[from] NotPinned),
}

/// Where commands run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    cpu: Option<u32>,
    home: Vec<u32>,
}

impl Placement {
    /// `pin`: nothing for wherever the scheduler wants; a CPU; or any one,
    /// and then the one that is quietest in a short look.
    #[allow(clippy::option_option, reason = "absent, given, given with a number")]
    pub fn choose(
        pin: Option<Option<u32>>,
        machine: &Machine,
    ) -> Result<Placement, PlacementError> {
        let home = match sys::affinity::allowed_cpus() {
            Ok(home) => home,
            Err(_) if pin.is_none() => Vec::new(),
            Err(error) => return Err(NotPinned::from(error).into()),
        };
        let cpu = match pin {
            None => None,
            Some(Some(cpu)) => {
                Placement::check_cpu(cpu)?;
                Some(cpu)
            }
            Some(None) => {
                let counter = Counter::best();
                let calibration = sys::clock::calibrate(&counter, CALIBRATION);
                let quietest = quietest_cpu(&home, machine, &counter, &calibration, None);
                Some(quietest?)
            }
        };
        Ok(Placement { cpu, home })
    }

    /// Whether a CPU that is asked for can be had.
    pub fn check_cpu(cpu: u32) -> Result<(), PlacementError> {
        let home = sys::affinity::allowed_cpus().map_err(NotPinned::from)?;
        sys::affinity::may_pin_to(cpu).map_err(|_| {
            let allowed: Vec<String> = home.iter().map(u32::to_string).collect();
            PlacementError::NotAllowed { cpu, allowed: allowed.join(", ") }
        })
    }

    /// The commands' only CPU.
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// How many CPUs there are for the commands and latlas.
    pub fn cpus(&self) -> usize {
        let isolated = self.cpu.is_some_and(|cpu| !self.home.contains(&cpu));
        self.home.len() + usize::from(isolated)
    }

    /// Whether the watching process has a CPU that is not the commands'.
    pub fn apart(&self) -> bool {
        self.cpu.is_some() && self.home.iter().any(|&cpu| Some(cpu) != self.cpu)
    }

    /// Moves the calling thread off the commands' CPU, where there is another.
    pub fn step_aside(&self) {
        if self.apart() {
            step_aside(&self.home, self.cpu);
        }
    }

    /// What a reader must know.
    pub fn remarks(&self) -> Vec<String> {
        match self.cpus() {
            1 => vec![
                "only one CPU may be used: latlas shares it with the command, whose switches \
                 include those to it and back"
                    .into(),
            ],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_observer_stays_off_where_there_is_another_cpu() {
        let of = |cpu, home: &[u32]| Placement { cpu, home: home.to_vec() };
        assert!(of(Some(1), &[0, 1]).apart());
        assert!(!of(Some(1), &[1]).apart());
        assert!(!of(None, &[0, 1]).apart());
        assert_eq!(of(None, &[3]).remarks().len(), 1);
        assert!(of(None, &[0, 1]).remarks().is_empty());
        // An isolated CPU is in no set that is inherited.
        let isolated = of(Some(1), &[0]);
        assert!(isolated.apart() && isolated.remarks().is_empty());
        assert_eq!(isolated.cpus(), 2);
    }

    #[test]
    fn a_cpu_that_is_not_allowed_is_refused() {
        let machine = sys::machine_facts(std::path::Path::new("/"));
        match Placement::choose(Some(Some(8000)), &machine) {
            Err(PlacementError::NotAllowed { cpu, .. }) => assert_eq!(cpu, 8000),
            // Apple systems pin nothing.
            Err(PlacementError::NotHere(_)) => {}
            Ok(placement) => panic!("{placement:?}"),
        }
        let free = Placement::choose(None, &machine).expect("nothing asked for");
        assert_eq!(free.cpu(), None);
    }
}
