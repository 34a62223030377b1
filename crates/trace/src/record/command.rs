//! Recording a command.

use super::buffers::Traced;
use super::recorded::Around;
use super::signposts::Signposts;
use super::source::RecordSource;
use super::{RecordError, RecordRequest, joined, no_signposts, now};
use model::trace::{Ended, NotRecorded, Target, Trace};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::Builder;
use std::time::{Duration, Instant};
use sys::attached::{Held, Started};
use sys::thread::spawn_scoped;

/// Runs a command in the foreground and records it and everything it starts.
/// Requests to end go on to the command; at the end of the limit it gets
/// SIGTERM. One that does not end at that, or at a second request, is killed.
pub fn record_command(
    words: &[OsString],
    held: &Held,
    request: &RecordRequest,
) -> Result<Trace, RecordError> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(RecordError::NoCommand);
    };
    let mut command = Command::new(program);
    command.args(arguments);
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    started(command, Target::Command(words.collect()), held, request)
}

/// How long a command has to end by SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// Set for a command whose interrupts are recorded one by one: it needs no counts of them.
pub const INTERRUPTS_RECORDED: &str = "LATLAS_INTERRUPTS_RECORDED";

/// [`record_command`] with a prepared command, of which the trace is called so.
pub fn started(
    mut command: Command,
    target: Target,
    held: &Held,
    request: &RecordRequest,
) -> Result<Trace, RecordError> {
    let traced = Traced::Command;
    let (source, mut gaps) = RecordSource::open_best_tier(&traced, request)?;
    let signposts = match Signposts::new() {
        _ if request.last.is_some() => {
            gaps.push(no_signposts(NotRecorded::LastOnly));
            None
        }
        Ok(signposts) => Some(signposts),
        Err(error) => {
            gaps.push(no_signposts(NotRecorded::Failed(error.to_string())));
            None
        }
    };
    let began = now();
    if let Some((variable, path)) = signposts.as_ref().map(Signposts::variable) {
        command.env(variable, path);
    }
    if let Some(heap) = &request.heap {
        heap.prepare(&mut command);
    }
    if source.has_interrupts() {
        command.env(INTERRUPTS_RECORDED, "1");
    }
    source.prepare(&mut command)?;
    let program = command.get_program().to_owned();
    let limit = request.limit.unwrap_or(Duration::MAX);
    let stop = AtomicBool::new(false);
    let recorder = Mutex::new(Vec::new());
    let records = || {
        let mut ids = recorder.lock().unwrap_or_else(PoisonError::into_inner);
        ids.extend(sys::thread::current_id());
    };
    records();
    let (recorded, marked, to_ns, ended, running) = std::thread::scope(|scope| {
        // Its threads end with whatever ends this.
        let ends = OnDrop(|| stop.store(true, Ordering::Release));
        let (tell_root, root) = mpsc::channel();
        let (tell_seen, seen) = mpsc::channel();
        // They are there before the command: without them it does not begin.
        let (records, stop) = (&records, &stop);
        let collector = spawn_scoped(scope, Builder::new(), move || {
            records();
            match root.recv() {
                Ok(root) => source.collect(root, &traced, began.raw_ns, stop, request, &|| {
                    let _ = tell_seen.send(());
                }),
                Err(_) => Err(io::ErrorKind::Interrupted.into()),
            }
        });
        let collector = collector.map_err(RecordError::NoThread)?;
        let marks = signposts.map(|signposts| {
            spawn_scoped(scope, Builder::new(), move || {
                records();
                signposts.collect(stop, request.limit_bytes)
            })
        });
        let marks = marks.transpose().map_err(RecordError::NoThread)?;
        let started = held.start_command(&mut command, &[]);
        let started =
            started.map_err(|error| RecordError::Start { program: program.clone(), error })?;
        // It holds files of the kernel's buffers open, which can't be removed so.
        drop(command);
        let Started::Running(mut running) = started else {
            return Err(RecordError::Interrupted);
        };
        let _ = tell_root.send(running.process_id());
        // One that has ended is there until it is waited for: where it is sampled, it is seen once.
        let _ = seen.recv();
        let status = running.wait_until_asked_twice(sys::later(Instant::now(), limit));
        let to_ns = sys::monotonic_raw_ns();
        drop(ends);
        let recorded = joined(collector)?;
        let marked = marks.map(|marks| {
            marks.thread().unpark();
            joined(marks)
        });
        let ended = match status? {
            Some(status) => ended_as(status),
            None => {
                running.end_within(GRACE)?;
                if running.is_asked_twice() { Ended::Requested } else { Ended::Time }
            }
        };
        Ok((recorded, marked.transpose()?, to_ns, ended, running))
    })?;
    let root = running.process_id();
    // Signposts may fill their buffer before the records do.
    let (marked, full_ns) = marked.unzip();
    let full_ns = full_ns.flatten().filter(|&full_ns| full_ns < to_ns);
    let (to_ns, ended) = match full_ns {
        Some(full_ns) => (full_ns, Ended::Full),
        None => (to_ns, ended),
    };
    let mut trace = recorded.into_trace(Around {
        target,
        roots: vec![(root, root)],
        stops: running.stops().to_vec(),
        asleep: Vec::new(),
        gaps,
        began,
        to_ns,
        ended,
        request,
    });
    trace.recorder = recorder.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(marked) = &marked {
        crate::signposts::add_to_trace(&mut trace, marked);
    }
    if let Some(heap) = &request.heap {
        let was_loaded = marked.is_some_and(|marked| marked.has_heap());
        heap.conclude(&mut trace, was_loaded, &program);
    }
    Ok(trace)
}

/// Calls on drop.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

pub fn ended_as(status: ExitStatus) -> Ended {
    match status.code() {
        Some(code) => Ended::Exited(code),
        None => Ended::Signalled(status.signal().unwrap_or(0)),
    }
}
