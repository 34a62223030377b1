//! The trace that is made of what was recorded.

use super::kept::Collected;
use super::sampler::{self, Sampled};
use super::{RecordRequest, check, ns};
use crate::decode::{Decoded, Samples, Tracepoint};
use crate::event::{Event, text_of};
use crate::states::{Timeline, TimelineSettings, stopped, timeline};
use model::trace::{Clocks, Ended, Gap, Losses, State, Target, Thread, Tier, Trace};
use std::time::Duration;
use sys::attached::Stop;

pub(super) enum Recorded {
    Records {
        tier: Tier,
        samples: Box<Samples>,
        gaps: Vec<Gap>,
        ring_bytes: u64,
        /// Names of USDT probes.
        probes: Vec<String>,
        collected: Box<Collected>,
    },
    Samples(Sampled),
}

/// What a trace needs in addition to the records.
pub(super) struct Around<'a> {
    pub(super) target: Target,
    /// Process and number of the first threads.
    pub(super) roots: Vec<(u32, u32)>,
    /// When the first process was stopped, as far as known.
    pub(super) stops: Vec<Stop>,
    /// Those that slept when the recording began.
    pub(super) asleep: Vec<Event>,
    pub(super) gaps: Vec<Gap>,
    pub(super) began: Clocks,
    pub(super) to_ns: u64,
    pub(super) ended: Ended,
    pub(super) request: &'a RecordRequest,
}

