//! A large atlas: what it takes to keep a run, to ask for a history and for
//! percentiles, to make the index anew, and how large that is.

use crate::bars::Bars;
use crate::made_up::{MadeUp, row_id};
use crate::process;
use crate::table::TextTable;
use anyhow::{Context, ensure};
use model::stats;
use model::summary::MachineKey;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use store::Store;
use store::index::{self, Index};

#[derive(clap::Args)]
pub struct Arguments {
    /// The latlas program, to time `latlas history` as a whole process
    #[arg(long, value_name = "PATH")]
    latlas: Option<PathBuf>,
    /// Runs
    #[arg(long, default_value_t = 1000)]
    runs: u32,
    /// Results of each
    #[arg(long, default_value_t = 1000)]
    results: u32,
    /// Machines that they are of, in rotation
    #[arg(long, default_value_t = 20)]
    machines: u32,
    /// Times that each question is asked
    #[arg(long, default_value_t = 100)]
    times: u32,
    /// Of the figures and of what is asked for
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to make it (removed again); a file system on a disk tells more
    /// than one in memory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// In a process of its own: open the index there and ask once
    #[arg(long, hide = true)]
    ask: Option<PathBuf>,
}

/// Milliseconds of one step, in order of size.
struct Times(Vec<f64>);

impl Times {
    fn time_repeatedly<T>(
        times: u32,
        mut step: impl FnMut(u32) -> anyhow::Result<T>,
    ) -> anyhow::Result<Times> {
        let mut all = Vec::new();
        for number in 0..times {
            let began = Instant::now();
            step(number)?;
            all.push(began.elapsed().as_secs_f64() * 1e3);
        }
        Ok(Times(stats::sorted(all)))
    }

    fn quantile(&self, share: f64) -> Option<f64> {
        index::quantile(&self.0, share)
    }

    fn add_times(&self, table: &mut TextTable, what: &str) {
        let cell = |share| self.quantile(share).map_or("-".into(), |ms| format!("{ms:.2}"));
        let shares = [0.5, 0.99, 1.0].map(cell);
        let mut cells = vec![what.to_owned(), self.0.len().to_string()];
        cells.extend(shares);
        table.add_line(cells);
    }
}

