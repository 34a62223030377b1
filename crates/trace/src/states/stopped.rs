//! Stops by signals, as the parent of a process notices them.

use crate::lost::push;
use model::trace::{State, Thread};

/// What threads of a process were in when all of them had stopped, and of which nothing else is
/// recorded, was that stop, until they could go on: from and to, in the order of time.
pub fn stopped(threads: &mut [Thread], process: u32, stops: &[(u64, u64)]) {
    for thread in threads.iter_mut().filter(|t| t.process == process) {
        let mut stops = stops.iter().peekable();
        let mut segments = Vec::with_capacity(thread.segments.len());
        for segment in std::mem::take(&mut thread.segments) {
            while stops.next_if(|(from_ns, _)| *from_ns < segment.from_ns).is_some() {}
            let within = stops.peek().filter(|(from_ns, _)| {
                *from_ns < segment.to_ns && segment.state == State::BlockedOrRunnable
            });
            let until_ns = within.map_or(segment.from_ns, |(_, to_ns)| *to_ns);
            let until_ns = until_ns.min(segment.to_ns);
            push(&mut segments, segment.from_ns, until_ns, State::Stopped);
            push(&mut segments, until_ns, segment.to_ns, segment.state);
        }
        thread.segments = segments;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::trace::Segment;

    #[test]
    fn what_lasts_when_all_have_stopped_is_the_stop() {
        let (runs, off) = (State::Running(0), State::BlockedOrRunnable);
        let thread = |process| Thread {
            process,
            segments: vec![
                Segment::new(0, 10, runs),
                Segment::new(10, 20, off),
                Segment::new(20, 30, runs),
                Segment::new(30, 60, off),
                Segment::new(60, 70, runs),
            ],
            ..Thread::default()
        };
        let mut threads = [thread(7), thread(8)];
        // The last one is noticed when it runs again: it tells nothing.
        stopped(&mut threads, 7, &[(33, 50), (65, 66)]);
        let expected = [
            Segment::new(0, 10, runs),
            Segment::new(10, 20, off),
            Segment::new(20, 30, runs),
            Segment::new(30, 50, State::Stopped),
            Segment::new(50, 60, off),
            Segment::new(60, 70, runs),
        ];
        assert_eq!(threads[0].segments, expected);
        assert_eq!(threads[1], thread(8));
    }
}
