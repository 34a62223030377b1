//! How much work makes a job of the length that is asked for. Found once, in
//! this process, and then the same for all runs: what is compared must do the
//! same.

use super::job::{cpu, memory, wakeup};
use model::noise::effect::{Work, Workload};
use std::io;
use std::time::{Duration, Instant};

/// Least time that a step is timed by.
const LOOK: Duration = Duration::from_millis(2);
/// Looks, of which the fastest counts: a quiet CPU is what is asked for.
const LOOKS: u32 = 5;
/// How much faster a look may be than the one before: more than any clock of a
/// processor changes.
const FASTER: f64 = 8.0;
/// Share of the memory job that is the chase; the rest writes the memory.
const CHASE: f64 = 0.6;
/// What a wake-up is late in the mean, roughly, without any slack: the switch.
const LATE: Duration = Duration::from_micros(10);
/// Memory of a job at most, bytes.
const MOST_BYTES: u64 = 128 << 20;
const LEAST_BYTES: u64 = 1 << 20;

/// What a job is to do that takes so long on a quiet CPU.
pub fn calibrated_work(
    workload: Workload,
    job: Duration,
    last_level_bytes: u64,
    usable_bytes: u64,
) -> io::Result<Work> {
    let (amount, bytes) = match workload {
        Workload::Cpu => {
            let time = |steps| Ok(timed(|| std::hint::black_box(cpu::run_steps(steps))));
            (amount(job.as_secs_f64(), time)?, 0)
        }
        Workload::Memory => {
            let bytes = memory_bytes(last_level_bytes, usable_bytes);
            // The chase alone is timed: what filling takes differs by more
            // than a short chase, and a difference of the two may come to 0.
            let memory = memory::ChaseMemory::written(bytes)?;
            let time = |steps| Ok(timed(|| std::hint::black_box(memory.chase(steps))));
            (amount(CHASE * job.as_secs_f64(), time)?, bytes)
        }
        Workload::Wakeup => {
            let each = (wakeup::INTERVAL + LATE).as_secs_f64();
            ((job.as_secs_f64() / each).ceil() as u64, 0)
        }
        Workload::Files | Workload::Command => (0, 0),
    };
    Ok(Work { workload, amount, bytes })
}

/// Twice the last level, a power of two, within what there is.
fn memory_bytes(last_level_bytes: u64, usable_bytes: u64) -> u64 {
    let wanted = (2 * last_level_bytes).next_power_of_two();
    let room = usable_bytes / 4;
    let fits = match room.is_power_of_two() {
        true => room,
        false => room.checked_next_power_of_two().unwrap_or(1 << 63) / 2,
    };
    wanted.min(fits).clamp(LEAST_BYTES, MOST_BYTES)
}

fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let began = Instant::now();
    let _ = work();
    began.elapsed().as_secs_f64()
}

/// Steps that take so many seconds, where `time` tells what some take.
fn amount(seconds: f64, mut time: impl FnMut(u64) -> io::Result<f64>) -> io::Result<u64> {
    let mut steps = 1000_u64;
    let mut fastest_of_looks = |steps: u64| -> io::Result<f64> {
        let mut fastest = f64::INFINITY;
        for _ in 0..LOOKS {
            fastest = fastest.min(time(steps)?);
        }
        Ok(fastest)
    };
    // One look alone may be long since another process had the CPU.
    while fastest_of_looks(steps)? < LOOK.as_secs_f64() && steps < 1 << 40 {
        steps *= 2;
    }
    let fastest = fastest_of_looks(steps)? / steps as f64;
    // The same steps took a look's time just now. Far less than that is no
    // time of theirs, and would make a job that never ends.
    if fastest * steps as f64 * FASTER < LOOK.as_secs_f64() {
        return Err(io::Error::other("can't time the steps of the job: the clock stood still"));
    }
    Ok(((seconds / fastest).ceil() as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_scaled_by_the_fastest_look() {
        // 2 µs a step; every other look is disturbed.
        let mut looks = 0;
        let found = amount(0.06, |steps| {
            looks += 1;
            let disturbed = if looks % 2 == 0 { 3.0 } else { 1.0 };
            Ok(steps as f64 * 2e-6 * disturbed)
        });
        assert_eq!(found.expect("time"), 30_000);
        // A busy machine: most looks take many times what the steps do.
        let mut looks = 0;
        let busy = amount(0.06, |steps| {
            looks += 1;
            let stopped = if looks % 4 == 0 { 0.0 } else { 0.02 };
            Ok(steps as f64 * 2e-6 + stopped)
        });
        assert_eq!(busy.expect("time"), 30_000);
        let mut looks = 0;
        let stood_still = amount(0.06, |steps| {
            looks += 1;
            Ok(if looks > 8 { 0.0 } else { steps as f64 * 2e-6 })
        });
        assert!(stood_still.is_err(), "a job of no time never ends");
        let refused = amount(1.0, |_| Err(io::ErrorKind::OutOfMemory.into()));
        assert!(refused.is_err());
    }

    #[test]
    fn memory_is_a_power_of_two_within_its_bounds() {
        const MIB: u64 = 1 << 20;
        let of = |last, usable| memory_bytes(last * MIB, usable * MIB) / MIB;
        assert_eq!(of(32, 16_000), 64);
        assert_eq!(of(24, 16_000), 64);
        assert_eq!(of(256, 64_000), 128);
        assert_eq!(of(32, 128), 32);
        assert_eq!(of(32, 100), 16);
        assert_eq!(of(0, 16_000), 1);
        assert_eq!(memory_bytes(MIB, u64::MAX), 2 * MIB);
    }
}
