//! The eleven operations measured by criterion, which leaves its estimates in
//! a directory.

use bench::{for_each_operation, operations};
use clap::Parser;
use criterion::Criterion;
use std::path::PathBuf;
use std::time::Duration;

/// Measures the eleven operations with criterion.
#[derive(Parser)]
struct Arguments {
    /// Wall time of all of them, s
    #[arg(long, default_value_t = 15.0)]
    seconds: f64,
    /// Where criterion puts its files (OP/new/estimates.json)
    #[arg(long)]
    directory: PathBuf,
}

fn main() {
    let arguments = Arguments::parse();
    let each = arguments.seconds / operations::NAMES.len() as f64;
    // What is left beside these two, criterion needs for its resampling, which
    // is cut short: only point estimates are read.
    let mut criterion = Criterion::default()
        .without_plots()
        .nresamples(10_000)
        .warm_up_time(Duration::from_secs_f64(each * 0.2))
        .measurement_time(Duration::from_secs_f64(each * 0.7))
        .output_directory(&arguments.directory);
    macro_rules! measure {
        ($($name:ident),+) => {
            $(criterion.bench_function(stringify!($name), |b| b.iter(operations::$name()));)+
        };
    }
    for_each_operation!(measure);
}
