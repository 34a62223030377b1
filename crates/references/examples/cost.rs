//! What the first use of the records takes in a process: `cost [RUNS]` starts itself so many times and prints the
//! quartiles, ms, of finding this machine's records and of the populations after that.

use references::comparison::{PublishedOfCpu, published_populations};
use references::machine::{MachineIdentity, find_records};
use references::record::HybridCore;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// ms of a step.
fn ms<T>(step: impl FnOnce() -> T) -> f64 {
    let begin = Instant::now();
    black_box(step());
    begin.elapsed().as_secs_f64() * 1e3
}

fn main() -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("once") {
        let machine = sys::machine_facts(Path::new("/"));
        let found = ms(|| find_records(&MachineIdentity::shown_by(&machine)));
        let populations = ms(published_populations);
        let again = ms(|| PublishedOfCpu::of_machine(&machine, HybridCore::Performance));
        println!("{found} {populations} {again}");
        return Ok(());
    }
    let runs: usize = argument.map_or(Ok(40), |runs| runs.parse())?;
    let mut steps: [Vec<f64>; 3] = Default::default();
    for _ in 0..runs.max(1) {
        let once = Command::new(std::env::current_exe()?).arg("once").output()?;
        let numbers = String::from_utf8(once.stdout)?;
        for (step, number) in steps.iter_mut().zip(numbers.split_whitespace()) {
            step.push(number.parse()?);
        }
    }
    let names = ["find_records", "populations", "both again"];
    for (name, mut step) in names.into_iter().zip(steps) {
        step.sort_by(f64::total_cmp);
        let [low, median, high] =
            [1, 2, 3].map(|at| step[(step.len() * at / 4).min(step.len() - 1)]);
        println!("{name:14} {median:.2} ms [{low:.2} to {high:.2}]");
    }
    Ok(())
}
