//! A part of a trace.

use super::{Clocks, Target, Trace};

/// What lies within a stretch, with times since its beginning.
#[derive(Clone, Copy)]
struct CutStretch {
    from_ns: u64,
    to_ns: u64,
}

impl CutStretch {
    /// The part of a stretch that lies within; `None` if nothing does.
    fn part(self, from_ns: &mut u64, to_ns: &mut u64) -> bool {
        let touches = *from_ns <= self.to_ns && *to_ns >= self.from_ns;
        *from_ns = self.since(*from_ns);
        *to_ns = self.since(*to_ns);
        touches
    }

    fn moment(self, at_ns: &mut u64) -> bool {
        let within = (self.from_ns..=self.to_ns).contains(at_ns);
        *at_ns = self.since(*at_ns);
        within
    }

    fn since(self, at_ns: u64) -> u64 {
        at_ns.clamp(self.from_ns, self.to_ns) - self.from_ns
    }
}

impl Trace {
    /// The trace from one time to another: threads that were there, what began
    /// before and ends after as the part in between. Losses are those of the whole.
    pub fn cut(mut self, from_ns: u64, to_ns: u64) -> Trace {
        self.keep(from_ns, to_ns);
        self
    }

    /// The same in place.
    pub fn keep(&mut self, from_ns: u64, to_ns: u64) {
        let to_ns = to_ns.min(self.duration_ns);
        let stretch = CutStretch { from_ns: from_ns.min(to_ns), to_ns };
        self.threads.retain_mut(|thread| {
            let (from, to) = (&mut thread.from_ns, &mut thread.to_ns);
            let ends_within = *to <= stretch.to_ns;
            let there = stretch.part(from, to);
            thread.ended &= ends_within;
            thread.segments.retain_mut(|segment| {
                let (from, to) = (&mut segment.from_ns, &mut segment.to_ns);
                stretch.part(from, to) && from < to
            });
            // Of what began before, the last is that of the first stretch.
            let before = thread.left.partition_point(|left| left.at_ns < stretch.from_ns);
            thread.left.drain(..before.saturating_sub(1));
            thread.left.retain_mut(|left| {
                let kept = left.at_ns <= stretch.to_ns;
                left.at_ns = stretch.since(left.at_ns);
                kept
            });
            let calls = &mut thread.calls;
            calls.retain_mut(|call| stretch.part(&mut call.from_ns, &mut call.to_ns));
            thread.faults.retain_mut(|fault| match &mut fault.served {
                Some(served) => stretch.part(&mut fault.at_ns, &mut served.to_ns),
                None => stretch.moment(&mut fault.at_ns),
            });
            thread.maps.retain_mut(|map| stretch.moment(&mut map.at_ns));
            thread.heap.retain_mut(|call| match &mut call.to_ns {
                Some(to) => stretch.part(&mut call.from_ns, to),
                None => stretch.moment(&mut call.from_ns),
            });
            thread.samples.retain_mut(|sample| stretch.moment(&mut sample.at_ns));
            thread.signposts.retain_mut(|signpost| match &mut signpost.to_ns {
                Some(to) => stretch.part(&mut signpost.from_ns, to),
                None => stretch.moment(&mut signpost.from_ns),
            });
            there
        });
        for cpu in &mut self.cpus {
            cpu.switches.retain_mut(|switch| stretch.moment(&mut switch.at_ns));
            let interrupts = &mut cpu.interrupts;
            interrupts.retain_mut(|interrupt| stretch.moment(&mut interrupt.at_ns));
            cpu.lost.retain_mut(|(from, to)| stretch.part(from, to) && from < to);
        }
        self.wakeups.retain_mut(|wakeup| stretch.moment(&mut wakeup.at_ns));
        if let Target::Row(row) = &mut self.target {
            // Half of an operation is none.
            row.operations.retain_mut(|operation| {
                let whole =
                    operation.from_ns >= stretch.from_ns && operation.to_ns <= stretch.to_ns;
                stretch.part(&mut operation.from_ns, &mut operation.to_ns) && whole
            });
            if let Some(watch) = &mut row.watch {
                watch.readings.retain_mut(|reading| stretch.moment(&mut reading.at_ns));
                watch
                    .clock_steps
                    .retain_mut(|step| stretch.part(&mut step.before_ns, &mut step.after_ns));
            }
        }
        let Clocks { raw_ns, boot_ns, real_ns } = self.began;
        self.began = Clocks {
            raw_ns: raw_ns + stretch.from_ns,
            boot_ns: boot_ns + stretch.from_ns,
            real_ns: real_ns + stretch.from_ns,
        };
        self.duration_ns = stretch.to_ns - stretch.from_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;

    fn segment(from_ns: u64, to_ns: u64) -> Segment {
        Segment { from_ns, to_ns, state: State::Running(0) }
    }

    #[test]
    fn a_part_has_what_touches_it() {
        let fault = |at_ns| PageFault {
            at_ns,
            address: 0,
            access: Access::Read,
            // It spans the begin of the part.
            served: (at_ns == 98).then_some(ServedFault { to_ns: 110, major: false }),
        };
        let thread =
            |id, from_ns, to_ns| Thread { id, from_ns, to_ns, ended: true, ..Thread::default() };
        let signpost = |from_ns, to_ns| Signpost { from_ns, to_ns, name: 0 };
        let one = Thread {
            segments: vec![segment(0, 100), segment(100, 250), segment(250, 400)],
            faults: vec![fault(98), fault(99), fault(100), fault(300), fault(301)],
            signposts: vec![signpost(50, Some(120)), signpost(60, None), signpost(200, None)],
            ..thread(1, 0, 400)
        };
        let operation = |from_ns, to_ns| row::TracedOperation { from_ns, to_ns, thread: 1 };
        let row = TracedRow {
            operations: vec![operation(90, 110), operation(120, 130)],
            ..TracedRow::default()
        };
        let trace = Trace {
            duration_ns: 1000,
            threads: vec![one, thread(2, 0, 99), thread(3, 200, 300)],
            cpus: vec![Cpu { lost: vec![(0, 150), (500, 600)], ..Cpu::default() }],
            ..Trace::new(Target::Row(row), Ended::Time, Tier::Full)
        };
        let cut = trace.cut(100, 300);
        assert_eq!(cut.duration_ns, 200);
        assert_eq!(cut.began.raw_ns, 100);
        let ids: Vec<(u32, bool)> = cut.threads.iter().map(|t| (t.id, t.ended)).collect();
        assert_eq!(ids, [(1, false), (3, true)]);
        let one = &cut.threads[0];
        assert_eq!(one.segments, [segment(0, 150), segment(150, 200)]);
        let faults: Vec<u64> = one.faults.iter().map(|fault| fault.at_ns).collect();
        assert_eq!(faults, [0, 0, 200]);
        assert_eq!(one.faults[0].served.map(|served| served.to_ns), Some(10));
        assert_eq!(one.signposts, [signpost(0, Some(20)), signpost(100, None)]);
        assert_eq!(cut.cpus[0].lost, [(0, 50)]);
        let Target::Row(row) = &cut.target else {
            panic!("{:?}", cut.target);
        };
        assert_eq!(row.operations, [operation(20, 30)], "no half ones");
    }

    #[test]
    fn a_part_beyond_the_end_is_empty() {
        let trace =
            Trace { duration_ns: 10, ..Trace::new(Target::Process(1), Ended::Time, Tier::Full) };
        assert_eq!(trace.clone().cut(20, 30).duration_ns, 0);
        assert_eq!(trace.cut(4, 30).duration_ns, 6);
    }
}
