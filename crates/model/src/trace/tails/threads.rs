//! The threads of a trace by number and time.

use crate::trace::{Thread, Trace};
use std::collections::HashMap;

/// The threads that had a number, of which it is known what they did.
pub(super) struct Threads<'t>(HashMap<u32, Vec<&'t Thread>>);

impl<'t> Threads<'t> {
    pub(super) fn from_trace(trace: &'t Trace) -> Threads<'t> {
        let mut by_id: HashMap<u32, Vec<&Thread>> = HashMap::new();
        let threads = trace.threads.iter().rev();
        for thread in threads.filter(|thread| !thread.segments.is_empty()) {
            let same = by_id.entry(thread.id).or_default();
            // One that begins no earlier than a later one is never the last before a time.
            if same.last().is_none_or(|last| thread.from_ns < last.from_ns) {
                same.push(thread);
            }
        }
        Threads(by_id)
    }

    /// The last of this number that is there just before a time.
    pub(super) fn before(&self, id: u32, at_ns: u64) -> Option<&'t Thread> {
        let same = self.0.get(&id)?;
        let after = same.partition_point(|thread| thread.from_ns >= at_ns);
        same.get(after).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::random::Random;
    use crate::trace::{Ended, Segment, State, Target, Tier};

    fn thread(id: u32, from_ns: u64, segments: usize) -> Thread {
        Thread {
            id,
            from_ns,
            segments: vec![Segment::new(from_ns, from_ns + 1, State::Runnable); segments],
            ..Thread::default()
        }
    }

    fn trace(threads: Vec<Thread>) -> Trace {
        Trace { threads, ..Trace::new(Target::Process(1), Ended::Time, Tier::Full) }
    }

    #[test]
    fn it_is_the_last_one_that_began_before_in_whatever_order_they_stand() {
        let mut random = Random(5);
        let mut number = |below: u64| (random.share() * below as f64) as u64;
        for _ in 0..200 {
            let count = number(20);
            let threads =
                (0..count).map(|_| thread(number(3) as u32, number(30), number(3) as usize));
            let trace = trace(threads.collect());
            let threads = Threads::from_trace(&trace);
            for (id, at_ns) in (0..4).flat_map(|id| (0..40).map(move |at_ns| (id, at_ns))) {
                let is_there = |thread: &&Thread| {
                    thread.id == id && thread.from_ns < at_ns && !thread.segments.is_empty()
                };
                let plain = trace.threads.iter().rfind(is_there);
                let found = threads.before(id, at_ns);
                assert_eq!(found.map(std::ptr::from_ref), plain.map(std::ptr::from_ref));
            }
        }
    }

    #[test]
    fn a_number_may_be_used_again_for_ever() {
        const MANY: u64 = 1 << 18;
        let trace = trace((0..MANY).map(|at| thread(7, 2 * at, 1)).collect());
        let threads = Threads::from_trace(&trace);
        let mut found = (0..1 << 22).map(|at| threads.before(7, at % (2 * MANY) + 1));
        assert!(found.all(|thread| thread.is_some()));
    }
}
