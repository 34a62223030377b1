//! Recording a process that runs already.

use super::buffers::Traced;
use super::recorded::Around;
use super::source::RecordSource;
use super::{RecordError, RecordRequest, joined, no_signposts, now, process as of};
use crate::event::{Event, What};
use model::trace::{Ended, NotRecorded, Target, Trace};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};
use sys::attached::Held;
use sys::thread::spawn_scoped;

/// How often a traced process is looked at, whether it is still there.
const LOOK: Duration = Duration::from_millis(20);
/// Records a process that runs: its threads, and what it starts from now on.
/// Requests to end stop the recording, and never the process.
pub fn process(id: u32, held: &Held, request: &RecordRequest) -> Result<Trace, RecordError> {
    if !of::is_process(id) || !of::is_alive(id) {
        return Err(RecordError::NoProcess(id));
    }
    let traced = Traced::Process(id);
    let (source, mut gaps) = RecordSource::open_best_tier(&traced, request)?;
    gaps.push(no_signposts(NotRecorded::NotStartedHere));
    let began = now();
    let roots = of::threads(id).unwrap_or_default();
    let names = roots.iter().map(|&thread| (thread, of::thread_name(id, thread)));
    let names: Vec<(u32, Option<String>)> = names.collect();
    // What sleeps leaves no event.
    let asleep = roots.iter().filter_map(|&thread| {
        let (call, uninterruptible) = of::asleep(id, thread)?;
        Some(Event {
            at_ns: sys::monotonic_raw_ns(),
            cpu: 0,
            what: What::Asleep { thread, call, uninterruptible },
        })
    });
    let asleep: Vec<Event> = asleep.collect();
    let stop = AtomicBool::new(false);
    let limit = request.limit.unwrap_or(Duration::MAX);
    let end = sys::later(Instant::now(), limit);
    let (recorded, to_ns, ended) = std::thread::scope(|scope| -> Result<_, RecordError> {
        let collector = spawn_scoped(scope, Builder::new(), || {
            source.collect(id, &traced, began.raw_ns, &stop, request, &|| ())
        });
        let collector = collector.map_err(RecordError::NoThread)?;
        let ended = loop {
            let left = end.saturating_duration_since(Instant::now());
            if held.is_requested_within(left.min(LOOK)) {
                break Ended::Requested;
            }
            if Instant::now() >= end {
                break Ended::Time;
            }
            if !of::is_alive(id) {
                break Ended::Gone;
            }
            if stop.load(Ordering::Acquire) {
                break Ended::Full;
            }
        };
        let to_ns = sys::monotonic_raw_ns();
        stop.store(true, Ordering::Release);
        Ok((joined(collector)?, to_ns, ended))
    })?;
    let mut trace = recorded.into_trace(Around {
        target: Target::Process(id),
        roots: roots.iter().map(|&thread| (id, thread)).collect(),
        stops: Vec::new(),
        asleep,
        gaps,
        began,
        to_ns,
        ended,
        request,
    });
    // A thread that was there before is named by no record.
    for (thread, name) in names {
        let known = trace.threads.iter_mut().find(|known| known.id == thread);
        if let (Some(known), Some(name)) = (known, name)
            && known.name.is_empty()
        {
            known.name = name;
        }
    }
    Ok(trace)
}
