//! What others saw of the jobs: processes of latlas, of which the last ones are measured.

use crate::process::output;
use model::trace::{State, Trace};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A job, as it was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct ObservedJob {
    pub(super) process: u32,
    from_ns: u64,
    /// When it last worked: later it tells what it did, which may wait.
    pub(super) to_ns: u64,
    /// When, for how long, and where it ran.
    ran: Vec<(u64, u64, u32)>,
}

/// What is shorter is none. The controller, and what tries a job first, begin before.
const LEAST_NS: u64 = 300_000_000;
/// Turns of its threads are longer.
const WORK_NS: u64 = 500_000;

impl ObservedJob {
    fn add_run(&mut self, end_ns: u64, ns: u64, cpu: u32) {
        if self.ran.is_empty() {
            self.from_ns = end_ns.saturating_sub(ns);
        }
        if ns >= WORK_NS {
            self.to_ns = self.to_ns.max(end_ns);
        }
        self.ran.push((end_ns, ns, cpu));
    }

    fn all_ns(&self) -> u64 {
        self.ran.iter().map(|(_, ns, _)| ns).sum()
    }

    /// Time on a CPU within a stretch.
    pub(super) fn ran_ns(&self, (from_ns, to_ns): (u64, u64)) -> u64 {
        let part = |&(end, ns, _): &(u64, u64, u32)| {
            let from = end.saturating_sub(ns).max(from_ns);
            end.min(to_ns).saturating_sub(from)
        };
        self.ran.iter().map(part).sum()
    }

    /// The part of its time on this CPU.
    pub(super) fn share_of(&self, cpu: u32) -> f64 {
        let on = self.ran.iter().filter(|(.., at)| *at == cpu);
        on.map(|(_, ns, _)| ns).sum::<u64>() as f64 / self.all_ns().max(1) as f64
    }
}

/// All jobs, in the order in which they began.
fn ordered(jobs: BTreeMap<u32, ObservedJob>) -> Vec<ObservedJob> {
    let jobs = jobs.into_iter().map(|(process, job)| ObservedJob { process, ..job });
    let mut jobs: Vec<ObservedJob> = jobs.filter(|job| job.all_ns() >= LEAST_NS).collect();
    jobs.sort_by_key(|job| job.from_ns);
    jobs
}

/// The last so many pairs of jobs that ran at once, by `sched_stat_runtime`.
pub(super) fn pairs_in_perf(
    perf: &Path,
    data: &str,
    count: usize,
) -> anyhow::Result<Vec<[ObservedJob; 2]>> {
    let fields = "comm,pid,tid,cpu,time,event,trace";
    let mut script = Command::new(perf);
    let (text, _, _) = output(script.args(["script", "--ns", "-F", fields, "-i", data]))?;
    let mut jobs: BTreeMap<u32, ObservedJob> = BTreeMap::new();
    for line in text.lines() {
        let seen = || -> Option<(u32, u64, u64, u32)> {
            let (head, runtime) = line.split_once("sched:sched_stat_runtime:")?;
            let mut head = head.trim_end().rsplit(' ').filter(|word| !word.is_empty());
            let at_ns = nanoseconds(head.next()?.trim_end_matches(':'))?;
            let cpu = head.next()?.trim_matches(['[', ']']).parse().ok()?;
            let process = head.next()?.split('/').next()?.parse().ok()?;
            let is_latlas = head.next()?.starts_with("latlas");
            let (_, runtime) = runtime.split_once("runtime=")?;
            let ns = runtime.split_whitespace().next()?.parse().ok()?;
            is_latlas.then_some((process, at_ns, ns, cpu))
        };
        if let Some((process, at_ns, ns, cpu)) = seen() {
            jobs.entry(process).or_default().add_run(at_ns, ns, cpu);
        }
    }
    let jobs = ordered(jobs);
    let overlap = |pair: &&[ObservedJob]| pair[1].from_ns < pair[0].to_ns;
    let pairs = jobs.windows(2).filter(overlap);
    let pairs = pairs.map(|pair| [pair[0].clone(), pair[1].clone()]);
    let mut pairs: Vec<[ObservedJob; 2]> = pairs.collect();
    Ok(pairs.split_off(pairs.len().saturating_sub(count)))
}

/// Seconds with nine digits after the point.
fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, rest) = text.split_once('.')?;
    let rest = rest.parse::<u64>().ok().filter(|_| rest.len() == 9)?;
    Some(seconds.parse::<u64>().ok()? * 1_000_000_000 + rest)
}

/// The run time of two processes in a stretch, by `perf sched timehist`.
pub(super) fn timehist(
    perf: &Path,
    data: &str,
    (from_ns, to_ns): (u64, u64),
    processes: [u32; 2],
) -> anyhow::Result<[u64; 2]> {
    let seconds = |ns: u64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    let stretch = format!("{},{}", seconds(from_ns), seconds(to_ns));
    let words = ["sched", "timehist", "-s", "--time", &stretch, "-i", data];
    let (text, _, _) = output(Command::new(perf).args(words))?;
    let mut ran_ns = [0; 2];
    for line in text.lines() {
        // latlas[1234/1230]  parent  sched-in  run-time ...
        let seen = || -> Option<(u32, f64)> {
            let (name, rest) = line.split_once(']')?;
            let (_, ids) = name.rsplit_once('[')?;
            let process = ids.rsplit('/').next()?.parse().ok()?;
            let ms = rest.split_whitespace().nth(2)?.parse().ok()?;
            Some((process, ms))
        };
        let Some((process, ms)) = seen() else {
            continue;
        };
        if let Some(at) = processes.iter().position(|&known| known == process) {
            ran_ns[at] += (ms * 1e6) as u64;
        }
    }
    Ok(ran_ns)
}

/// The jobs that began last, by our trace.
pub(super) fn jobs_in_trace(trace: &Trace, count: usize) -> Vec<ObservedJob> {
    let mut jobs: BTreeMap<u32, ObservedJob> = BTreeMap::new();
    for thread in &trace.threads {
        let job = jobs.entry(thread.process).or_default();
        for segment in &thread.segments {
            if let State::Running(cpu) = segment.state {
                job.add_run(segment.to_ns, segment.duration_ns(), cpu);
            }
        }
    }
    let mut jobs = ordered(jobs);
    jobs.split_off(jobs.len().saturating_sub(count))
}