pub fn check_atlas_store(arguments: &Arguments) -> anyhow::Result<Bars> {
    if let Some(data) = &arguments.ask {
        ask_once(data)?;
        return Ok(Bars::new());
    }
    let dir = match &arguments.dir {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let store = Store::in_directory(dir.path());
    let mut made_up = MadeUp::new(arguments.results, arguments.machines, arguments.seed)?;
    let mut table = TextTable::new(&["ms", "times", "median", "p99", "longest"]);
    println!(
        "{} runs of {} results on {} machines in {}",
        arguments.runs,
        arguments.results,
        arguments.machines,
        dir.path().display()
    );

    // As `latlas run` does it: the document, then the index opened and added to.
    let mut kept = Vec::new();
    for number in 0..arguments.runs {
        let run = made_up.numbered_run(number);
        let began = Instant::now();
        let (_, messages) = index::keep(&store, &run)?;
        kept.push(began.elapsed().as_secs_f64() * 1e3);
        ensure!(messages.is_empty(), "storing a run printed {messages:?}");
    }
    let kept = Times(stats::sorted(kept));
    kept.add_times(&mut table, "keep a run, document and index");

    let opened = Times::time_repeatedly(arguments.times, |_| Ok(Index::open(store.clone())?))?;
    opened.add_times(&mut table, "open the index");
    let index = Index::open(store.clone())?;
    let keys: Vec<MachineKey> = index.machines()?.into_iter().map(|m| m.key).collect();
    ensure!(keys.len() as u32 == arguments.machines, "{} machines", keys.len());
    let mut rng = fastrand::Rng::with_seed(arguments.seed);
    let mut place = move || (rng.usize(..), rng.u32(..));
    let expected = arguments.runs / arguments.machines;
    let history = Times::time_repeatedly(arguments.times, |_| {
        let (machine, row) = place();
        let key = &keys[machine % keys.len()];
        let found = index.history(key, &row_id(row % arguments.results), &[])?;
        ensure!(found.len() as u32 >= expected, "a history of {} runs", found.len());
        Ok(())
    })?;
    history.add_times(&mut table, "history of a row, index open");
    let percentiles = Times::time_repeatedly(arguments.times.min(20), |number| {
        let found = index.percentiles(&keys[number as usize % keys.len()])?;
        ensure!(found.len() as u32 == arguments.results, "{} rows", found.len());
        Ok(())
    })?;
    percentiles.add_times(&mut table, "percentiles of a machine, every row, index open");
    let standing = Times::time_repeatedly(arguments.times, |number| {
        let found = index.percentiles_of_row(&row_id(number % arguments.results), &[])?;
        ensure!(found.machines.len() == keys.len(), "{} machines", found.machines.len());
        Ok(())
    })?;
    standing.add_times(&mut table, "percentiles of a row, all machines, index open");
    Times::time_repeatedly(arguments.times.min(20), |_| Ok(index.runs()?))?
        .add_times(&mut table, "list of all runs, index open");

    let own = std::env::current_exe()?;
    let whole_percentiles = Times::time_repeatedly(arguments.times.min(20), |_| {
        process::output(Command::new(&own).args(["atlas-store", "--ask"]).arg(dir.path()))
    })?;
    whole_percentiles.add_times(&mut table, "percentiles, as a process");
    let whole_history = match &arguments.latlas {
        None => None,
        Some(latlas) => {
            let times = Times::time_repeatedly(arguments.times, |number| {
                let key = &keys[number as usize % keys.len()].0;
                let row = row_id(number % arguments.results);
                process::output(
                    Command::new(latlas)
                        .args(["history", &row, "--machine", key])
                        .env("LATLAS_DATA_DIR", dir.path()),
                )
            })?;
            times.add_times(&mut table, "latlas history ROW, as a process");
            Some(times)
        }
    };

    let size = |path: &Path| -> anyhow::Result<f64> {
        let metadata = std::fs::metadata(path);
        let metadata = metadata.with_context(|| format!("can't look at {}", path.display()))?;
        Ok(metadata.len() as f64)
    };
    let index_mb = size(&index.path())? / 1e6;
    let documents: f64 =
        store.paths()?.iter().map(|path| size(path)).sum::<anyhow::Result<f64>>()?;
    let rebuilt = Times::time_repeatedly(1, |_| {
        let rebuilt = index.rebuild()?;
        ensure!(rebuilt.documents as u32 == arguments.runs, "{rebuilt:?}");
        Ok(())
    })?;
    let verified = Times::time_repeatedly(1, |_| {
        let verified = index.verify()?;
        ensure!(verified.is_whole(), "{verified:?}");
        Ok(())
    })?;
    rebuilt.add_times(&mut table, "rebuild");
    verified.add_times(&mut table, "verify");
    table.print("time");
    println!(
        "\nindex {index_mb:.1} MB, documents {:.1} MB ({:.0} kB each)",
        documents / 1e6,
        documents / 1e3 / f64::from(arguments.runs)
    );

    let mut bars = Bars::new();
    bars.at_most("keep a run, median", kept.quantile(0.5), 50.0, " ms");
    bars.at_most("history of a row, p99", history.quantile(0.99), 50.0, " ms");
    if let Some(times) = whole_history {
        bars.at_most("latlas history, median", times.quantile(0.5), 50.0, " ms");
    }
    bars.at_most("percentiles of a machine, median", percentiles.quantile(0.5), 500.0, " ms");
    bars.at_most(
        "percentiles, as a process, median",
        whole_percentiles.quantile(0.5),
        500.0,
        " ms",
    );
    Ok(bars)
}

fn ask_once(data: &Path) -> anyhow::Result<()> {
    let index = Index::open(Store::in_directory(data))?;
    let machines = index.machines()?;
    let machine = machines.first().context("no machine")?;
    println!("{}", index.percentiles(&machine.key)?.len());
    Ok(())
}
