//! What reading the time costs.

use meter::probe::{Probe, Work};
use std::hint::black_box;
use std::time::Instant;
use sys::clock::Counter;

pub(crate) fn probe() -> Probe {
    Probe {
        variants: vec!["clock_gettime".into(), "counter".into(), "bracket".into()],
        title: "reading a clock".into(),
        operation: "One reading: of CLOCK_MONOTONIC by the language's own call; of the counter that latlas uses, with its fences; or one whole bracket, a reading before and one after.".into(),
        method: "A plain loop; the smallest step seen of each clock stands in the row's notes.".into(),
        source: "Ours; every other row rests on these.".into(),
        make: Box::new(|_, site| {
            let counter = Counter::best();
            Ok(match site.variant.as_str() {
                "clock_gettime" => Box::new(Reading(Instant::now, monotonic_step(), "ns")) as Box<dyn Work>,
                "counter" => Box::new(Reading(
                    move || counter.start(),
                    smallest_step(|| counter.start()),
                    "ticks",
                )),
                _ => Box::new(Reading(
                    move || {
                        let start = counter.start();
                        counter.stop().wrapping_sub(start)
                    },
                    smallest_step(|| counter.stop()),
                    "ticks",
                )),
            })
        }),
        ..Probe::blank("cpu.timer")
    }
}

/// Smallest step of the language's own clock, ns.
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

struct Reading<F>(F, u64, &'static str);

impl<T, F: Fn() -> T> Work for Reading<F> {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn run(&mut self, turns: u64, _double: bool) {
        for _ in 0..turns {
            black_box((self.0)());
        }
    }
    fn notes(&self) -> Vec<String> {
        vec![format!("smallest step seen: {} {}", self.1, self.2)]
    }
}
