//! The eleven operations measured by latlas's meter; prints the Run document.

use bench::{for_each_operation, operations};
use clap::Parser;
use meter::function::Session;
use std::time::Duration;

/// Measures the eleven operations with latlas's meter and prints the Run
/// document as JSON.
#[derive(Parser)]
struct Arguments {
    /// Budget of the session, s
    #[arg(long, default_value_t = 15.0)]
    seconds: f64,
    /// Seed of the order of visits
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The CPU to measure on; chosen if absent
    #[arg(long)]
    cpu: Option<u32>,
}

macro_rules! session {
    ($($name:ident),+) => {
        Session::new()$(.function(stringify!($name), operations::$name()))+
    };
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut session = for_each_operation!(session)
        .budget(Duration::from_secs_f64(arguments.seconds))
        .seed(arguments.seed);
    if let Some(cpu) = arguments.cpu {
        session = session.pin(cpu);
    }
    let run = session.run()?;
    serde_json::to_writer(std::io::stdout().lock(), &run)?;
    Ok(())
}
