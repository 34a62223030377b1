//! What a large atlas costs: `cargo run --release -p latlas-store --example fleet -- STORE [RUNS [ROWS [HOSTS]]]`
//! fills a store (a directory or the URL of a database) with made-up runs, whose hosts are called
//! `made-up-N` and whose program `made up`, and asks it what people ask. Prints times in ms as
//! median [smallest, largest] and the peak memory of this process.

use model::machine::Fact;
use model::run::{Outcome, Row, Run};
use model::summary::MachineKey;
use model::synthetic;
use std::error::Error;
use std::time::Instant;
use store::index::Index;
use store::{Place, Store};

/// Figures vary by this share of theirs.
const SPREAD: f64 = 0.2;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let place = arguments.first().ok_or("which store?")?;
    let number = |n: usize, usual: u32| arguments.get(n).map_or(Ok(usual), |text| text.parse());
    let (runs, rows, hosts) = (number(1, 5000)?, number(2, 200)?, number(3, 1000)?);
    let index = Index::open(Store::at(&Place::parse(place))?)?;
    println!("{place}: {runs} runs of {rows} rows on {hosts} hosts");
    let made = MadeUp::new(rows, hosts)?;
    if index.runs()?.is_empty() {
        fill(&index, &made, runs)?;
    }
    println!("index: {}", described(&index));
    let key = |n: u32| MachineKey::from_run(&made.numbered_run(n % hosts));
    let row = |n: u32| made.rows[(n % rows) as usize].id.clone();
    time_repeatedly("history of a row", 50, |n| Ok(index.history(&key(n), &row(n), &[])?.len()))?;
    time_repeatedly("a row over all hosts", 50, |n| {
        Ok(index.percentiles_of_row(&row(n), &[])?.machines.len())
    })?;
    time_repeatedly("all rows of a host among all", 10, |n| Ok(index.percentiles(&key(n))?.len()))?;
    time_repeatedly("list of all runs", 10, |_| Ok(index.runs()?.len()))?;
    let messages = index.messages();
    println!("peak memory {}; {} messages", peak(), messages.len());
    Ok(())
}

/// Keeps runs, and prints what one takes: of all, of the first tenth and of the last. What it takes
/// to make them up is not counted.
fn fill(index: &Index, made: &MadeUp, runs: u32) -> Result<(), Box<dyn Error>> {
    let mut each = Vec::new();
    for n in 0..runs {
        let run = made.numbered_run(n);
        let began = Instant::now();
        index.keep(&run)?;
        each.push(began.elapsed().as_secs_f64());
    }
    let mean = |of: &[f64]| of.iter().sum::<f64>() * 1e3 / of.len().max(1) as f64;
    let tenth = each.len().div_ceil(10);
    println!(
        "filled in {:.1} s, {:.2} ms a run: first tenth {:.2}, last tenth {:.2}",
        each.iter().sum::<f64>(),
        mean(&each),
        mean(&each[..tenth]),
        mean(&each[each.len() - tenth..])
    );
    Ok(())
}

/// Where the index is, and how large.
fn described(index: &Index) -> String {
    let path = index.path();
    let bytes = |end: &str| {
        let mut file = path.clone().into_os_string();
        file.push(end);
        std::fs::metadata(file).map_or(0, |known| known.len())
    };
    let place = path.display();
    match (index.in_memory(), index.store().is_database()) {
        (true, _) => "in memory".into(),
        (false, true) => place.to_string(),
        (false, false) => {
            let [mib, log] = ["", "-wal"].map(|end| bytes(end) as f64 / f64::from(1 << 20));
            format!("{place}, {mib:.1} MiB and {log:.1} MiB of log")
        }
    }
}

/// Makes runs.
struct MadeUp {
    template: Run,
    rows: Vec<Row>,
    hosts: u32,
}

impl MadeUp {
    fn new(rows: u32, hosts: u32) -> Result<MadeUp, Box<dyn Error>> {
        let mut template = synthetic::run();
        let row = template.row("cpu.add_i32").ok_or("no such row")?.clone();
        template.program.name = "made up".into();
        template.rows.clear();
        template.cells.clear();
        let row = |n| Row { id: format!("made_up.row_{n}"), ..row.clone() };
        Ok(MadeUp { template, rows: (0..rows).map(row).collect(), hosts })
    }

    fn numbered_run(&self, n: u32) -> Run {
        let mut rng = fastrand::Rng::with_seed(n.into());
        let mut run = self.template.clone();
        run.id = format!("{n:08x}-0000-4000-8000-000000000001");
        run.started_unix_ms += u64::from(n) * 1000;
        run.machine.hostname = Fact::known(format!("made-up-{}", n % self.hosts));
        run.rows = self.rows.clone().into();
        for row in &mut run.rows {
            let factor = 1.0 + SPREAD * rng.f64();
            if let Outcome::Figure(e) = &mut row.outcome
                && let Some(quiet) = &mut e.quiet
            {
                let ns = &mut quiet.ns;
                (ns.value, ns.low, ns.high) =
                    (ns.value * factor, ns.low * factor, ns.high * factor);
            }
        }
        run
    }
}

/// Asks so many times, after once that does not count.
fn time_repeatedly(
    what: &str,
    count: u32,
    ask: impl Fn(u32) -> Result<usize, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let answers = ask(count)?;
    let mut all = Vec::new();
    for n in 0..count {
        let began = Instant::now();
        ask(n)?;
        all.push(began.elapsed().as_secs_f64() * 1e3);
    }
    all.sort_by(f64::total_cmp);
    let [median, smallest, largest] = [all[all.len() / 2], all[0], all[all.len() - 1]];
    println!("{what}: {median:.1} [{smallest:.1}, {largest:.1}] ms ({answers} answers)");
    Ok(())
}

/// Most memory that this process had, as Linux counts it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or("unknown".into(), |line| line.trim().to_owned())
}
