//! The work of a pack's probe, and the checks of what it claims.

use super::PackSite;
use crate::waits::{ProcessWaits, ThreadsWait};
use crate::work::{CounterOrigin, Event, Work, WorkError};
use crate::worker_memory::WorkerMemory;
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sys::clock::Counter;
use sys::pack::{PackProbe, Ready, Stamp};

/// A loop whose time is compared with that of twice its turns takes at least this long.
const LOOP: Duration = Duration::from_micros(50);

/// Times that a loop is measured; the shortest counts.
const TIMES: u32 = 5;

/// Comparisons of the two, at least: one alone may look right by chance.
const LEAST_ATTEMPTS: usize = 3;

/// Comparisons until their median must be right: a busy machine spoils some.
const ATTEMPTS: usize = 9;

/// A busy machine has this time to become quiet between two comparisons.
const PAUSE: Duration = Duration::from_millis(20);

/// Doublings of a loop that does not take twice as long for twice its turns.
const MOST_DOUBLINGS: u32 = 8;

/// A loop that takes longer is not doubled.
const LONGEST: Duration = Duration::from_millis(2);

/// What twice the turns may take, as a multiple.
const TWICE: std::ops::Range<f64> = 1.6..2.5;

/// A loop of this many turns takes longer than [`LOOP`] if it is there.
const MOST_TURNS: u64 = 1 << 24;

/// Turns that bring code and data back after other rows.
const RESTORING: u64 = 4;

/// Why a probe's claims can't be right.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
enum Lie {
    #[error("its run() performed {performed} of {asked} turns, by its own count")]
    Count { asked: u64, performed: u64 },
    #[error(
        "{0} turns of its run() take no time: it does not perform them, or the compiler removed its loop"
    )]
    NoTime(u64),
    #[error(
        "twice the turns of its run() take {0:.2} times as long: a turn is not always the same"
    )]
    NotTwice(f64),
    #[error("its stamped() performed {performed} of at most {asked} operations, by its own count")]
    Stamps { asked: u32, performed: u32 },
    #[error("its stamped() performed no operation")]
    NoStamps,
    #[error("its stamps do not lie between the call of stamped() and its return")]
    Outside,
}

/// Makes the work of a probe in a worker.
pub(super) fn pack_work<'a>(
    site: &PackSite,
    worker: &mut WorkerMemory,
) -> Result<Box<dyn Work + 'a>, WorkError> {
    let probe = site.loaded_probe()?;
    let directory = match probe.disk_bytes {
        0 => None,
        _ => Some(own_directory(worker)?),
    };
    let ready = probe.set_up(directory.as_deref());
    let mut ready = ready.map_err(|why| model::printable::visible(&why))?;
    let is_long = probe.long || probe.about_ns >= super::LONG_NS;
    thread_local! {
        /// Probes whose turns were compared in this process.
        static COMPARED: RefCell<HashSet<String>> = RefCell::default();
    }
    let is_compared = || COMPARED.with_borrow(|known| known.contains(&site.id));
    if !probe.stamps() && !is_long && !is_compared() {
        compare(&mut ready).map_err(|lie| lie.to_string())?;
        COMPARED.with_borrow_mut(|known| known.insert(site.id.clone()));
    }
    let mut notes = Vec::new();
    if !probe.note.trim().is_empty() {
        notes.push(model::printable::visible(probe.note.trim()));
    }
    if probe.disk_bytes > 0 {
        let on = worker.scratch()?.filesystem.one_line();
        notes.push(format!("file system: {on}"));
    }
    Ok(Box::new(OfPack { probe, ready, is_long, lie: None, notes, waited: None }))
}

/// A directory of this process in the run's own.
fn own_directory(worker: &WorkerMemory) -> Result<PathBuf, WorkError> {
    let directory = worker.scratch()?.directory.join(format!("pack-{}", std::process::id()));
    std::fs::create_dir_all(&directory)
        .map_err(WorkError::call("can't create a directory for the pack"))?;
    Ok(directory)
}

