//! The tier that needs no right: what the kernel counts of each thread, read
//! from /proc at an interval. Threads that live for less may be missed.

use super::buffers::Traced;
use super::process::{family, schedstat_of, stat_of, thread_name, threads};
use super::{RecordRequest, ns};
use model::trace::{Sample, Thread};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_millis(10);

/// What was sampled, in ns of CLOCK_MONOTONIC_RAW.
#[derive(Debug, Default)]
pub(super) struct Sampled {
    pub(super) threads: Vec<Thread>,
    pub(super) full_ns: Option<u64>,
}

/// Samples the threads of a process and of what it starts until `stop` is set,
/// or the samples need more memory than there may be. Where only the end is kept, older ones are dropped.
/// `seen` is called after the first turn.
pub(super) fn sample(
    root: u32,
    traced: &Traced,
    from_ns: u64,
    stop: &AtomicBool,
    request: &RecordRequest,
    seen: &dyn Fn(),
) -> Sampled {
    let mut sampled = Sampled::default();
    let mut place: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let mut before_ns = from_ns;
    let mut bytes = 0;
    let mut first = true;
    loop {
        // What stops it is looked at after a last turn.
        let last = stop.load(Ordering::Acquire);
        let now_ns = sys::monotonic_raw_ns();
        for process in family(root) {
            for thread in threads(process).unwrap_or_default() {
                let Some(sample) = read_sample(process, thread) else {
                    continue;
                };
                let at = *place.entry((process, thread)).or_insert_with(|| {
                    // Of a thread that is new, all was counted since it began:
                    // after the turn before.
                    let is_new = !first || matches!(traced, Traced::Command);
                    sampled.threads.push(begun(process, thread, before_ns, is_new));
                    sampled.threads.len() - 1
                });
                let known = &mut sampled.threads[at];
                if let Some(name) = thread_name(process, thread) {
                    known.name = name;
                }
                if known.samples.is_empty() {
                    known.from_ns = sample.at_ns;
                }
                known.to_ns = sample.at_ns;
                known.samples.push(sample);
                bytes += size_of::<Sample>() as u64;
            }
        }
        before_ns = now_ns;
        if first {
            seen();
        }
        first = false;
        if last {
            break;
        }
        if let Some(last) = request.last {
            let from_ns = now_ns.saturating_sub(ns(last));
            drop_before(&mut sampled.threads, from_ns);
            let places = sampled.threads.iter().enumerate();
            place = places.map(|(at, thread)| ((thread.process, thread.id), at)).collect();
            let samples: usize = sampled.threads.iter().map(|thread| thread.samples.len()).sum();
            bytes = (samples * size_of::<Sample>()) as u64;
        }
        if bytes > request.limit_bytes {
            sampled.full_ns = Some(now_ns);
            stop.store(true, Ordering::Release);
            break;
        }
        std::thread::sleep(INTERVAL);
    }
    for thread in &mut sampled.threads {
        thread.ended = thread.to_ns < before_ns;
    }
    sampled
}

/// Drops samples and threads that are too old.
pub(super) fn drop_before(threads: &mut Vec<Thread>, from_ns: u64) {
    for thread in threads.iter_mut() {
        let old = thread.samples.partition_point(|s| s.at_ns < from_ns);
        thread.samples.drain(..old);
        if let Some(first) = thread.samples.first() {
            thread.from_ns = thread.from_ns.max(first.at_ns);
        }
    }
    threads.retain(|thread| thread.to_ns >= from_ns);
}

fn begun(process: u32, id: u32, before_ns: u64, is_new: bool) -> Thread {
    let nothing =
        Sample { at_ns: before_ns, running_ns: 0, queued_ns: 0, switched_in: 0, faults: 0 };
    Thread {
        id,
        process,
        from_ns: before_ns,
        samples: if is_new { vec![nothing] } else { Vec::new() },
        ..Thread::default()
    }
}

fn read_sample(process: u32, thread: u32) -> Option<Sample> {
    let read = |file: &str| {
        std::fs::read(format!("/proc/{process}/task/{thread}/{file}"))
            .ok()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let [running_ns, queued_ns, switched_in] = schedstat_of(&read("schedstat")?)?;
    let stat = stat_of(&read("stat")?)?;
    Some(Sample {
        at_ns: sys::monotonic_raw_ns(),
        running_ns,
        queued_ns,
        switched_in,
        faults: stat.faults,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_new_thread_is_known_to_begin_with_nothing() {
        let nothing = Sample { at_ns: 100, running_ns: 0, queued_ns: 0, switched_in: 0, faults: 0 };
        for (is_new, samples) in [(true, vec![nothing]), (false, Vec::new())] {
            let wanted = Thread { id: 8, process: 7, from_ns: 100, samples, ..Thread::default() };
            assert_eq!(begun(7, 8, 100, is_new), wanted);
        }
    }

    #[test]
    fn a_command_that_has_ended_is_seen_until_it_is_waited_for() {
        let mut child = std::process::Command::new("true").spawn().expect("there");
        let id = child.id();
        let began = std::time::Instant::now();
        while std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|s| !s.contains(") Z "))
        {
            assert!(began.elapsed() < Duration::from_secs(60), "{id} runs");
            std::thread::sleep(Duration::from_millis(1));
        }
        let seen = std::cell::Cell::new(0);
        let request = RecordRequest::of_all();
        let look = || {
            let stop = AtomicBool::new(true);
            let count = || seen.set(seen.get() + 1);
            sample(id, &Traced::Command, 0, &stop, &request, &count).threads
        };
        let threads = look();
        assert_eq!(threads.len(), 1, "{threads:?}");
        assert_eq!((threads[0].id, seen.get()), (id, 1));
        child.wait().expect("ended");
        assert!(look().is_empty());
        assert_eq!(seen.get(), 2, "whatever is found, it does not wait");
    }
}