impl Recorded {
    pub(super) fn into_trace(self, around: Around<'_>) -> Trace {
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
            Recorded::Records { tier, samples, mut gaps, ring_bytes, probes, collected } => {
                let mut decoded = collected.drained.decoded(&samples);
                let mut before = collected.before;
                let asleep = match collected.from_ns {
                    None => around.asleep,
                    Some(from_ns) => {
                        // Before that, some CPUs' events are there and others' are not.
                        let is_old = |event: &Event| event.at_ns < from_ns;
                        let old = decoded.events.partition_point(is_old);
                        let old: Vec<Event> = decoded.events.drain(..old).collect();
                        before.add_events(&old);
                        before.asleep(from_ns, around.asleep)
                    }
                };
                decoded.events.splice(..0, asleep);
                let read = collected.stacks.map(|reader| reader.finish());
                let read = read.unwrap_or_default();
                decoded.events.extend(read.events);
                decoded.unread_bytes += read.unread_bytes;
                decoded.sort();
                let root = around.roots.first().map_or(0, |&(process, _)| process);
                let from_ns = collected.from_ns.unwrap_or(around.began.raw_ns);
                let to_ns = collected.full_ns.unwrap_or(u64::MAX).min(around.to_ns);
                let last = around.request.last;
                let last_from_ns = last.map(|last| before_by(to_ns, last));
                let settings = TimelineSettings {
                    roots: match collected.from_ns {
                        Some(_) => before.threads(),
                        None => around.roots,
                    },
                    from_ns,
                    shown_from_ns: shown_from(last_from_ns, collected.from_ns, around.began.raw_ns),
                    to_ns,
                    scheduler: tier == Tier::Full,
                    tasks_of_all: samples.has_all_tasks(),
                    calls: samples.has(Tracepoint::Enter),
                    yield_call: check::number_of("sched_yield"),
                    all_threads: false,
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
                let asked_ns = last.map(|last| asked_ns.min(ns(last)));
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
        losses: Losses { unread_bytes: decoded.unread_bytes, ..timeline.losses },
        ..empty
    };
    let calls = trace.threads.iter().flat_map(|thread| &thread.calls);
    let segments = trace.threads.iter().flat_map(|thread| &thread.segments);
    let blocked = segments.filter_map(|segment| match segment.state {
        State::Blocked { call, .. } => call,
        _ => None,
    });
    let numbers = calls.map(|call| call.number).chain(blocked);
    let names =
        numbers.filter_map(|n| Some((n, sys::system_calls::system_call_name(n)?.to_owned())));
    trace.call_names = names.collect();
    let traced: std::collections::BTreeSet<u32> = trace.threads.iter().map(|t| t.id).collect();
    let names = decoded.names.iter().filter(|(id, _)| !traced.contains(id));
    trace.other_names = names.map(|(&id, (_, name))| (id, text_of(name))).collect();
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
    at_ns.saturating_sub(ns(by))
}

/// Where only the end is shown: from when on, if that is later than when recording began.
fn shown_from(last_ns: Option<u64>, kept_ns: Option<u64>, began_ns: u64) -> Option<u64> {
    last_ns.max(kept_ns).filter(|&from_ns| from_ns > began_ns)
}

fn of_samples(mut sampled: Sampled, last: Option<Duration>, empty: Trace) -> Trace {
    let end_ns = empty.began.raw_ns + empty.duration_ns;
    let sampled_ns = sampled.threads.iter().map(|thread| thread.to_ns).max();
    // The last samples are read after the request to stop.
    let end_ns = sampled.full_ns.unwrap_or(end_ns).max(sampled_ns.unwrap_or(0));
    let last_from_ns = last.map(|last| before_by(end_ns, last));
    let shown_from_ns = shown_from(last_from_ns, None, empty.began.raw_ns);
    let empty = match shown_from_ns {
        None => empty,
        Some(from_ns) => {
            sampler::drop_before(&mut sampled.threads, from_ns);
            Trace { began: since(empty.began, from_ns), ..empty }
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

#[cfg(test)]
mod tests {
    use super::super::kept::Before;
    use super::*;
    use model::trace::Sample;

    fn clocks(raw_ns: u64) -> Clocks {
        Clocks { raw_ns, boot_ns: raw_ns + 1_000, real_ns: raw_ns + 2_000 }
    }

    /// From 100 to 1000 ns, of which the last ones are asked for.
    fn trace_recorded(recorded: Recorded, last_ns: Option<u64>) -> Trace {
        let request =
            RecordRequest { last: last_ns.map(Duration::from_nanos), ..RecordRequest::of_all() };
        recorded.into_trace(Around {
            target: Target::Process(7),
            roots: vec![(7, 7)],
            stops: Vec::new(),
            asleep: Vec::new(),
            gaps: Vec::new(),
            began: clocks(100),
            to_ns: 1_000,
            ended: Ended::Gone,
            request: &request,
        })
    }

    fn records(full_ns: Option<u64>, from_ns: Option<u64>, short_ns: Option<u64>) -> Recorded {
        Recorded::Records {
            tier: Tier::OwnProcess,
            samples: Box::new(Samples::Faults),
            gaps: Vec::new(),
            ring_bytes: 512,
            probes: Vec::new(),
            collected: Box::new(Collected {
                // No record is so short.
                drained: vec![(0, vec![0; 5])].into(),
                full_ns,
                from_ns,
                short_ns,
                before: Before::default(),
                stacks: None,
            }),
        }
    }

    /// When it began, how long it lasts, and how it ended.
    fn stretch(trace: &Trace) -> (Clocks, u64, Ended) {
        (trace.began, trace.duration_ns, trace.ended)
    }

    #[test]
    fn a_trace_of_records_is_as_long_as_they_are_whole() {
        let all = trace_recorded(records(None, None, None), None);
        assert_eq!(stretch(&all), (clocks(100), 900, Ended::Gone));
        assert_eq!((all.tier, all.ring_bytes), (Tier::OwnProcess, 512));
        assert_eq!((all.cpu_count, all.losses.unread_bytes), (2, 5));
        let full = trace_recorded(records(Some(900), None, None), None);
        assert_eq!(stretch(&full), (clocks(100), 800, Ended::Full));
        // Older ones were dropped than was asked for, or as many.
        let last = trace_recorded(records(None, Some(300), None), Some(600));
        assert_eq!(stretch(&last), (clocks(400), 600, Ended::Gone));
        let kept = trace_recorded(records(None, Some(450), None), Some(600));
        assert_eq!(stretch(&kept), (clocks(450), 550, Ended::Gone));
        // More is asked for than there is.
        let more = trace_recorded(records(None, None, None), Some(5_000));
        assert_eq!(stretch(&more), (clocks(100), 900, Ended::Gone));
    }

    #[test]
    fn an_end_for_which_there_was_no_room_is_told() {
        // Of the last 600 ns, which begin at 400.
        let told = |short_ns, last_ns| {
            let trace = trace_recorded(records(None, Some(500), short_ns), last_ns);
            trace.losses.last_ns
        };
        assert_eq!(told(Some(401), Some(600)), Some(600));
        assert_eq!(told(Some(400), Some(600)), None);
        assert_eq!(told(None, Some(600)), None);
        assert_eq!(told(Some(401), Some(5_000)), Some(900), "all there was");
    }

    fn sampled(full_ns: Option<u64>) -> Recorded {
        let sample =
            |at_ns| Sample { at_ns, running_ns: 0, queued_ns: 0, switched_in: 0, faults: 0 };
        let thread = |id, times: &[u64]| Thread {
            id,
            from_ns: times[0],
            to_ns: times[times.len() - 1],
            samples: times.iter().map(|&at_ns| sample(at_ns)).collect(),
            ..Thread::default()
        };
        Recorded::Samples(Sampled {
            threads: vec![
                thread(7, &[150, 399, 400, 1_000]),
                thread(8, &[150, 399]),
                thread(9, &[150, 400]),
            ],
            full_ns,
        })
    }

    #[test]
    fn samples_are_those_of_the_end_that_was_asked_for() {
        let times = |trace: &Trace| {
            let threads = trace.threads.iter().map(|thread| {
                let samples = thread.samples.iter().map(|sample| sample.at_ns);
                (thread.id, thread.from_ns, thread.to_ns, samples.collect())
            });
            threads.collect::<Vec<(u32, u64, u64, Vec<u64>)>>()
        };
        let all = trace_recorded(sampled(None), None);
        assert_eq!(stretch(&all), (clocks(100), 900, Ended::Gone));
        let expected = [
            (7, 50, 900, vec![50, 299, 300, 900]),
            (8, 50, 299, vec![50, 299]),
            (9, 50, 300, vec![50, 300]),
        ];
        assert_eq!(times(&all), expected);
        let last = trace_recorded(sampled(None), Some(600));
        assert_eq!(stretch(&last), (clocks(400), 600, Ended::Gone));
        assert_eq!(times(&last), [(7, 0, 600, vec![0, 600]), (9, 0, 0, vec![0])]);
        // The last samples are read after that.
        let full = trace_recorded(sampled(Some(950)), None);
        assert_eq!(stretch(&full), (clocks(100), 900, Ended::Full));
    }
}
