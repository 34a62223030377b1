//! The means by which threads hand over, one small file each.

mod condvar;
mod eventfd;
mod futex;
mod pipe;
mod semaphore;
mod spin;
mod stream;

pub(crate) use condvar::Condvars;
pub(crate) use eventfd::EventFds;
pub(crate) use futex::Futexes;
pub(crate) use pipe::Pipes;
pub(crate) use semaphore::Semaphores;
pub(crate) use spin::Spin;
pub(crate) use stream::Streams;

/// What is handed over where it must be something.
const TOKEN: [u8; 1] = [b'x'];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::pair::{Manner, Means, Pair, Side, WARM_UP};
    use crate::handoff::placement::Placement;
    use crate::handoff::switches::Waiting;
    use crate::handoff::testing::{Counted, allowed, terrain};
    use meter::probe::Work;
    use std::time::Duration;

    /// Runs a pair where it may run, and counts.
    fn hands_over<M: Means>(name: &str, placements: &[Placement], means: M) {
        let counted = Counted::new(means);
        let mut trips = 0;
        for &placement in placements {
            if placement == Placement::OtherCpu && allowed().len() < 2 {
                continue;
            }
            let manner = Manner {
                placement,
                warm_up: WARM_UP,
                trips_per_event: 1,
                ops_per_trip: 2,
                waiting: Waiting::Depends,
            };
            let pair = Pair::new(&counted, manner, &terrain());
            let events = pair.and_then(|mut pair| pair.stamped(30));
            let events = events.unwrap_or_else(|e| panic!("{name} {placement:?}: {e}"));
            assert_eq!(events.len(), 30, "{name} {placement:?}");
            trips += u64::from(WARM_UP) + 30;
            assert_eq!(counted.counts(), [trips; 4], "{name} {placement:?}");
        }
    }

    const ALL: [Placement; 3] = [Placement::SameCpu, Placement::OtherCpu, Placement::Free];

    #[test]
    fn each_means_hands_over_once_a_turn() {
        hands_over("semaphore", &ALL, Semaphores::new().expect("semaphores"));
        hands_over("condvar", &ALL, Condvars::default());
        hands_over("pipe", &ALL, Pipes::new().expect("pipes"));
        hands_over("unix", &ALL, Streams::unix().expect("sockets"));
        if cfg!(any(target_os = "linux", target_os = "android")) {
            hands_over("futex", &ALL, Futexes::new().expect("futexes"));
            hands_over("eventfd", &ALL, EventFds::new().expect("eventfds"));
        }
        hands_over("spin", &[Placement::OtherCpu], Spin::default());
    }

    /// A side that waits comes back when the pair is abandoned.
    fn lets_go<M: Means>(name: &str, means: M) {
        means.give(Side::First).expect("room for a token");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| means.take(Side::First));
            std::thread::sleep(Duration::from_millis(10));
            assert!(!waiting.is_finished(), "{name}: there is nothing to take");
            means.abandon();
            // With a token or an error, as the means may be.
            let _ = waiting.join().expect("no panic");
        });
    }

    #[test]
    fn abandoning_brings_a_waiting_side_back() {
        lets_go("semaphore", Semaphores::new().expect("semaphores"));
        lets_go("condvar", Condvars::default());
        lets_go("pipe", Pipes::new().expect("pipes"));
        lets_go("unix", Streams::unix().expect("sockets"));
        if cfg!(any(target_os = "linux", target_os = "android")) {
            lets_go("futex", Futexes::new().expect("futexes"));
            lets_go("eventfd", EventFds::new().expect("eventfds"));
        }
        lets_go("spin", Spin::default());
    }
}
