//! The job: this program started again (`latlas __qos_job ORDER`) in its own
//! session. Its main thread only waits; what works are the operations.
//!
//! It says [`Hello`] when everything is set, begins at its parent's word, and
//! reports at the end. It ends with its parent.

use crate::codec::Compressor;
use crate::levels;
use crate::queue::{Done, Queue};
use crate::report::{Hello, JobOrder, Report};
use model::qos::Part;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{OnceLock, mpsc};
use std::thread::Builder;
use sys::role::RoleTask;
use sys::settings::{HERE, System};

/// Does the job.
///
/// # Errors
/// An order that is none, or a controller that has ended. What goes wrong in the job is reported to
/// the controller.
pub fn serve(task: &RoleTask) -> io::Result<()> {
    let (order, mut parent) = task.with_parent()?;
    let mut went = false;
    let done = work(&order, |parts| {
        parent.send(&Hello::Ready(parts))?;
        went = matches!(parent.receive(), Ok(Some(())));
        Ok(went)
    });
    match done {
        Ok(Some((report, done))) => {
            parent.send(&report)?;
            for done in &done {
                done.records.send(parent.writer())?;
            }
            parent.writer().flush()
        }
        Ok(None) => Ok(()),
        Err(error) if went => {
            parent.send(&Report { failed: Some(error.to_string()), ..Report::default() })
        }
        Err(error) => parent.send(&Hello::Failed(error.to_string())),
    }
}

/// What a thread noticed of itself.
struct Noticed {
    run_delay_ns: Option<u64>,
    switches: Option<sys::evidence::Switches>,
    migrations: Option<u64>,
}

impl Noticed {
    fn now() -> Noticed {
        let thread = sys::thread::current_id();
        Noticed {
            run_delay_ns: thread.and_then(sys::evidence::run_delay_ns_of),
            switches: sys::evidence::thread_switches(),
            migrations: sys::evidence::thread_migrations(),
        }
    }
}

/// What one thread has at its end.
type Finished = (io::Result<()>, Done, [Noticed; 2], Vec<Part>);

/// Sets everything up, waits for `go`, and works. `None` if there was no go.
fn work(
    order: &JobOrder,
    go: impl FnOnce(Vec<Part>) -> io::Result<bool>,
) -> io::Result<Option<(Report, Vec<Done>)>> {
    let file = File::open(&order.file)?;
    let queue = Queue::new(order, &file)?;
    let operations = order.operations.max(1);
    let mut parts = levels::apply(&order.settings, true);
    let start = OnceLock::new();
    let (sender, answers) = mpsc::channel::<io::Result<Vec<Part>>>();
    std::thread::scope(|scope| {
        let (queue, start) = (&queue, &start);
        let mut threads = Vec::new();
        let mut failed = None;
        for thread in 0..operations as u16 {
            let sender = sender.clone();
            let one = move || one(order, queue, thread, sender, start);
            match sys::thread::spawn_scoped(scope, Builder::new(), one) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    failed = Some(no_thread(&error));
                    break;
                }
            }
        }
        drop(sender);
        for set in answers {
            match set {
                Ok(own) => merge(&mut parts, own),
                Err(error) => failed = Some(error),
            }
        }
        let go = match failed {
            Some(error) => Err(error),
            None => go(parts),
        };
        let _ = start.set(matches!(go, Ok(true)));
        let finished: Vec<Finished> =
            threads.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect();
        if !go? {
            return Ok(None);
        }
        match finished.len() == operations as usize {
            true => Ok(Some(report(finished))),
            false => Err(io::Error::other("an operation failed")),
        }
    })
}

/// The error of a thread that is not there.
pub(crate) fn no_thread(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("can't start a thread: {error}"))
}

/// One thread of the job.
fn one(
    order: &JobOrder,
    queue: &Queue,
    thread: u16,
    sender: mpsc::Sender<io::Result<Vec<Part>>>,
    start: &OnceLock<bool>,
) -> Option<Finished> {
    let block_bytes = order.block_bytes as usize;
    sys::settings::take_turns();
    let parts = levels::apply(&order.settings, false);
    let compressor = Compressor::new(order.codec, block_bytes);
    let mut block = vec![0; block_bytes];
    let mut done = Done::default();
    // Room for its part of the records, so that none is moved on the way.
    let expected = order.blocks / u64::from(order.operations.max(1));
    done.records.reserve(expected.min(1 << 20) as usize * 2);
    let (compressor, answer) = match compressor {
        Ok(compressor) => (Some(compressor), Ok(parts.clone())),
        Err(error) => (None, Err(error)),
    };
    let _ = sender.send(answer);
    drop(sender);
    if !start.wait() {
        return None;
    }
    let before = Noticed::now();
    let worked = queue.work(thread, &mut compressor?, &mut block, &mut done);
    let after = Noticed::now();
    let held = parts.into_iter().filter(Part::holds);
    let now = held.map(|part| Part { outcome: HERE.outcome(&part.setting), ..part });
    let changed = now.filter(|part| !part.holds());
    Some((worked, done, [before, after], changed.collect()))
}

/// Adds the parts of a thread: all threads must have the same, else the worse of
/// two outcomes stands.
fn merge(parts: &mut Vec<Part>, own: Vec<Part>) {
    for part in own {
        match parts.iter_mut().find(|known| known.setting == part.setting) {
            None => parts.push(part),
            Some(known) if known.holds() => *known = part,
            Some(_) => {}
        }
    }
}

fn report(finished: Vec<Finished>) -> (Report, Vec<Done>) {
    fn sum(each: impl Iterator<Item = Option<u64>>) -> Option<u64> {
        each.reduce(|a, b| Some(a? + b?)).flatten()
    }
    let over = |of: fn(&Noticed) -> Option<u64>| {
        let each =
            finished.iter().map(|(_, _, [before, after], _)| of(after)?.checked_sub(of(before)?));
        sum(each)
    };
    let failed = finished.iter().find_map(|(worked, ..)| worked.as_ref().err());
    let mut changed = Vec::new();
    for (.., own) in &finished {
        merge(&mut changed, own.clone());
    }
    let report = Report {
        failed: failed.map(ToString::to_string),
        bytes: finished.iter().map(|(_, done, ..)| done.bytes).sum(),
        compressed_bytes: finished.iter().map(|(_, done, ..)| done.compressed_bytes).sum(),
        run_delay_ns: over(|n| n.run_delay_ns),
        voluntary: over(|n| Some(n.switches?.voluntary)),
        involuntary: over(|n| Some(n.switches?.involuntary)),
        migrations: over(|n| n.migrations),
        changed,
        threads: finished.len() as u16,
    };
    let done = finished.into_iter().map(|(_, done, ..)| done);
    (report, done.collect())
}

#[cfg(test)]
mod tests;
