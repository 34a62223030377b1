//! A program's own functions, measured with canaries, worker processes and a
//! verdict: `cargo run --release -p latlas-meter --example my_function`.

use model::shown::{Shown, shown};
use std::hint::black_box;

fn main() -> Result<(), meter::function::SessionError> {
    let run = meter::function::Session::new()
        .function("my.parse", || black_box("12.5").parse::<f64>())
        .function("my.to_string", || black_box(12.5).to_string())
        .run()?;
    for row in &run.rows {
        let Some(estimate) = row.estimate() else {
            continue;
        };
        let figure = match shown(estimate, &row.unit) {
            Shown::Figure(figure) => {
                format!("{} {} ±{}", figure.value, figure.unit, figure.half_width)
            }
            Shown::Below(text) => text,
            Shown::Nothing => "no figure".into(),
        };
        let verdict = estimate.verdict.text();
        println!("{:<14}{figure:<20}{verdict}  {}", row.id, estimate.reason);
    }
    Ok(())
}
