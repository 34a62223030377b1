//! What latlas itself costs: time, memory, size.

use crate::bars::Bars;
use crate::spread::{absolute, median};
use crate::table::{TextTable, three_digits};
use anyhow::Context;
use model::run::Run;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Arguments {
    /// The latlas program
    #[arg(long, value_name = "PATH")]
    latlas: PathBuf,
    /// Default and quick runs, of each
    #[arg(long, default_value_t = 5)]
    runs: u32,
    /// Only quick runs
    #[arg(long)]
    quick_only: bool,
}

/// Starts of `latlas list`.
const LISTS: usize = 20;

/// What one run cost.
struct RunCost {
    wall_s: f64,
    peak_bytes: u64,
    largest_bytes: u64,
    file_bytes: u64,
}

pub fn check_cost(arguments: &Arguments) -> anyhow::Result<Bars> {
    let binary_bytes = std::fs::metadata(&arguments.latlas)
        .with_context(|| format!("no {}", arguments.latlas.display()))?
        .len();
    let (mut default, mut quick) = (Vec::new(), Vec::new());
    for number in 0..arguments.runs {
        eprintln!("run {} of {}", number + 1, arguments.runs);
        if !arguments.quick_only {
            default.push(run_latlas(&arguments.latlas, &[])?);
        }
        quick.push(run_latlas(&arguments.latlas, &["--quick"])?);
    }
    let mut lists = Vec::new();
    for _ in 0..LISTS {
        let began = Instant::now();
        let status = Command::new(&arguments.latlas).arg("list").stdout(Stdio::null()).status()?;
        anyhow::ensure!(status.success(), "latlas list: {status}");
        lists.push(began.elapsed().as_secs_f64() * 1e3);
    }

    let mut table = TextTable::new(&["what", "median", "spread (max - min)"]);
    let mut line = |what: &str, values: &[f64]| {
        let cells = [three_digits(median(values)), three_digits(absolute(values))];
        table.add_line(std::iter::once(what.to_string()).chain(cells).collect());
    };
    let walls = |costs: &[RunCost]| costs.iter().map(|c| c.wall_s).collect::<Vec<f64>>();
    let ratios = |costs: &[RunCost]| -> Vec<f64> {
        costs.iter().map(|c| c.peak_bytes as f64 / c.largest_bytes.max(1) as f64).collect()
    };
    let files = |costs: &[RunCost]| -> Vec<f64> {
        costs.iter().map(|c| c.file_bytes as f64 * 1e-6).collect()
    };
    let peaks = |costs: &[RunCost]| -> Vec<f64> {
        costs.iter().map(|c| c.peak_bytes as f64 / f64::from(1 << 20)).collect()
    };
    for (name, costs) in [("default", &default), ("--quick", &quick)] {
        if costs.is_empty() {
            continue;
        }
        line(&format!("{name}: wall time, s"), &walls(costs));
        line(&format!("{name}: peak of a worker, MiB"), &peaks(costs));
        line(&format!("{name}: peak over largest working set"), &ratios(costs));
        line(&format!("{name}: compressed Run document, MB"), &files(costs));
    }
    line("latlas list, ms", &lists);
    line("program, MB", &[binary_bytes as f64 * 1e-6]);
    table.print("What latlas costs");

    let mut bars = Bars::new();
    if !default.is_empty() {
        bars.at_most("default run", median(&walls(&default)), 40.0, " s");
        bars.at_most("its document", median(&files(&default)), 2.0, " MB");
        let peak = median(&ratios(&default));
        bars.at_most("peak memory of a worker over the largest working set", peak, 1.2, "x");
    }
    bars.at_most("quick run", median(&walls(&quick)), 8.0, " s");
    bars.at_most("latlas list", median(&lists), 20.0, " ms");
    Ok(bars)
}

fn run_latlas(latlas: &Path, options: &[&str]) -> anyhow::Result<RunCost> {
    let directory = tempfile::tempdir()?;
    let small = directory.path().join("run.json.zst");
    let began = Instant::now();
    let mut child = Command::new(latlas)
        .args(options)
        .arg("--document")
        .arg("--out")
        .arg(&small)
        .env("LATLAS_DATA_DIR", directory.path())
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(directory.path().join("run.json"))?)
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("can't start {}", latlas.display()))?;
    let mut peaks = BTreeMap::new();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        watch(child.id(), &mut peaks);
        std::thread::sleep(Duration::from_millis(100));
    };
    let wall_s = began.elapsed().as_secs_f64();
    // 3: measured, but nothing to rely on; its cost is the same.
    anyhow::ensure!(matches!(status.code(), Some(0 | 3)), "{}: {status}", latlas.display());
    let document: Run = serde_json::from_slice(&std::fs::read(directory.path().join("run.json"))?)?;
    let largest_bytes = document.plan.largest_working_set_bytes;
    Ok(RunCost {
        wall_s,
        peak_bytes: peaks.values().copied().max().unwrap_or(0),
        largest_bytes,
        file_bytes: std::fs::metadata(&small)?.len(),
    })
}

/// Notes the peak memory of each child process of `parent` so far.
fn watch(parent: u32, peaks: &mut BTreeMap<u32, u64>) {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return;
    };
    for entry in entries.flatten() {
        let pid: Option<u32> = entry.file_name().to_str().and_then(|n| n.parse().ok());
        let Some(pid) = pid else { continue };
        let Ok(status) = std::fs::read_to_string(entry.path().join("status")) else {
            continue;
        };
        let field = |name: &str| -> Option<u64> {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        if field("PPid:") == Some(u64::from(parent))
            && let Some(peak_kib) = field("VmHWM:")
        {
            peaks.insert(pid, peak_kib * 1024);
        }
    }
}
