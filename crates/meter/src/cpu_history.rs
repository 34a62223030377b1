//! Recording what each CPU did over time, by reading its counters at an interval.

use model::cpu_history::{CpuHistory, CpuStrip, NO_QUEUES, Ticks};
use model::machine::{CoreKind, Fact};
use model::trace::Ended;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sys::cpu_times::{CpuTicks, CpuTimes, SOURCE, tick_ns};

/// Intervals that are kept; where there are more, they are joined two by two.
const MOST: usize = 36_000;

/// Readings of all CPUs' counters, and what lay between them.
#[derive(Debug)]
pub struct CpuReadings {
    began: Instant,
    before: CpuTimes,
    history: CpuHistory,
}

impl CpuReadings {
    /// The first reading.
    ///
    /// # Errors
    /// If the times of CPUs can't be read.
    pub fn begin(core_kinds: Fact<Vec<CoreKind>>) -> io::Result<CpuReadings> {
        let before = CpuTimes::now()?;
        let history = CpuHistory {
            command: None,
            ended: Ended::Requested,
            tick_ns: tick_ns(),
            source: SOURCE.into(),
            core_kinds,
            ends_ns: Vec::new(),
            cpus: Vec::new(),
            queued_while_idle_ns: Fact::unknown(NO_QUEUES),
        };
        Ok(CpuReadings { began: Instant::now(), before, history })
    }

    /// Another one: adds the interval since the last. One that fails makes the next interval longer.
    pub fn add_reading(&mut self) {
        if let Ok(now) = CpuTimes::now() {
            let end_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            add_interval(&mut self.history, end_ns, &self.before, &now);
            self.before = now;
        }
    }

    /// All intervals that are kept.
    pub fn history(&self) -> &CpuHistory {
        &self.history
    }

    /// Forgets all but so many intervals, the newest.
    pub fn keep_newest(&mut self, intervals: usize) {
        let history = &mut self.history;
        let old = history.ends_ns.len().saturating_sub(intervals);
        history.ends_ns.drain(..old);
        for strip in &mut history.cpus {
            strip.ticks.drain(..old);
        }
    }
}

/// A recording that runs, in a thread of its own, until it is stopped.
#[derive(Debug)]
pub struct CpuRecording {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<CpuHistory>,
}

impl CpuRecording {
    /// Begins to record all CPUs, one interval after the other.
    ///
    /// # Errors
    /// If the times of CPUs can't be read, or no thread be started.
    pub fn start_recording(
        interval: Duration,
        core_kinds: Fact<Vec<CoreKind>>,
    ) -> io::Result<CpuRecording> {
        let readings = CpuReadings::begin(core_kinds)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let record = move || record_intervals(readings, interval, &stopped);
        let name = std::thread::Builder::new().name("cpu-history".into());
        let no_thread = |error: io::Error| {
            io::Error::new(error.kind(), format!("can't start a thread: {error}"))
        };
        Ok(CpuRecording { stop, thread: sys::thread::spawn(name, record).map_err(no_thread)? })
    }

    /// Ends the recording.
    pub fn stop(self) -> io::Result<CpuHistory> {
        self.stop.store(true, Ordering::Release);
        self.thread.thread().unpark();
        let joined = self.thread.join();
        joined.map_err(|_| io::Error::other("the recording thread panicked"))
    }
}

fn record_intervals(
    mut readings: CpuReadings,
    mut interval: Duration,
    stop: &AtomicBool,
) -> CpuHistory {
    let mut next = sys::later(readings.began, interval);
    loop {
        while !stop.load(Ordering::Acquire) && Instant::now() < next {
            std::thread::park_timeout(next.saturating_duration_since(Instant::now()));
        }
        // The last interval is read too, however short.
        let last = stop.load(Ordering::Acquire);
        readings.add_reading();
        if last {
            return readings.history;
        }
        if readings.history.ends_ns.len() >= MOST {
            readings.history.halve();
            interval = interval.saturating_mul(2);
        }
        // Of a late reading no time is made up for.
        next = sys::later(next, interval).max(Instant::now());
    }
}

/// Adds an interval between two readings.
fn add_interval(history: &mut CpuHistory, end_ns: u64, before: &CpuTimes, now: &CpuTimes) {
    let intervals = history.ends_ns.len();
    history.ends_ns.push(end_ns);
    for &(cpu, ticks) in &now.cpus {
        let earlier = before.cpus.iter().find(|(number, _)| *number == cpu);
        let passed = earlier.and_then(|(_, earlier)| passed(*earlier, ticks));
        let place = history.cpus.binary_search_by_key(&cpu, |strip| strip.cpu);
        let at = place.unwrap_or_else(|at| {
            // It was offline until now.
            let ticks = vec![None; intervals];
            history.cpus.insert(at, CpuStrip { cpu, ticks });
            at
        });
        history.cpus[at].ticks.push(passed);
    }
    for strip in &mut history.cpus {
        strip.ticks.resize(intervals + 1, None);
    }
}

