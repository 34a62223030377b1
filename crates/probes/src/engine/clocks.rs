//! Whether stamps of different CPUs can be compared.

use super::reason::Reason;
use model::figure::magnitude;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use sys::clock::{Counter, Skew, calibrate, measure_skew};

/// Window of the calibration that notes and the kernel's own times are turned
/// by: good for a few parts in a hundred thousand.
const CALIBRATION: Duration = Duration::from_millis(5);

/// What is known of the CPUs' counters in this process.
#[derive(Debug)]
pub(crate) struct Counters {
    /// Length of a tick of the best counter, ns.
    pub(crate) ns_per_tick: f64,
    /// How far stamps of different CPUs can be compared, for the reader.
    pub(crate) note: Option<String>,
}

/// Compares the counters of these CPUs, once in this process for each set.
///
/// # Errors
/// The reason, if stamps of different CPUs can't be compared.
pub(crate) fn counters(cpus: &[u32]) -> Result<&'static Counters, Reason> {
    type Compared = Result<&'static Counters, Reason>;
    static COMPARED: Mutex<Vec<(Vec<u32>, Compared)>> = Mutex::new(Vec::new());
    let mut compared = COMPARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = compared.iter().find(|(set, _)| set == cpus) {
        return known.clone();
    }
    // Kept for the life of the process: a worker has one set.
    let new = compare(cpus).map(|counters| &*Box::leak(Box::new(counters)));
    compared.push((cpus.to_vec(), new.clone()));
    new
}

fn compare(cpus: &[u32]) -> Result<Counters, Reason> {
    let counter = Counter::best();
    let calibration = calibrate(&counter, CALIBRATION);
    if !calibration.is_usable() {
        let name = counter.name();
        return Err(Reason::missing(format!("no clock: the {name} stands still")));
    }
    let ns_per_tick = calibration.ns_per_tick;
    let mut skews = Vec::new();
    for &other in cpus.iter().skip(1) {
        match measure_skew(counter, cpus[0], other) {
            Ok(skew) => skews.push((other, skew)),
            Err(e) => {
                let first = cpus[0];
                let note =
                    format!("the CPUs' counters: not compared (CPUs {first} and {other}: {e})");
                return Ok(Counters { ns_per_tick, note: Some(note) });
            }
        }
    }
    let agree_ns = agreement_ns(cpus, &skews, ns_per_tick)?;
    Ok(Counters {
        ns_per_tick,
        note: agree_ns.map(|ns| format!("the CPUs' counters agree within: ±{ns:.0} ns")),
    })
}

/// How far stamps of any two CPUs may be apart, by the skews of the others
/// against the first; `None` for a single CPU.
fn agreement_ns(
    cpus: &[u32],
    skews: &[(u32, Skew)],
    ns_per_tick: f64,
) -> Result<Option<f64>, Reason> {
    for &(cpu, skew) in skews {
        let width = skew.high_ticks - skew.low_ticks;
        let how = if width < 0 {
            "run at different rates".to_string()
        } else if skew.low_ticks > width || skew.high_ticks < -width {
            let middle_ns = (skew.low_ticks + skew.high_ticks) as f64 / 2.0 * ns_per_tick;
            let half_ns = width as f64 / 2.0 * ns_per_tick;
            format!("differ by {middle_ns:.0} ns (±{half_ns:.0} ns)")
        } else {
            continue;
        };
        let first = cpus[0];
        return Err(Reason::wrong(format!(
            "the counters of CPUs {first} and {cpu} {how}: times between stamps of both mean nothing"
        )));
    }
    // The first CPU against itself stands for nothing but its place.
    let bounds: Vec<(i64, i64)> = std::iter::once((0, 0))
        .chain(skews.iter().map(|(_, s)| (s.low_ticks, s.high_ticks)))
        .collect();
    let most_ticks = bounds
        .iter()
        .enumerate()
        .flat_map(|(n, a)| {
            let others = bounds.iter().enumerate().filter(move |(m, _)| *m != n);
            others.map(move |(_, b)| a.1 - b.0)
        })
        .max();
    Ok(most_ticks.map(|ticks| upwards(ticks as f64 * ns_per_tick)))
}

/// The next of 1, 2, 5, 10, 20 and so on: workers find the same.
fn upwards(ns: f64) -> f64 {
    let tens = 10_f64.powi(magnitude(ns.max(1.0)));
    [1.0, 2.0, 5.0, 10.0].map(|step| step * tens).into_iter().find(|&step| step >= ns).unwrap_or(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skew(low_ticks: i64, high_ticks: i64) -> Skew {
        Skew { low_ticks, high_ticks, exchanges: 1000 }
    }

    #[test]
    fn agreement_is_that_of_the_worst_pair() {
        let of = |skews: &[(u32, Skew)]| agreement_ns(&[0, 1, 2], skews, 0.5);
        assert_eq!(of(&[]), Ok(None), "one CPU agrees with itself");
        assert_eq!(of(&[(1, skew(-100, 90))]), Ok(Some(50.0)));
        // CPU 1 may be 100 behind while CPU 2 is 150 ahead.
        let two = [(1, skew(-100, 90)), (2, skew(-80, 150))];
        assert_eq!(of(&two), Ok(Some(200.0)));
        // Not around 0, but not by more than it is wide.
        assert_eq!(of(&[(1, skew(20, 100))]), Ok(Some(50.0)));
    }

    #[test]
    fn counters_apart_or_drifting_are_a_reason() {
        for (ahead, how) in [
            (skew(1900, 2100), "differ by 1000 ns (±50 ns)"),
            (skew(-2100, -1900), "differ by -1000 ns (±50 ns)"),
            (skew(30, -30), "run at different rates"),
        ] {
            let text = format!(
                "the counters of CPUs 4 and 7 {how}: times between stamps of both mean nothing"
            );
            assert_eq!(agreement_ns(&[4, 7], &[(7, ahead)], 0.5), Err(Reason::wrong(text)));
        }
    }

    #[test]
    fn each_set_of_cpus_is_compared_once() {
        let all = crate::engine::testing::cpus();
        let Some(one) = all.get(..1) else {
            return;
        };
        let of_one = counters(one).expect("it agrees with itself");
        assert_eq!(of_one.note, None);
        assert!(std::ptr::eq(of_one, counters(one).expect("known")));
        if all.len() > 1 {
            let of_all = counters(&all).expect("they agree");
            assert!(of_all.note.is_some(), "not those of one CPU");
        }
    }
}