struct OfPack {
    probe: &'static PackProbe,
    ready: Ready,
    is_long: bool,
    /// The first.
    lie: Option<Lie>,
    notes: Vec<String>,
    /// What all threads of the process waited during the last visit to stamped work.
    waited: Option<ThreadsWait>,
}

impl Work for OfPack {
    fn ops_per_turn(&self) -> f64 {
        f64::from(self.probe.ops_per_turn)
    }
    fn restore(&mut self) {
        if !self.is_long {
            self.run(RESTORING, false);
        }
    }
    fn run(&mut self, turns: u64, _double: bool) {
        let counted = check_count(turns, self.ready.perform(turns));
        if self.lie.is_none() {
            self.lie = counted.err();
        }
    }
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, WorkError> {
        let waits = ProcessWaits::begin();
        let events = stamps(&mut self.ready, operations).map_err(|lie| lie.to_string())?;
        self.waited = waits.and_then(|waits| waits.until_now());
        Ok(events)
    }
    fn run_delay_ns(&self, _series: usize, own_ns: u64) -> Option<u64> {
        // Whether a pack's other threads take part in its operations is not known: they count
        // while none of the process runs.
        let all_ns = self.waited.map_or(0, ThreadsWait::in_turns_ns);
        Some(own_ns.max(all_ns))
    }
    fn faults_belong(&self) -> bool {
        self.probe.faults
    }
    fn verify(&self) -> Result<(), WorkError> {
        self.lie.as_ref().map_or(Ok(()), |lie| Err(lie.to_string().into()))
    }
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// Operations that the pack stamps, checked against our own clock.
fn stamps(ready: &mut Ready, operations: u32) -> Result<Vec<Event>, Lie> {
    let counter = Counter::best();
    let began = counter.start();
    let stamps = ready.stamped(operations);
    let ended = counter.stop();
    let stamps = stamps.map_err(|performed| Lie::Stamps { asked: operations, performed })?;
    let thread = sys::thread::current_id();
    let mut from = began;
    let event = |stamp: &Stamp| {
        let (is_later, before) = (stamp.from_ticks >= from, stamp.to_ticks <= ended);
        from = stamp.from_ticks;
        match is_later && before && stamp.to_ticks >= stamp.from_ticks {
            false => Err(Lie::Outside),
            true => Ok(Event {
                series: 0,
                from_ticks: 0,
                to_ticks: stamp.to_ticks - stamp.from_ticks,
                ops: 1,
                mode: 0,
                place: Some(CounterOrigin { zero_ticks: stamp.from_ticks, thread }),
            }),
        }
    };
    stamps.iter().map(event).collect()
}

/// Whether twice the turns take twice as long.
fn compare(ready: &mut Ready) -> Result<(), Lie> {
    let mut turns = 1;
    while time(ready, turns)? < LOOP || shortest(ready, turns)? < LOOP {
        if turns >= MOST_TURNS {
            return Err(Lie::NoTime(turns));
        }
        turns *= 2;
    }
    let (mut doublings, mut ratios) = (0, Vec::new());
    loop {
        let (once, twice) = shortest_pair(ready, turns)?;
        let ratio = twice.as_secs_f64() / once.as_secs_f64();
        // What a call costs apart from its turns, and first turns that are cheaper than later
        // ones, count for less in a longer loop.
        if !TWICE.contains(&ratio) && doublings < MOST_DOUBLINGS && once < LONGEST {
            (turns, doublings) = (2 * turns, doublings + 1);
            ratios.clear();
            continue;
        }
        ratios.push(ratio);
        let middle = model::stats::median(ratios.iter().copied()).unwrap_or(ratio);
        if ratios.len() >= LEAST_ATTEMPTS && TWICE.contains(&middle) {
            return Ok(());
        }
        if ratios.len() >= ATTEMPTS {
            return Err(Lie::NotTwice(middle));
        }
        // What disturbs lasts for some time slices of the scheduler.
        if ratios.len() >= LEAST_ATTEMPTS {
            std::thread::sleep(PAUSE);
        }
    }
}

/// The shortest of a few: a preemption lengthens one of them, seldom all.
fn shortest(ready: &mut Ready, turns: u64) -> Result<Duration, Lie> {
    let mut least = Duration::MAX;
    for _ in 0..TIMES {
        least = least.min(time(ready, turns)?);
    }
    Ok(least)
}

/// The shortest of these turns, and of twice as many, interleaved: what slows the core for longer slows both.
fn shortest_pair(ready: &mut Ready, turns: u64) -> Result<(Duration, Duration), Lie> {
    let (mut once, mut twice) = (Duration::MAX, Duration::MAX);
    for _ in 0..TIMES {
        once = once.min(time(ready, turns)?);
        twice = twice.min(time(ready, 2 * turns)?);
    }
    Ok((once, twice))
}

fn time(ready: &mut Ready, turns: u64) -> Result<Duration, Lie> {
    let began = Instant::now();
    let performed = ready.perform(turns);
    let took = began.elapsed();
    check_count(turns, performed)?;
    Ok(took)
}

/// Whether a probe did by its own count what it was asked for.
fn check_count(asked: u64, performed: u64) -> Result<(), Lie> {
    if performed == asked { Ok(()) } else { Err(Lie::Count { asked, performed }) }
}

/// What a short trial of a probe shows.
#[derive(serde::Serialize, serde::Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// About what an operation takes, ns. Not a measurement: no gate, no interval.
    pub about_ns: f64,
    /// Operations.
    pub operations: u64,
}

