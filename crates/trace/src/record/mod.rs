//! Recording a command or a process, with the best tier that is allowed here.

mod check;
mod kept;
mod process;
mod rings;
mod sampler;
mod signposts;
mod stacks;
mod usdt;

use crate::decode::{Decoded, Samples, Tracepoint};
use crate::event::{self, Event, text_of};
use crate::states::{Settings, Timeline, stopped, timeline};
use kept::Kept;
use model::trace::tier::Missing;
use model::trace::{Clocks, Ended, Gap, Losses, Reason, State, Target, Thread, Tier, Topic, Trace};
use rings::{Collected, Rings, Traced};
use sampler::Sampled;
use signposts::Signposts;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use sys::attached::{Held, Started, Stop};
use sys::perf::Capture;

pub use usdt::Usdt;

/// What to record.
#[derive(Clone, Debug)]
pub struct Request {
    /// This tier and no other.
    pub tier: Option<Tier>,
    /// No system calls and page faults.
    pub scheduler_only: bool,
    /// Also the interrupts of all CPUs, where that is possible.
    pub interrupts: bool,
    /// Also the stacks with which threads leave their CPU, where that is possible.
    pub stacks: Option<Capture>,
    /// Also these USDT probes, as signposts.
    pub usdt: Option<Usdt>,
    /// No longer than this.
    pub limit: Option<Duration>,
    /// Keep only so much of the end.
    pub last: Option<Duration>,
    /// The most bytes of records to keep; where only the end is kept, older ones make room.
    pub limit_bytes: u64,
    /// Collect records on other CPUs than this one.
    pub keep_off: Option<u32>,
    /// The CPUs of the machine.
    pub cpus: Vec<u32>,
    /// Architecture of the machine.
    pub architecture: String,
    /// Release of its kernel.
    pub kernel: String,
}

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The command did not start.
    #[error("can't start {}: {error}", shown(.program))]
    Start {
        /// The program.
        program: OsString,
        /// What the system said.
        error: io::Error,
    },
    /// There are no words.
    #[error("no command")]
    NoCommand,
    /// A request to end came before.
    #[error("interrupted before the command started")]
    Interrupted,
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// The tier that was asked for is not possible.
    #[error("the tier {} is not available: {reason}", .tier.name())]
    Tier {
        /// The tier.
        tier: Tier,
        /// Why not.
        reason: Reason,
    },
    /// Waiting or collecting failed.
    #[error("recording failed: {0}")]
    Failed(#[from] io::Error),
}

/// A program's name in a message: quoted if it is empty, or has blanks or control
/// characters.
fn shown(program: &OsStr) -> String {
    let name = program.to_string_lossy();
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control();
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.into_owned(),
        false => format!("{name:?}"),
    }
}

/// Runs a command in the foreground and records it and everything it starts.
/// Requests to end go on to the command; at the end of the limit it gets
/// SIGTERM.
///
/// # Errors
/// If the command does not start, or nothing could be recorded.
pub fn command(words: &[OsString], held: &Held, request: &Request) -> Result<Trace, RecordError> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(RecordError::NoCommand);
    };
    let mut command = Command::new(program);
    command.args(arguments);
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    started(command, Target::Command(words.collect()), held, request)
}

/// Set for a command whose interrupts are recorded one by one: it needs no counts of them.
pub const INTERRUPTS_RECORDED: &str = "LATLAS_INTERRUPTS_RECORDED";

