//! Work that mostly sleeps: a timer, and how late the thread runs after it.

use super::JobReport;
use model::noise::effect::Wakeups;
use model::stats;
use std::time::{Duration, Instant};

/// How long each sleep is meant to be.
pub const INTERVAL: Duration = Duration::from_micros(200);

/// Sleeps so many times. A wake-up is late by what the sleep took longer than
/// it was meant to. The timer's slack is part of that, so every state of an
/// experiment sets the same one, of 1 ns: real-time threads have none, others
/// 50 µs where it was not set (prctl(2), `PR_SET_TIMERSLACK`).
pub fn sleep_repeatedly(sleeps: u64) -> JobReport {
    let mut late = Vec::with_capacity(sleeps as usize);
    for _ in 0..sleeps {
        let began = Instant::now();
        std::thread::sleep(INTERVAL);
        late.push(began.elapsed().saturating_sub(INTERVAL).as_nanos() as f64);
    }
    JobReport {
        done: late.len() as u64,
        check: late.len() as u64,
        wakeups: wakeups(&late),
        ..JobReport::default()
    }
}

/// `None` where no thread slept.
fn wakeups(late_ns: &[f64]) -> Option<Wakeups> {
    let sorted = stats::sorted(late_ns.iter().copied());
    Some(Wakeups {
        count: late_ns.len() as u64,
        mean_ns: stats::mean(late_ns)?,
        p50_ns: stats::quantile_sorted(&sorted, 0.5)?,
        p99_ns: stats::quantile_sorted(&sorted, 0.99)?,
        max_ns: *sorted.last()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_cover_all_sleeps() {
        let late: Vec<f64> = (0..=100).map(f64::from).rev().collect();
        let of = wakeups(&late).expect("some");
        assert_eq!((of.count, of.mean_ns), (101, 50.0));
        assert_eq!((of.p50_ns, of.p99_ns, of.max_ns), (50.0, 99.0, 100.0));
        assert_eq!(wakeups(&[]), None);
        assert_eq!(sleep_repeatedly(3).wakeups.expect("three").count, 3);
    }
}