/// Why a trial failed.
#[derive(thiserror::Error, serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq)]
pub enum TrialError {
    /// The probe is not available here, in its own words.
    #[error("{0}")]
    Unavailable(String),
    /// It has a fault.
    #[error("{0}")]
    Fault(String),
}

impl From<Lie> for TrialError {
    fn from(lie: Lie) -> TrialError {
        TrialError::Fault(lie.to_string())
    }
}

/// Tries a probe briefly, where this process may be lost: sets it up, runs it and tears it down, and
/// checks its count. Files go to `directory`.
pub fn trial(site: &PackSite, directory: &std::path::Path) -> Result<Trial, TrialError> {
    /// Operations of a stamped probe.
    const STAMPS: u32 = 8;
    /// A loop takes at least this long.
    const LEAST: Duration = Duration::from_millis(2);
    let probe = site.loaded_probe().map_err(TrialError::Fault)?;
    let directory = Some(directory).filter(|_| probe.disk_bytes > 0);
    let mut ready = probe
        .set_up(directory)
        .map_err(|why| TrialError::Unavailable(model::printable::visible(&why)))?;
    if probe.stamps() {
        let events = stamps(&mut ready, STAMPS)?;
        if events.is_empty() {
            return Err(Lie::NoStamps.into());
        }
        let ns_per_tick =
            sys::clock::calibrate(&Counter::best(), Duration::from_millis(20)).ns_per_tick;
        let ticks: u64 = events.iter().map(|event| event.to_ticks).sum();
        return Ok(Trial {
            about_ns: ticks as f64 * ns_per_tick / events.len() as f64,
            operations: events.len() as u64,
        });
    }
    if !probe.long && probe.about_ns < super::LONG_NS {
        compare(&mut ready)?;
    }
    let mut turns = 1;
    loop {
        let took = time(&mut ready, turns)?;
        if took >= LEAST {
            let operations = turns * u64::from(probe.ops_per_turn);
            return Ok(Trial { about_ns: took.as_nanos() as f64 / operations as f64, operations });
        }
        if turns >= MOST_TURNS << 8 {
            return Err(Lie::NoTime(turns).into());
        }
        turns *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_performs_the_turns_it_was_asked_for() {
        assert_eq!(check_count(7, 7), Ok(()));
        for performed in [0, 6, 8] {
            let lie = Lie::Count { asked: 7, performed };
            assert_eq!(check_count(7, performed), Err(lie));
        }
    }
}