/// [`command`] with a prepared command, of which the trace is called so.
///
/// # Errors
/// As [`command`].
pub fn started(
    mut command: Command,
    target: Target,
    held: &Held,
    request: &Request,
) -> Result<Trace, RecordError> {
    let traced = Traced::Command;
    let (source, mut gaps) = Source::open(&traced, request)?;
    let signposts = match Signposts::new() {
        _ if request.last.is_some() => {
            gaps.push(no_signposts(Reason::LastOnly));
            None
        }
        Ok(signposts) => Some(signposts),
        Err(error) => {
            gaps.push(no_signposts(Reason::Failed(error.to_string())));
            None
        }
    };
    let began = now();
    if let Some((variable, path)) = signposts.as_ref().map(Signposts::variable) {
        command.env(variable, path);
    }
    if request.interrupts && source.has_interrupts() {
        command.env(INTERRUPTS_RECORDED, "1");
    }
    let started = held.start(&mut command, &[]);
    let started = started.map_err(|error| RecordError::Start {
        program: command.get_program().to_owned(),
        error,
    })?;
    let Started::Running(mut running) = started else {
        return Err(RecordError::Interrupted);
    };
    let root = running.id();
    let limit = request.limit.unwrap_or(FOREVER);
    let stop = AtomicBool::new(false);
    let recorder = Mutex::new(Vec::new());
    let records = || {
        let mut ids = recorder.lock().unwrap_or_else(PoisonError::into_inner);
        ids.extend(sys::thread::current_id());
    };
    records();
    let (recorded, marked, to_ns, ended) = std::thread::scope(|scope| -> io::Result<_> {
        let collector = scope.spawn(|| {
            records();
            source.collect(root, &traced, began.raw_ns, &stop, request)
        });
        let marks = signposts.map(|signposts| {
            scope.spawn(|| {
                records();
                signposts.collect(&stop, request.limit_bytes)
            })
        });
        let status = running.wait_until(Instant::now() + limit);
        let to_ns = sys::monotonic_raw_ns();
        stop.store(true, Ordering::Release);
        let recorded = joined(collector)?;
        let marked = marks.map(|marks| {
            marks.thread().unpark();
            joined(marks)
        });
        let ended = match status? {
            Some(status) => ended_as(status),
            None => {
                running.terminate();
                running.wait()?;
                Ended::Time
            }
        };
        Ok((recorded, marked.transpose()?, to_ns, ended))
    })?;
    // Signposts may fill their buffer before the records do.
    let (marked, full_ns) = marked.unzip();
    let full_ns = full_ns.flatten().filter(|&full_ns| full_ns < to_ns);
    let (to_ns, ended) = match full_ns {
        Some(full_ns) => (full_ns, Ended::Full),
        None => (to_ns, ended),
    };
    let mut trace = recorded.trace(Around {
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
    trace.recorder = recorder
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(marked) = marked {
        crate::signposts::add(&mut trace, &marked);
    }
    Ok(trace)
}

fn no_signposts(reason: Reason) -> Gap {
    Gap {
        of: Missing::Topic(Topic::Signposts),
        reason,
    }
}

/// Records a process that runs: its threads, and what it starts from now on.
/// Requests to end stop the recording, and never the process.
///
/// # Errors
/// If there is no such process, or nothing could be recorded.
pub fn process(id: u32, held: &Held, request: &Request) -> Result<Trace, RecordError> {
    if !process::is_process(id) || !process::is_alive(id) {
        return Err(RecordError::NoProcess(id));
    }
    let traced = Traced::Process(id);
    let (source, mut gaps) = Source::open(&traced, request)?;
    gaps.push(no_signposts(Reason::NotStartedHere));
    let began = now();
    let roots = process::threads(id).unwrap_or_default();
    let names = roots
        .iter()
        .map(|&thread| (thread, process::name(id, thread)));
    let names: Vec<(u32, Option<String>)> = names.collect();
    // What sleeps leaves no event.
    let asleep = roots.iter().filter_map(|&thread| {
        let (call, uninterruptible) = process::asleep(id, thread)?;
        Some(Event {
            at_ns: sys::monotonic_raw_ns(),
            cpu: 0,
            what: event::What::Asleep {
                thread,
                call,
                uninterruptible,
            },
        })
    });
    let asleep: Vec<Event> = asleep.collect();
    let stop = AtomicBool::new(false);
    let end = Instant::now() + request.limit.unwrap_or(FOREVER);
    let (recorded, to_ns, ended) = std::thread::scope(|scope| -> io::Result<_> {
        let collector = scope.spawn(|| source.collect(id, &traced, began.raw_ns, &stop, request));
        let ended = loop {
            let left = end.saturating_duration_since(Instant::now());
            if held.is_requested_within(left.min(LOOK)) {
                break Ended::Requested;
            }
            if Instant::now() >= end {
                break Ended::Time;
            }
            if !process::is_alive(id) {
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
    let mut trace = recorded.trace(Around {
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

/// How often a traced process is looked at, whether it is still there.
const LOOK: Duration = Duration::from_millis(20);
/// Longer than anything runs.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

fn now() -> Clocks {
    Clocks {
        raw_ns: sys::monotonic_raw_ns(),
        boot_ns: sys::boot_ns(),
        real_ns: sys::realtime_unix_ns(),
    }
}

fn joined<T>(collector: std::thread::ScopedJoinHandle<'_, io::Result<T>>) -> io::Result<T> {
    let ended = collector.join();
    ended.unwrap_or_else(|_| Err(io::Error::other("collecting the records failed")))
}

/// How a command ended.
pub fn ended_as(status: ExitStatus) -> Ended {
    match status.code() {
        Some(code) => Ended::Exited(code),
        None => Ended::Signalled(status.signal().unwrap_or(0)),
    }
}

/// Where records come from.
enum Source {
    Rings(Tier, Box<Rings>),
    Sampler,
}

impl Source {
    /// The best tier that is possible, and why the better ones are not.
    fn open(traced: &Traced, request: &Request) -> Result<(Source, Vec<Gap>), RecordError> {
        // Events of a thread for each CPU, and as many again of the machine.
        let _ = sys::process::allow_open_files(u64::MAX);
        let mut gaps = Vec::new();
        for tier in Tier::ALL {
            if request.tier.is_some_and(|wanted| wanted != tier) {
                continue;
            }
            let opened = match tier {
                Tier::Full => Rings::full(traced, request),
                Tier::OwnProcess => Rings::own(traced, request),
                Tier::Minimal => break,
            };
            match opened {
                Ok(rings) => return Ok((Source::Rings(tier, Box::new(rings)), gaps)),
                Err(reason) if request.tier == Some(tier) => {
                    return Err(RecordError::Tier { tier, reason });
                }
                Err(reason) => gaps.push(Gap {
                    of: Missing::Tier(tier),
                    reason,
                }),
            }
        }
        let asked = [
            (request.stacks.is_some(), Topic::Stacks),
            (request.usdt.is_some(), Topic::Probes),
        ];
        for (_, topic) in asked.into_iter().filter(|(is_asked, _)| *is_asked) {
            gaps.push(Gap {
                of: Missing::Topic(topic),
                reason: Reason::NotInTier,
            });
        }
        Ok((Source::Sampler, gaps))
    }

    /// Whether it records interrupts, of which those of the timer are the most.
    fn has_interrupts(&self) -> bool {
        match self {
            Source::Rings(_, rings) => match &rings.samples {
                Samples::Tracepoints(layouts) => layouts.id(Tracepoint::Timer).is_some(),
                Samples::Faults => false,
            },
            Source::Sampler => false,
        }
    }

    fn collect(
        self,
        root: u32,
        traced: &Traced,
        from_ns: u64,
        stop: &AtomicBool,
        request: &Request,
    ) -> io::Result<Recorded> {
        let others = request.cpus.iter().copied();
        let others: Vec<u32> = others
            .filter(|&cpu| Some(cpu) != request.keep_off)
            .collect();
        if request.keep_off.is_some() && !others.is_empty() {
            // It is no less of a recording on that CPU.
            let _ = sys::pin_to(&others);
        }
        Ok(match self {
            Source::Rings(tier, rings) => {
                let (samples, gaps) = (rings.samples.clone(), rings.gaps.clone());
                let ring_bytes = rings.ring_bytes();
                let probes = rings.probe_names();
                let kept = Kept::new(root, traced, request, samples.clone());
                Recorded::Records {
                    tier,
                    samples,
                    gaps,
                    ring_bytes,
                    probes,
                    collected: Box::new(rings.collect(stop, kept)?),
                }
            }
            Source::Sampler => {
                Recorded::Samples(sampler::sample(root, traced, from_ns, stop, request))
            }
        })
    }
}

/// What was recorded.
enum Recorded {
    Records {
        tier: Tier,
        samples: Samples,
        gaps: Vec<Gap>,
        ring_bytes: u64,
        /// Names of USDT probes.
        probes: Vec<String>,
        collected: Box<Collected>,
    },
    Samples(Sampled),
}

/// What a trace needs in addition to the records.
struct Around<'a> {
    target: Target,
    /// Process and number of the first threads.
    roots: Vec<(u32, u32)>,
    /// When the first process was stopped, as far as known.
    stops: Vec<Stop>,
    /// Those that slept when the recording began.
    asleep: Vec<Event>,
    gaps: Vec<Gap>,
    began: Clocks,
    to_ns: u64,
    ended: Ended,
    request: &'a Request,
}

impl Recorded {
    fn trace(self, around: Around<'_>) -> Trace {
        let empty = Trace {
            gaps: around.gaps,
            architecture: around.request.architecture.clone(),
            kernel: around.request.kernel.clone(),
            cpu_count: u32::try_from(around.request.cpus.len()).unwrap_or(u32::MAX),
            began: around.began,
            duration_ns: around.to_ns.saturating_sub(around.began.raw_ns),
            ..Trace::new(around.target, around.ended, Tier::Minimal)
        };
        match self {
            Recorded::Samples(sampled) => of_samples(sampled, around.request.last, empty),
            Recorded::Records {
                tier,
                samples,
                mut gaps,
                ring_bytes,
                probes,
                collected,
            } => {
                let mut decoded = Decoded::default();
                for (cpu, bytes) in &collected.chunks {
                    decoded.add(&samples, *cpu, bytes);
                }
                decoded.sort();
                let mut before = collected.before;
                let asleep = match collected.from_ns {
                    None => around.asleep,
                    Some(from_ns) => {
                        // Before that, some CPUs' events are there and others' are not.
                        let is_old = |event: &Event| event.at_ns < from_ns;
                        let old = decoded.events.partition_point(is_old);
                        let old: Vec<Event> = decoded.events.drain(..old).collect();
                        before.add(&old);
                        before.asleep(from_ns, around.asleep)
                    }
                };
                decoded.events.splice(..0, asleep);
                let read = collected.stacks.map(|reader| reader.finish());
                let read = read.unwrap_or_default();
                decoded.events.extend(read.events);
                decoded.unread_bytes += read.unread_bytes;
                decoded.sort();
                let calls = match &samples {
                    Samples::Tracepoints(layouts) => layouts.id(Tracepoint::Enter).is_some(),
                    Samples::Faults => false,
                };
                let root = around.roots.first().map_or(0, |&(process, _)| process);
                let from_ns = collected.from_ns.unwrap_or(around.began.raw_ns);
                let to_ns = collected.full_ns.unwrap_or(u64::MAX).min(around.to_ns);
                let last = around.request.last;
                let last_from_ns = last.map(|last| before_by(to_ns, last));
                let settings = Settings {
                    roots: match collected.from_ns {
                        Some(_) => before.threads(),
                        None => around.roots,
                    },
                    from_ns,
                    shown_from_ns: shown_from(last_from_ns, collected.from_ns, around.began.raw_ns),
                    to_ns,
                    scheduler: tier == Tier::Full,
                    tasks_of_all: tier == Tier::Full && around.request.scheduler_only,
                    calls,
                    yield_call: check::number_of("sched_yield"),
                };
                let mut timeline = timeline(&decoded.events, &settings);
                let stops = around.stops.iter().map(|stop| {
                    let to_ns = stop.to_ns.unwrap_or(settings.to_ns);
                    let since = |ns: u64| ns.saturating_sub(timeline.began_ns);
                    (since(stop.from_ns), since(to_ns))
                });
                let stops: Vec<(u64, u64)> = stops.collect();
                stopped(&mut timeline.threads, root, &stops);
                before.complete(&mut timeline.threads);
                let mut trace = Trace {
                    tier,
                    ring_bytes,
                    stacks: read.stacks,
                    signpost_names: probes,
                    ..empty
                };
                trace.gaps.append(&mut gaps);
                if collected.full_ns.is_some() {
                    trace.ended = Ended::Full;
                }
                let mut trace = of_records(timeline, &decoded, settings.to_ns, trace);
                trace.losses.stacks = read.lost;
                // Not all of the time that was asked for.
                let short_ns = collected.short_ns.zip(last_from_ns);
                let is_short = short_ns.is_some_and(|(short_ns, asked_ns)| short_ns > asked_ns);
                let asked_ns = to_ns.saturating_sub(around.began.raw_ns);
                let asked_ns = last.map(|last| asked_ns.min(last.as_nanos() as u64));
                trace.losses.last_ns = asked_ns.filter(|_| is_short);
                trace
            }
        }
    }
}

fn of_records(timeline: Timeline, decoded: &Decoded, to_ns: u64, empty: Trace) -> Trace {
    let mut trace = Trace {
        began: since(empty.began, timeline.began_ns),
        duration_ns: to_ns.saturating_sub(timeline.began_ns),
        threads: timeline.threads,
        cpus: timeline.cpus,
        wakeups: timeline.wakeups,
        losses: Losses {
            unread_bytes: decoded.unread_bytes,
            ..timeline.losses
        },
        ..empty
    };
    let calls = trace.threads.iter().flat_map(|thread| &thread.calls);
    let segments = trace.threads.iter().flat_map(|thread| &thread.segments);
    let blocked = segments.filter_map(|segment| match segment.state {
        State::Blocked { call, .. } => call,
        _ => None,
    });
    let numbers = calls.map(|call| call.number).chain(blocked);
    let names = numbers.filter_map(|n| Some((n, sys::system_calls::name(n)?.to_owned())));
    trace.call_names = names.collect();
    let traced: std::collections::BTreeSet<u32> = trace.threads.iter().map(|t| t.id).collect();
    let names = decoded.names.iter().filter(|(id, _)| !traced.contains(id));
    trace.other_names = names.map(|(&id, name)| (id, text_of(name))).collect();
    trace
}

/// The same moment on all clocks, at another time of the first.
fn since(clocks: Clocks, raw_ns: u64) -> Clocks {
    let later_ns = raw_ns.saturating_sub(clocks.raw_ns);
    Clocks {
        raw_ns: clocks.raw_ns + later_ns,
        boot_ns: clocks.boot_ns + later_ns,
        real_ns: clocks.real_ns + later_ns,
    }
}

/// A time before another.
fn before_by(at_ns: u64, by: Duration) -> u64 {
    at_ns.saturating_sub(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX))
}

/// Where only the end is shown: from when on, if that is later than when recording began.
fn shown_from(last_ns: Option<u64>, kept_ns: Option<u64>, began_ns: u64) -> Option<u64> {
    last_ns.max(kept_ns).filter(|&from_ns| from_ns > began_ns)
}

fn of_samples(mut sampled: Sampled, last: Option<Duration>, empty: Trace) -> Trace {
    let end_ns = empty.began.raw_ns + empty.duration_ns;
    let sampled_ns = sampled.threads.iter().map(|thread| thread.to_ns).max();
    // The last samples are read after the request to stop.
    let end_ns = sampled
        .full_ns
        .unwrap_or(end_ns)
        .max(sampled_ns.unwrap_or(0));
    let last_from_ns = last.map(|last| before_by(end_ns, last));
    let shown_from_ns = shown_from(last_from_ns, None, empty.began.raw_ns);
    let empty = match shown_from_ns {
        None => empty,
        Some(from_ns) => {
            sampler::drop_before(&mut sampled.threads, from_ns);
            Trace {
                began: since(empty.began, from_ns),
                ..empty
            }
        }
    };
    let began_ns = empty.began.raw_ns;
    let relative = |at_ns: u64| at_ns.saturating_sub(began_ns);
    let threads = sampled.threads.into_iter().map(|mut thread: Thread| {
        thread.from_ns = relative(thread.from_ns);
        thread.to_ns = relative(thread.to_ns);
        for sample in &mut thread.samples {
            sample.at_ns = relative(sample.at_ns);
        }
        thread
    });
    Trace {
        threads: threads.collect(),
        ended: match sampled.full_ns {
            Some(_) => Ended::Full,
            None => empty.ended,
        },
        duration_ns: relative(end_ns),
        ..empty
    }
}
