//! Two threads that hand a token to and fro: the frame of every row whose
//! time is a wake-up's.

use super::modes::MODES;
use super::placement::{Placement, Sets};
use super::play::play;
use super::switches::{Seen, Waiting};
use crate::across::{counters, event};
use meter::probe::{Event, Terrain, Work};
use std::io;
use std::time::Duration;

/// Round trips before the first stamp, where they are short: the scheduler
/// finds its places for the two threads, and their memory is touched. After
/// 20 the next ten were still 6 % slower than the rest.
pub(crate) const WARM_UP: u32 = 100;

/// How long a whole visit may take before it is given up. A round trip takes
/// less than 0.1 ms.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// One of the two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The one that stamps; it begins.
    First,
    /// Its partner.
    Second,
}

impl Side {
    /// The side as a place in an array of two.
    pub(crate) fn place(self) -> usize {
        self as usize
    }

    pub(crate) fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }
}

/// A means by which a token goes from one thread to the other.
pub(crate) trait Means: Sync {
    /// Hands the token over to the other side.
    fn give(&self, from: Side) -> io::Result<()>;

    /// Waits for the token.
    fn take(&self, at: Side) -> io::Result<()>;

    /// Brings both sides back from waiting, now and later, for a pair that
    /// has come to an untimely end. A further token each does it for means
    /// that never wait to give.
    fn abandon(&self) {
        let _ = self.give(Side::First);
        let _ = self.give(Side::Second);
    }
}

/// How a pair is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Where the two threads run.
    pub(crate) placement: Placement,
    /// Round trips before the first stamp.
    pub(crate) warm_up: u32,
    /// Round trips between two stamps: one, unless the stamps themselves
    /// would show.
    pub(crate) trips_per_event: u32,
    /// Operations in a round trip, as the row counts them.
    pub(crate) ops_per_trip: u64,
    /// What is assumed of the kernel's count.
    pub(crate) waiting: Waiting,
}

/// The work of a row: a pair that is started anew for each visit.
pub(crate) struct Pair<M> {
    means: M,
    manner: Manner,
    pub(super) sets: Sets,
    patience: Duration,
    /// How far stamps of different CPUs can be compared, where it matters.
    counters: Option<String>,
    seen: Option<Seen>,
}

/// How a row makes its pair.
pub(crate) type Made = Result<Box<dyn Work>, String>;

impl<M: Means + 'static> Pair<M> {
    /// [`Pair::new`] as a row's work.
    pub(crate) fn made(means: M, manner: Manner, terrain: &Terrain) -> Made {
        Ok(Box::new(Pair::new(means, manner, terrain)?))
    }
}

impl<M: Means> Pair<M> {
    /// A pair that will run as the manner says.
    ///
    /// # Errors
    /// Why its threads can't be placed so on this machine, or stamp there.
    pub(crate) fn new(means: M, manner: Manner, terrain: &Terrain) -> Result<Pair<M>, String> {
        let sets = manner.placement.sets(terrain)?;
        // A thread that is free may move between its two stamps.
        let counters = match manner.placement {
            Placement::Free => counters(&terrain.cpus)?.note.clone(),
            Placement::SameCpu | Placement::OtherCpu => None,
        };
        Ok(Pair {
            means,
            manner,
            sets,
            patience: PATIENCE,
            counters,
            seen: None,
        })
    }

    #[cfg(test)]
    pub(crate) fn with_patience(mut self, patience: Duration) -> Pair<M> {
        self.patience = patience;
        self
    }
}

impl<M: Means> Work for Pair<M> {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn run(&mut self, _turns: u64, _double: bool) {}
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, String> {
        self.seen = None;
        let found = play(
            &self.means,
            &self.manner,
            &self.sets,
            operations,
            self.patience,
        )?;
        let mut seen = Seen {
            switches: found.switches,
            trips: u64::from(self.manner.warm_up) + u64::from(operations) * self.trips_per_event(),
            cpus_known: found.modes.is_some(),
            events: [0; 3],
        };
        let modes = found.modes.unwrap_or_else(|| vec![0; found.stamps.len()]);
        let events = found.stamps.iter().zip(&modes).map(|(&(from, to), &mode)| {
            seen.events[usize::from(mode)] += 1;
            let ops = self.trips_per_event() * self.manner.ops_per_trip;
            event(from, to, ops, mode)
        });
        let events = events.collect();
        self.seen = Some(seen);
        Ok(events)
    }
    fn modes(&self) -> Vec<String> {
        match &self.seen {
            Some(seen) if seen.cpus_known => MODES.map(String::from).to_vec(),
            _ => Vec::new(),
        }
    }
    fn contradiction(&self) -> Option<String> {
        self.seen?.contradiction(&self.manner)
    }
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.seen.map(|seen| seen.note(self.manner.waiting)));
        notes.extend(self.sets.note());
        notes.extend(self.counters.clone());
        notes
    }
}

impl<M> Pair<M> {
    fn trips_per_event(&self) -> u64 {
        u64::from(self.manner.trips_per_event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::means::{Semaphores, Spin};
    use crate::handoff::modes::{OTHER_CPU, SAME_CPU};
    use crate::handoff::testing::{allowed, manner, terrain};

    #[test]
    fn the_kernels_count_tells_spinning_from_sleeping() {
        if allowed().len() < 2 {
            return;
        }
        let spins = |waiting| {
            let manner = manner(Placement::OtherCpu, waiting);
            let mut pair = Pair::new(Spin::default(), manner, &terrain()).expect("two CPUs");
            pair.stamped(200).expect("it runs");
            pair.contradiction()
        };
        let said = spins(Waiting::Sleeps).expect("it does not sleep");
        let assumed = "the method assumes 2 context switches per round trip";
        assert!(said.starts_with(assumed), "{said}");
        let sleeps = |placement, waiting| {
            let semaphores = Semaphores::new().expect("semaphores");
            let mut pair =
                Pair::new(semaphores, manner(placement, waiting), &terrain()).expect("CPUs");
            pair.stamped(200).expect("it runs");
            pair.contradiction()
        };
        for placement in [Placement::SameCpu, Placement::OtherCpu, Placement::Free] {
            assert!(sleeps(placement, Waiting::Spins).is_some(), "{placement:?}");
            assert_eq!(sleeps(placement, Waiting::Depends), None);
            // Others may take a CPU for a while: not in every visit.
            assert!(
                (0..5).any(|_| sleeps(placement, Waiting::Sleeps).is_none()),
                "{placement:?}"
            );
        }
        assert!((0..5).any(|_| spins(Waiting::Spins).is_none()));
    }

    #[test]
    fn pinned_pairs_run_in_the_mode_of_their_placement() {
        let mut expected = vec![(Placement::SameCpu, SAME_CPU)];
        if allowed().len() > 1 {
            expected.push((Placement::OtherCpu, OTHER_CPU));
        }
        for (placement, mode) in expected {
            let semaphores = Semaphores::new().expect("semaphores");
            let manner = Manner {
                trips_per_event: 3,
                ..manner(placement, Waiting::Sleeps)
            };
            let mut pair = Pair::new(semaphores, manner, &terrain()).expect("CPUs");
            assert!(pair.modes().is_empty(), "nothing is known yet");
            let events = pair.stamped(7).expect("it runs");
            assert_eq!(events.len(), 7);
            assert!(events.iter().all(|e| e.mode == mode && e.ops == 6));
            assert_eq!(pair.modes(), MODES);
            assert_eq!(pair.seen.map(|s| s.trips), Some(u64::from(WARM_UP) + 21));
        }
    }
}