/// What a CPU did between two readings; `None` if a counter went back, as after it was
/// offline.
fn passed(before: CpuTicks, now: CpuTicks) -> Option<Ticks> {
    let ticks = |of: fn(&CpuTicks) -> u64| {
        let passed = of(&now).checked_sub(of(&before))?;
        u32::try_from(passed).ok()
    };
    Some(Ticks {
        user: ticks(|t| t.user)?,
        system: ticks(|t| t.system)?,
        steal: ticks(|t| t.steal.unwrap_or(0))?,
        // The kernel's idle time may go back by a tick (proc_stat(5), iowait).
        idle: ticks(|t| t.idle).or_else(|| (now.idle + 1 == before.idle).then_some(0))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu_times(stat: &str) -> CpuTimes {
        CpuTimes::from_stat(stat)
    }

    fn empty() -> CpuHistory {
        CpuHistory {
            command: None,
            ended: Ended::Requested,
            tick_ns: 10_000_000,
            source: SOURCE.into(),
            core_kinds: Fact::unknown("a test"),
            ends_ns: Vec::new(),
            cpus: Vec::new(),
            queued_while_idle_ns: Fact::unknown(NO_QUEUES),
        }
    }

    #[test]
    fn intervals_are_differences_of_readings() {
        let readings = [
            "cpu0 10 0 5 100 0 0 0 1\ncpu2 0 0 0 0\n",
            "cpu0 14 1 6 104 1 0 0 3\ncpu2 0 0 0 9\n",
            // CPU 2 went offline, CPU 1 came.
            "cpu0 14 1 6 114 1 0 0 3\ncpu1 5 0 0 0\n",
            // CPU 1's counter went back; CPU 2 is there again.
            "cpu0 14 1 6 113 1 0 0 3\ncpu1 4 0 0 9\ncpu2 7 0 0 7\n",
        ]
        .map(cpu_times);
        let mut history = empty();
        for (at, pair) in readings.windows(2).enumerate() {
            add_interval(&mut history, 100 * (at as u64 + 1), &pair[0], &pair[1]);
        }
        let of = |cpu| {
            let strip = history.cpus.iter().find(|strip| strip.cpu == cpu);
            strip.map(|strip| strip.ticks.clone()).unwrap_or_default()
        };
        let ticks = |ticks: [u32; 4]| Some(Ticks::from(ticks));
        assert_eq!(history.ends_ns, [100, 200, 300]);
        assert_eq!(of(0), [ticks([5, 1, 2, 5]), ticks([0, 0, 0, 10]), ticks([0; 4])]);
        assert_eq!(of(1), [None; 3]);
        assert_eq!(of(2), [ticks([0, 0, 0, 9]), None, None]);
        let numbers: Vec<u32> = history.cpus.iter().map(|strip| strip.cpu).collect();
        assert_eq!(numbers, [0, 1, 2]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_newest_intervals_are_kept() {
        let mut readings = CpuReadings::begin(Fact::unknown("a test")).expect("/proc/stat");
        for _ in 0..5 {
            readings.add_reading();
        }
        let newest = readings.history().ends_ns[3..].to_vec();
        readings.keep_newest(2);
        let history = readings.history();
        assert_eq!(history.ends_ns, newest);
        assert!(history.cpus.iter().all(|strip| strip.ticks.len() == 2));
        readings.keep_newest(7);
        assert_eq!(readings.history().ends_ns, newest);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_recording_has_its_last_interval() {
        let kinds = Fact::unknown("a test");
        let recording = CpuRecording::start_recording(Duration::from_secs(3600), kinds);
        let history = recording.expect("/proc/stat").stop().expect("no panic");
        assert_eq!(history.ends_ns.len(), 1);
        assert!(!history.cpus.is_empty());
        let whole = history.cpus.iter().all(|strip| strip.ticks.len() == 1);
        assert!(whole, "{history:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn intervals_follow_each_other() {
        let kinds = Fact::unknown("a test");
        let recording = CpuRecording::start_recording(Duration::from_millis(10), kinds);
        std::thread::sleep(Duration::from_secs(1));
        let history = recording.expect("/proc/stat").stop().expect("no panic");
        assert!(history.ends_ns.len() > 1, "{:?}", history.ends_ns);
        assert!(history.ends_ns.is_sorted_by(|a, b| a < b));
    }
}
