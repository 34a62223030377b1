//! The lanes of threads by their numbers, which are used again.

use super::bytes::TimeStretch;
use model::trace::State;
use std::collections::HashMap;

/// What the lane of each thread shows.
#[derive(Default)]
pub(super) struct Lanes(HashMap<u32, Vec<Vec<TimeStretch<State>>>>);

impl Lanes {
    /// Of threads with their numbers. One without states has no lane.
    pub(super) fn new(lanes: impl Iterator<Item = (u32, Vec<TimeStretch<State>>)>) -> Lanes {
        let mut by_id: HashMap<u32, Vec<Vec<TimeStretch<State>>>> = HashMap::new();
        for (id, lane) in lanes.filter(|(_, lane)| !lane.is_empty()) {
            by_id.entry(id).or_default().push(lane);
        }
        for same in by_id.values_mut() {
            same.sort_by_key(|lane| lane[0].from_ns);
        }
        Lanes(by_id)
    }

    /// The stretch that begins at a time in which a thread of this number runs on a CPU; if it is
    /// that of the last thread that had begun by then (`runsOfCpu` looks there).
    pub(super) fn running(&self, id: u32, cpu: u32, from_ns: u64) -> Option<TimeStretch<State>> {
        let same = self.0.get(&id)?;
        let after = same.partition_point(|lane| lane[0].from_ns <= from_ns);
        let lane = &same[after.checked_sub(1)?];
        let at = lane.binary_search_by_key(&from_ns, |own| own.from_ns).ok()?;
        Some(lane[at]).filter(|own| own.what == State::Running(cpu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(from_ns: u64, to_ns: u64, what: State) -> TimeStretch<State> {
        TimeStretch { from_ns, to_ns, what }
    }

    #[test]
    fn a_stretch_is_that_of_the_thread_that_has_the_number_then() {
        fastrand::seed(4);
        for _ in 0..100 {
            // Of three numbers, one thread after the other, in any order.
            let mut lanes = Vec::new();
            for id in 0..3 {
                let mut at_ns = 0;
                for _ in 0..fastrand::usize(..8) {
                    at_ns += fastrand::u64(..5);
                    let lane = (0..fastrand::u32(..6)).map(|_| {
                        let from_ns = at_ns;
                        at_ns += fastrand::u64(1..4);
                        let states = [State::Runnable, State::Running(0), State::Running(1)];
                        stretch(from_ns, at_ns, states[fastrand::usize(..3)])
                    });
                    let lane: Vec<TimeStretch<State>> = lane.collect();
                    lanes.push((id, lane));
                }
            }
            fastrand::shuffle(&mut lanes);
            let by_id = Lanes::new(lanes.clone().into_iter());
            for (id, cpu, at_ns) in (0..4).flat_map(|id| {
                let cpus = (0..2).map(move |cpu| (id, cpu));
                cpus.flat_map(|(id, cpu)| (0..200).map(move |at_ns| (id, cpu, at_ns)))
            }) {
                let same = lanes.iter().filter(|(of, _)| *of == id);
                let mut plain = same.flat_map(|(_, lane)| lane);
                let plain =
                    plain.find(|own| own.from_ns == at_ns && own.what == State::Running(cpu));
                assert_eq!(by_id.running(id, cpu, at_ns), plain.copied());
            }
        }
    }

    #[test]
    fn a_number_may_be_used_again_for_ever() {
        const MANY: u64 = 1 << 18;
        let lane = |at: u64| vec![stretch(2 * at, 2 * at + 1, State::Running(3))];
        let lanes = Lanes::new((0..MANY).map(|at| (7, lane(at))));
        let mut found = (0..MANY).map(|at| lanes.running(7, 3, 2 * at));
        assert!(found.all(|own| own.is_some()));
    }
}
