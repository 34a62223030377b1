//! A program's own functions, measured with canaries, worker processes and a verdict, and compared with a run that was
//! kept: `cargo run --release -p latlas-meter --example my_function -- --save before.json`, then `--baseline before.json`.

use latlas_meter::function::{BenchmarkError, Session};
use std::{hint::black_box, process::ExitCode};

fn main() -> Result<ExitCode, BenchmarkError> {
    let benchmark = Session::new()
        .function("my.parse", || black_box("12.5").parse::<f64>())
        .function("my.to_string", || black_box(12.5).to_string())
        .benchmark(std::env::args().skip(1))?;
    print!("{benchmark}");
    Ok(benchmark.exit_code())
}
