//! A program's own functions, measured with canaries, worker processes and a
//! verdict, in the same table:
//! `cargo run --release -p latlas-meter --example my_function`.

use std::hint::black_box;

fn main() -> anyhow::Result<()> {
    let run = meter::function::Session::new()
        .function("my.parse", || black_box("12.5").parse::<f64>())
        .function("my.to_string", || black_box(12.5).to_string())
        .run()?;
    let published = compare::references::References::embedded()?;
    let options = view::render::Options::default();
    print!("{}", view::render::run(&run, &published, &options));
    Ok(())
}
