//! The eleven small operations, one set of closures for all three tools.
//!
//! Inputs are hidden with `std::hint::black_box` inside the closure; each tool
//! keeps the result with the same function.

use meter::function::Session;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Calls a macro with the names of all operations, which are functions of this
/// module.
macro_rules! for_each_operation {
    ($each:ident) => {
        $each! {
            empty, add, div_i64, div_f64, memcpy_16, virtual_call, atomic_add, malloc_16,
            malloc_16mb, clock_gettime, mutex
        }
    };
}

macro_rules! names {
    ($($name:ident),+) => {
        /// Their names, in order.
        pub const NAMES: &[&str] = &[$(stringify!($name)),+];
    };
}
for_each_operation!(names);

#[inline]
pub fn empty() -> impl FnMut() + 'static {
    || ()
}

/// One integer addition.
#[inline]
pub fn add() -> impl FnMut() -> u64 + 'static {
    || black_box(3_u64).wrapping_add(black_box(4))
}

/// One integer division.
#[inline]
pub fn div_i64() -> impl FnMut() -> i64 + 'static {
    || black_box(4_611_686_018_427_387_903_i64).wrapping_div(black_box(2_000_000_011))
}

/// One floating-point division.
#[inline]
pub fn div_f64() -> impl FnMut() -> f64 + 'static {
    || black_box(std::f64::consts::PI) / black_box(1.234_567_890_123_456_7)
}

/// A copy of 16 bytes.
#[inline]
pub fn memcpy_16() -> impl FnMut() + 'static {
    let from = [1_u8; 16];
    let mut to = [0_u8; 16];
    move || {
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
    }
}

trait Shape {
    fn area(&self) -> u64;
}
struct Square(u64);
struct Strip(u64);
impl Shape for Square {
    fn area(&self) -> u64 {
        self.0.wrapping_mul(self.0)
    }
}
impl Shape for Strip {
    fn area(&self) -> u64 {
        self.0
    }
}

/// One call of a method of a trait object.
#[inline]
pub fn virtual_call() -> impl FnMut() -> u64 + 'static {
    let shape: Box<dyn Shape> =
        if black_box(true) { Box::new(Square(3)) } else { Box::new(Strip(3)) };
    move || black_box(&shape).area()
}

/// One atomic addition, uncontended.
#[inline]
pub fn atomic_add() -> impl FnMut() -> u64 + 'static {
    let sum = AtomicU64::new(0);
    move || sum.fetch_add(black_box(1), Ordering::Relaxed)
}

/// 16 bytes allocated and freed.
#[inline]
pub fn malloc_16() -> impl FnMut() + 'static {
    || allocate(16)
}

/// 16 MB allocated and freed, untouched.
#[inline]
pub fn malloc_16mb() -> impl FnMut() + 'static {
    || allocate(16_000_000)
}

#[inline]
fn allocate(bytes: usize) {
    let block: Vec<u8> = Vec::with_capacity(black_box(bytes));
    black_box(block.as_ptr());
}

/// The clock read once.
#[inline]
pub fn clock_gettime() -> impl FnMut() -> Instant + 'static {
    Instant::now
}

/// A free mutex locked and unlocked.
#[inline]
pub fn mutex() -> impl FnMut() + 'static {
    let count = Mutex::new(0_u64);
    move || {
        if let Ok(mut count) = count.lock() {
            *count = count.wrapping_add(1);
        }
    }
}

/// One process run of one tool.
#[derive(clap::Args)]
pub struct Arguments {
    /// Wall time of all operations, s
    #[arg(long, default_value_t = 15.0)]
    seconds: f64,
    /// latlas: seed of the order of visits
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// latlas: the CPU; chosen if absent
    #[arg(long)]
    cpu: Option<u32>,
    /// criterion: where it puts its files (OP/new/estimates.json)
    #[arg(long, default_value = "target/criterion")]
    directory: PathBuf,
}

impl Arguments {
    fn each(&self, share: f64) -> Duration {
        Duration::from_secs_f64(self.seconds * share / NAMES.len() as f64)
    }
}

/// Measures with latlas's meter and prints the Run document.
pub fn latlas(arguments: &Arguments) -> anyhow::Result<()> {
    macro_rules! session {
        ($($name:ident),+) => {
            Session::new()$(.function(stringify!($name), $name()))+
        };
    }
    let mut session = for_each_operation!(session)
        .budget(Duration::from_secs_f64(arguments.seconds))
        .seed(arguments.seed);
    if let Some(cpu) = arguments.cpu {
        session = session.pin(cpu);
    }
    let run = session.run()?;
    Ok(serde_json::to_writer(std::io::stdout().lock(), &run)?)
}

/// Measures with criterion, which leaves its estimates in a directory.
pub fn criterion(arguments: &Arguments) {
    // The rest of the time criterion needs for its resampling, which is cut
    // short: only point estimates are read.
    let mut criterion = criterion::Criterion::default()
        .without_plots()
        .nresamples(10_000)
        .warm_up_time(arguments.each(0.2))
        .measurement_time(arguments.each(0.7))
        .output_directory(&arguments.directory);
    macro_rules! measure {
        ($($name:ident),+) => {
            $(criterion.bench_function(stringify!($name), |b| b.iter($name()));)+
        };
    }
    for_each_operation!(measure);
}

mod registered {
    macro_rules! register {
        ($($name:ident),+) => {
            $(#[divan::bench]
            fn $name(bencher: divan::Bencher) {
                bencher.bench_local(super::$name());
            })+
        };
    }
    for_each_operation!(register);
}

/// Measures with divan, which prints its table.
pub fn divan(arguments: &Arguments) {
    divan::Divan::default()
        .color(false)
        .min_time(arguments.each(1.0))
        .max_time(arguments.each(1.0))
        .run_benches();
}

#[cfg(test)]
mod tests {
    #[test]
    fn eleven() {
        assert_eq!(super::NAMES.len(), 11);
    }
}
