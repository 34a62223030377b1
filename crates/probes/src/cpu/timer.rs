//! What reading the time costs.

use crate::engine::repeated::turns;
use meter::probe::{Probe, Work, WorkError};
use std::hint::black_box;
use std::time::Instant;
use sys::clock::Counter;

pub(crate) fn timer_probe() -> Probe {
    Probe {
        variants: vec!["clock_gettime".into(), "counter".into(), "bracket".into()],
        title: "reading a clock".into(),
        operation: "One reading: of CLOCK_MONOTONIC by the standard library; of the counter that latlas uses, with its fences; or one whole bracket, a reading before and one after.".into(),
        method: "A plain loop; the row's notes have the smallest step seen of each clock.".into(),
        source: "Ours; every other row rests on these.".into(),
        make: Box::new(|_, site| {
            let counter = Counter::best();
            match site.variant.as_str() {
                "clock_gettime" => reading(Instant::now, monotonic_step(), "ns"),
                "counter" => {
                    let read = move || counter.start();
                    reading(read, smallest_step(read), "ticks")
                }
                _ => {
                    let bracket = move || {
                        let start = counter.start();
                        counter.stop().wrapping_sub(start)
                    };
                    reading(bracket, smallest_step(|| counter.stop()), "ticks")
                }
            }
        }),
        ..Probe::blank("cpu.timer")
    }
}

/// Smallest step of the standard library's clock, ns.
fn monotonic_step() -> u64 {
    let began = Instant::now();
    smallest_step(|| began.elapsed().as_nanos() as u64)
}

fn smallest_step(read: impl Fn() -> u64) -> u64 {
    let mut before = read();
    (0..2000)
        .filter_map(|_| {
            let now = read();
            let step = now.saturating_sub(before);
            before = now;
            (step > 0).then_some(step)
        })
        .min()
        .unwrap_or(0)
}

/// Reads a clock again and again, whose smallest step was so much.
fn reading<'w, T>(
    read: impl Fn() -> T + 'w,
    step: u64,
    unit: &str,
) -> Result<Box<dyn Work + 'w>, WorkError> {
    let read = move |turns| {
        for _ in 0..turns {
            black_box(read());
        }
    };
    let note = format!("smallest step seen: {step} {unit}");
    turns(1.0, read).note(note).boxed()
}
