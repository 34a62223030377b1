//! The eleven operations measured by divan, which prints its table.

use bench::{for_each_operation, operations};
use clap::Parser;
use std::time::Duration;

/// Measures the eleven operations with divan.
#[derive(Parser)]
struct Arguments {
    /// Wall time of all of them, s
    #[arg(long, default_value_t = 15.0)]
    seconds: f64,
}

macro_rules! register {
    ($($name:ident),+) => {
        $(#[divan::bench]
        fn $name(bencher: divan::Bencher) {
            bencher.bench_local(operations::$name());
        })+
    };
}
for_each_operation!(register);

fn main() {
    let arguments = Arguments::parse();
    let each = Duration::from_secs_f64(arguments.seconds / operations::NAMES.len() as f64);
    divan::Divan::default()
        .color(false)
        .min_time(each)
        .max_time(each)
        .run_benches();
}
