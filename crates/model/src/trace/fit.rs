//! A trace that is longer than a document may be: what does not fit is left out before it is written.

use super::{Ended, Trace};
use crate::limits::{self, Counter, DocumentLimits};
use std::io::{self, Write};

/// What the rest of a run may take of its document.
const REST_BYTES: u64 = 1 << 20;

/// Counts what is written, and keeps nothing of it.
struct CountingWriter<'l>(Counter<'l>);

impl Write for CountingWriter<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.0.feed(json).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Trace {
    /// Leaves out what could not be read again as a part of a run: the end, as if a buffer had been
    /// full, or the beginning where the end was asked for.
    pub fn keep_what_fits(&mut self, asks_for_end: bool) {
        self.keep_within(asks_for_end, limits::TRACE.values, limits::MOST_BYTES - REST_BYTES);
    }

    fn keep_within(&mut self, asks_for_end: bool, most_values: u64, most_bytes: u64) {
        while self.leaves_out(asks_for_end, most_values, most_bytes) {}
    }

    /// Leaves out as much as does not fit; whether that was something.
    fn leaves_out(&mut self, asks_for_end: bool, most_values: u64, most_bytes: u64) -> bool {
        const ALL: DocumentLimits = DocumentLimits {
            entries: usize::MAX,
            text_bytes: usize::MAX,
            bytes_per_value: 1,
            values: u64::MAX,
            ..limits::TRACE
        };
        let mut counted = CountingWriter(Counter::new(&ALL));
        if serde_json::to_writer(&mut counted, self).is_err() {
            return false;
        }
        let (values, bytes) = (counted.0.values(), counted.0.bytes() as u64);
        if values <= most_values && bytes <= most_bytes {
            return false;
        }
        let whole_ns = self.duration_ns;
        let events = self.values_within(0, u64::MAX);
        let mut most = most_values.saturating_sub(values.saturating_sub(events));
        if bytes > most_bytes {
            // They are not of one length: a little less.
            let share = most_bytes as f64 / bytes as f64 * 0.98;
            most = most.min((events as f64 * share) as u64);
        }
        if events <= most {
            return false;
        }
        let part = |length_ns: u64| match asks_for_end {
            true => (whole_ns - length_ns, whole_ns),
            false => (0, length_ns),
        };
        let fits = |length_ns: u64| {
            let (from_ns, to_ns) = part(length_ns);
            self.values_within(from_ns, to_ns) <= most
        };
        // The longest that fits.
        let (mut least_ns, mut most_ns) = (0, whole_ns);
        while least_ns < most_ns {
            let middle_ns = most_ns - (most_ns - least_ns) / 2;
            if fits(middle_ns) { least_ns = middle_ns } else { most_ns = middle_ns - 1 }
        }
        if !fits(least_ns) {
            return false;
        }
        let (from_ns, to_ns) = part(least_ns);
        self.keep(from_ns, to_ns);
        match asks_for_end {
            true => _ = self.losses.last_ns.get_or_insert(whole_ns),
            false => self.ended = Ended::Full,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Call, Sample, Segment, State, Target, Thread, Tier, Wakeup};

    /// A trace of a million ns with an event of some kind each 10 ns.
    fn long() -> Trace {
        let segment = |at: u64| Segment::new(50 * at, 50 * at + 50, State::Preempted(7));
        let call = |at: u64| Call {
            from_ns: 50 * at + 10,
            to_ns: 50 * at + 30,
            number: 39,
            arguments: [at, 0, 1],
            returned: Some(0),
        };
        let sample = |at: u64| Sample {
            at_ns: 50 * at + 20,
            running_ns: 50 * at,
            queued_ns: 0,
            switched_in: at,
            faults: 1,
        };
        let wakeup = |at: u64| Wakeup { at_ns: 50 * at + 30, thread: 5, by: Some(6), cpu: 1 };
        let thread = Thread {
            id: 5,
            to_ns: 1_000_000,
            segments: (0..20_000).map(segment).collect(),
            calls: (0..20_000).map(call).collect(),
            samples: (0..20_000).map(sample).collect(),
            ..Thread::default()
        };
        Trace {
            duration_ns: 1_000_000,
            threads: vec![thread],
            wakeups: (0..20_000).map(wakeup).collect(),
            ..Trace::new(Target::Command(vec!["true".into()]), Ended::Exited(0), Tier::Full)
        }
    }

    fn json_bytes(trace: &Trace) -> u64 {
        serde_json::to_vec(trace).expect("JSON").len() as u64
    }

    #[test]
    fn a_recording_ends_at_what_can_be_read() {
        let whole = long();
        // Texts, lists and objects around those of events.
        const REST: u64 = 40;
        let none = (u64::MAX, u64::MAX);
        let all = (100_000 + REST, 20 << 20);
        for (values, most_bytes) in
            [none, all, (1_000, none.1), (none.0, 200_000), (70_000, 2 << 20)]
        {
            for asks_for_end in [false, true] {
                let mut trace = whole.clone();
                trace.keep_within(asks_for_end, values, most_bytes);
                assert!(json_bytes(&trace) <= most_bytes);
                let limits = DocumentLimits { values, ..limits::TRACE };
                let json = serde_json::to_vec(&trace).expect("JSON");
                assert_eq!(Counter::new(&limits).feed(&json), Ok(()));
                let is_short = values < all.0 || most_bytes < all.1;
                assert_eq!(trace == whole, !is_short, "{values} {most_bytes}");
                if !is_short {
                    continue;
                }
                match asks_for_end {
                    false => assert_eq!((trace.ended, trace.losses.last_ns), (Ended::Full, None)),
                    true => {
                        let last_ns = trace.losses.last_ns;
                        assert_eq!((trace.ended, last_ns), (whole.ended, Some(1_000_000)));
                        assert_eq!(trace.began.raw_ns, 1_000_000 - trace.duration_ns);
                    }
                }
                // With little more it would be too much.
                let share =
                    (values as f64 / 100_000.0).min(most_bytes as f64 / json_bytes(&whole) as f64);
                let kept = trace.duration_ns as f64 / 1e6;
                assert!((share * 0.9..share).contains(&kept), "{share} {kept}");
            }
        }
    }

    #[test]
    fn what_is_no_event_is_not_left_out() {
        let mut names = Trace { threads: Vec::new(), wakeups: Vec::new(), ..long() };
        names.signpost_names = vec!["a name".into(); 2_000];
        let whole = names.clone();
        names.keep_within(false, 1_000, 1_000);
        assert_eq!(names, whole);
    }
}
