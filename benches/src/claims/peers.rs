//! Rows of ours and a peer's programs (data/peers.toml): alternated pairs in
//! one session, pinned alike, and the ratio of each figure that the peer prints.

use crate::bars::Bars;
use crate::claims::printed::{FiguresByStatistic, PeerFigure, read_figures};
use crate::ours::{self, MeasureTask};
use crate::pairs::{Ratios, alternate};
use crate::process::{on_cpu, output, peer};
use crate::spread::median;
use crate::table::{TextTable, three_digits};
use anyhow::{Context, bail};
use model::run::{Outcome, Run};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Arguments {
    /// Pairs of each comparison
    #[arg(long, default_value_t = 11)]
    pairs: u32,
    /// Length of one measurement, s; 3 for memory, else 1
    #[arg(long)]
    seconds: Option<f64>,
    /// The CPU; the last allowed one if absent
    #[arg(long)]
    cpu: Option<u32>,
    /// The directory for both sides' files
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// Only comparisons whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// The ratio to judge, instead of the peer's own statistic
    #[arg(long)]
    statistic: Option<Statistic>,
    /// Only measure this cell with latlas, such as memory.latency@16KiB
    #[arg(long, value_name = "ROW@SIZE")]
    ours: Option<String>,
}

/// What of ours is compared with what of the peer's.
#[derive(clap::ValueEnum, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
enum Statistic {
    /// All time over all operations, and the mean of the peer's samples
    Mean,
    /// The medians of the samples
    Median,
    /// The quiet figure, and the smallest of the peer's samples
    Quiet,
    /// The smallest quiet sample, and the smallest of the peer's
    Minimum,
}

/// One measurement of one side: figures by our row's name, and its wall time.
type Side = (BTreeMap<String, FiguresByStatistic>, Duration);

model::words! {
    /// The peers, with the variable that has the path of the program (lmbench: of their directory).
    #[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
    #[serde(rename_all = "snake_case")]
    enum Tool: variable {
        Lmbench = "LMBENCH",
        Perf = "PERF",
        CoreToCore = "CORE_TO_CORE",
        Fio = "FIO",
        Multichase = "MULTICHASE",
        BwMem = "BW_MEM",
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Comparison {
    name: String,
    set: String,
    tool: Tool,
    command: String,
    cpus: Option<u32>,
    rows: Vec<String>,
    #[serde(default)]
    points: Vec<u64>,
    statistic: Statistic,
    figures: Vec<PeerFigure>,
}

fn comparisons() -> anyhow::Result<Vec<Comparison>> {
    #[derive(Deserialize)]
    struct ComparisonsFile {
        comparison: Vec<Comparison>,
    }
    let document: ComparisonsFile = toml::from_str(include_str!("../../data/peers.toml"))?;
    Ok(document.comparison)
}

/// Compares all of a set.
pub fn check_peers(arguments: &Arguments, set: &str) -> anyhow::Result<Bars> {
    let cpu = ours::cpu(arguments.cpu)?;
    let seconds = arguments.seconds.unwrap_or(if set == "memory" { 3.0 } else { 1.0 });
    if let Some(cell) = &arguments.ours {
        return print_ours(cell, seconds, cpu);
    }
    let mut all = comparisons()?;
    all.retain(|c| c.set == set);
    let only = arguments.only.as_deref().unwrap_or_default();
    all.retain(|c| c.name.contains(only));
    anyhow::ensure!(!all.is_empty(), "no comparison has {only:?} in its name");
    let session = PeerSession {
        files: tempfile::tempdir_in(&arguments.dir)
            .with_context(|| format!("no directory in {}", arguments.dir.display()))?,
        dir: &arguments.dir,
        seconds,
        cpu,
    };
    println!(
        "CPU {cpu}, {} alternated pairs of {seconds} s; files in {}; ratios are ours / peer",
        arguments.pairs,
        arguments.dir.display()
    );
    let mut report = PeerReport::new();
    for comparison in &all {
        let Some(path) = peer(comparison.tool.variable()) else {
            let variable = comparison.tool.variable();
            println!("{}: left out, {variable} names no peer", comparison.name);
            continue;
        };
        eprintln!("{}", comparison.name);
        let statistic = arguments.statistic.unwrap_or(comparison.statistic);
        let pairs = alternate(
            arguments.pairs,
            |pair| session.measure_ours(comparison, u64::from(pair) + 1),
            |_| session.measure_theirs(comparison, &path),
        );
        match pairs {
            Ok(pairs) => report.add_comparison(comparison, statistic, &pairs),
            Err(e) => report.bars.hold(false, format!("{}: {e:#}", comparison.name)),
        }
    }
    Ok(report.print())
}

fn print_ours(cell: &str, seconds: f64, cpu: u32) -> anyhow::Result<Bars> {
    let (row, size) = cell.split_once('@').context("give ROW@SIZE")?;
    let point = model::size::parse_size(size).with_context(|| format!("{size} is no size"))?;
    let run = ours::measure_in_child(&MeasureTask {
        points: vec![point],
        ..MeasureTask::filling(&[row], seconds, cpu)
    })?;
    for (name, figures) in figures_of(&run) {
        let names = ["mean", "median", "quiet", "minimum"];
        for (statistic, ns) in names.iter().zip(figures) {
            println!("{name} on CPU {cpu}: {statistic} {} ns", three_digits(ns));
        }
    }
    Ok(Bars::new())
}

struct PeerSession<'s> {
    files: tempfile::TempDir,
    dir: &'s Path,
    seconds: f64,
    cpu: u32,
}

impl PeerSession<'_> {
    fn measure_ours(&self, comparison: &Comparison, seed: u64) -> anyhow::Result<(Side, f64)> {
        let began = Instant::now();
        let rows: Vec<&str> = comparison.rows.iter().map(String::as_str).collect();
        let run = ours::measure_in_child(&MeasureTask {
            seed,
            points: comparison.points.clone(),
            dir: (comparison.set == "files").then(|| self.dir.to_path_buf()),
            ..MeasureTask::filling(&rows, self.seconds, self.cpu)
        })?;
        let wall = began.elapsed();
        let figures = figures_of(&run);
        let missing = |f: &&PeerFigure| !figures.contains_key(&f.ours);
        if let Some(wanted) = comparison.figures.iter().find(missing) {
            bail!("{} gave no figure: {}", wanted.ours, why(&run));
        }
        let rows_ms: f64 = run.cells.iter().map(|cell| cell.wall_ms).sum();
        Ok(((figures, wall), rows_ms))
    }

    fn measure_theirs(&self, comparison: &Comparison, path: &Path) -> anyhow::Result<Side> {
        let mut command = self.peer_command(comparison, path)?;
        let (out, err, wall) = output(&mut command)?;
        let text = match comparison.tool {
            Tool::CoreToCore | Tool::Fio => out,
            _ => format!("{out}\n{err}"),
        };
        let figures = read_figures(&comparison.figures, &text);
        Ok((figures.with_context(|| format!("{command:?}"))?, wall))
    }

    fn peer_command(&self, comparison: &Comparison, path: &Path) -> anyhow::Result<Command> {
        let pinned = (comparison.cpus != Some(2)).then_some(self.cpu);
        let mut words = comparison.command.split(' ');
        let program = match comparison.tool {
            Tool::Lmbench => path.join(words.next().unwrap_or_default()),
            _ => path.to_path_buf(),
        };
        let mut command = on_cpu(&program, pinned);
        match comparison.tool {
            Tool::Lmbench => {
                command
                    .envs([("ENOUGH", "50000"), ("LOOP_O", "0"), ("TIMING_O", "0")])
                    // It would go before the directory that is named.
                    .env_remove("TMPDIR");
                if pinned.is_none() {
                    command.env("LMBENCH_SCHED", "UNIQUE");
                }
            }
            Tool::Fio => {
                let disk = self.file("DISK", 256)?;
                command
                    .args(["--name=ours", "--ioengine=psync", "--direct=1", "--thread"])
                    .args(["--output-format=json", "--time_based", "--invalidate=0"])
                    .args(["--size=256M", &format!("--runtime={:.0}", self.seconds.max(1.0))])
                    .arg(format!("--filename={}", disk.display()));
            }
            Tool::BwMem => {
                // Repetitions of 0.1 s, on huge pages as ours.
                let repetitions = (self.seconds * 8.0).max(5.0) as u32;
                command
                    .envs([("ENOUGH", "100000"), ("LOOP_O", "0"), ("TIMING_O", "0")])
                    .env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
                    .args(["-P", "1", "-W", "0", "-N", &repetitions.to_string()]);
            }
            Tool::Multichase => {
                // Half a second a sample; it drops the first.
                let samples = (self.seconds * 2.0 - 1.0).max(2.0) as u32;
                command.args(["-n", &samples.to_string(), "-v"]);
            }
            Tool::Perf | Tool::CoreToCore => {}
        }
        for word in words {
            match word {
                "FILE" => command.arg(self.file(word, 8)?),
                "READ" => command.arg(self.file(word, 10)?),
                "DIR" => command.arg(self.files.path()),
                word => command.arg(word),
            };
        }
        Ok(command)
    }

    /// A file of this many MiB of random bytes, written once.
    fn file(&self, name: &str, mib: u64) -> anyhow::Result<PathBuf> {
        let path = self.files.path().join(name);
        if !path.exists() {
            let mut file = std::fs::File::create(&path)?;
            let mut rng = fastrand::Rng::with_seed(1);
            let mut piece = vec![0; 1 << 20];
            for _ in 0..mib {
                rng.fill(&mut piece);
                file.write_all(&piece).context("can't write the peer's file")?;
            }
            file.sync_all()?;
        }
        Ok(path)
    }
}

fn figures_of(run: &Run) -> BTreeMap<String, FiguresByStatistic> {
    let estimates = ours::estimates(run).into_iter();
    estimates
        .filter_map(|(name, _, estimate)| {
            let cell = run.cells.iter().find(|c| ours::cell_name(c) == name)?;
            let figures = [
                Some(ours::mean_ns(run, cell)?),
                Some(estimate.typical?.ns.value),
                estimate.quiet.map(|q| q.ns.value),
                estimate.quiet.map(|q| q.minimum_ns),
            ];
            Some((name, figures))
        })
        .collect()
}

/// What a run says of rows that have no figure.
fn why(run: &Run) -> String {
    let notes = run.rows.iter().flat_map(|row| row.notes.clone());
    let reasons = run.rows.iter().filter_map(|row| match &row.outcome {
        Outcome::Unavailable { reason } => Some(reason.clone()),
        _ => None,
    });
    reasons.chain(notes).collect::<Vec<_>>().join("; ")
}

struct PeerReport {
    ratios: TextTable,
    walls: TextTable,
    bars: Bars,
}

impl PeerReport {
    fn new() -> PeerReport {
        PeerReport {
            ratios: TextTable::new(&[
                "comparison",
                "row",
                "ours ns",
                "peer ns",
                "judged by",
                "mean/mean",
                "median/median",
                "quiet/min",
                "min/min",
                "same operation",
            ]),
            walls: TextTable::new(&["comparison", "ours s", "of that the rows s", "peer s"]),
            bars: Bars::new(),
        }
    }

    fn add_comparison(
        &mut self,
        comparison: &Comparison,
        statistic: Statistic,
        pairs: &[((Side, f64), Side)],
    ) {
        for wanted in &comparison.figures {
            let both = |of: usize| -> Vec<(f64, f64)> {
                let pairs = pairs.iter();
                pairs
                    .filter_map(|((ours, _), theirs)| {
                        Some((ours.0.get(&wanted.ours)?[of]?, theirs.0.get(&wanted.ours)?[of]?))
                    })
                    .collect()
            };
            let ratios = |of| Ratios::new(both(of).iter().map(|(ours, theirs)| ours / theirs));
            // A peer without a minimum has its median.
            let judged = match both(statistic as usize).is_empty() {
                true => Statistic::Median,
                false => statistic,
            };
            let of = judged as usize;
            let middle = |pick: fn(&(f64, f64)) -> f64| {
                three_digits(median(&both(of).iter().map(pick).collect::<Vec<_>>()))
            };
            let mut line = vec![
                comparison.name.clone(),
                wanted.ours.clone(),
                middle(|pair| pair.0),
                middle(|pair| pair.1),
                format!("{judged:?}").to_lowercase(),
            ];
            line.extend((0..4).map(|of| ratios(of).ratio_text()));
            line.push(match wanted.differs.as_str() {
                "" => "yes".into(),
                differs => format!("no: {differs}"),
            });
            self.ratios.add_line(line);
            if wanted.differs.is_empty() {
                let ratios = ratios(of);
                let (name, row, text) = (&comparison.name, &wanted.ours, ratios.ratio_text());
                self.bars.hold(
                    ratios.inside(0.9, 1.1),
                    format!("{name} {row}: {text} (inside 0.9 to 1.1)"),
                );
            }
        }
        let middle = |values: Vec<f64>| three_digits(median(&values));
        let pairs = pairs.iter();
        self.walls.add_line(vec![
            comparison.name.clone(),
            middle(pairs.clone().map(|((ours, _), _)| ours.1.as_secs_f64()).collect()),
            middle(pairs.clone().map(|((_, ms), _)| ms / 1e3).collect()),
            middle(pairs.map(|(_, theirs)| theirs.1.as_secs_f64()).collect()),
        ]);
    }

    fn print(self) -> Bars {
        self.ratios
            .print("Median ratio with its distribution-free 95 % interval (ns an operation)");
        self.walls.print("Wall time of one measurement, median");
        self.bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_rows_exist_and_every_figure_is_of_its_comparisons_rows() {
        let known: Vec<String> =
            ours::catalogue().iter().flat_map(meter::probe::Probe::row_ids).collect();
        for comparison in comparisons().expect("readable") {
            assert!(["kernel", "files", "memory"].contains(&&*comparison.set));
            for figure in &comparison.figures {
                let (row, point) = figure.ours.split_once('@').unwrap_or((&figure.ours, ""));
                assert!(known.iter().any(|id| id == row), "there is no row {row}");
                let measured = comparison.rows.iter().any(|pattern| {
                    let begin = pattern.trim_end_matches('*');
                    row == pattern || (begin != pattern && row.starts_with(begin))
                });
                assert!(measured, "{}: {row}", comparison.name);
                let own = point.parse().is_ok_and(|at| comparison.points.contains(&at));
                assert!(own || point.is_empty() || point.contains(','), "{point}");
                assert!(figure.ns.is_none() || figure.over.is_none(), "{row}");
            }
        }
    }

    #[test]
    fn a_rate_is_ns_of_our_operation() {
        let all = comparisons().expect("readable");
        let of = |name: &str, row: &str, text: &str| {
            let comparison = all.iter().find(|c| c.name == name).expect("there");
            read_figures(&comparison.figures, text).expect("a figure")[row][0]
        };
        let row = "file.read_open/as_lmbench@1024";
        assert_eq!(of("1 KiB, open file", row, "0.001024 512.00\n"), Some(2000.0));
        let row = "file.read_with_open/as_lmbench@10485760";
        let text = "10.49 10485.76\n";
        assert_eq!(of("10 MiB, with open", row, text), Some(1e6));
        let text = "0k\t9\t100000\t200000\n1k\t9\t1\t2\n4k\t9\t3\t4\n10k\t9\t5\t8\n";
        assert_eq!(of("create and delete", "file.create@0", text), Some(10_000.0));
        assert_eq!(of("create and delete", "file.delete@10240", text), Some(1.25e8));
        // 16 bytes counted for one operation of ours, at 8000 MB/s.
        let row = "memory.read/every_4th@16384";
        assert_eq!(of("read every 4th 16KiB", row, "\n0.02 8000\n"), Some(2.0));
        let row = "sync.handoff/pipe/same_cpu";
        let text = "Pipe latency: 4.0 microseconds\n";
        assert_eq!(of("pipe, one CPU", row, text), Some(2000.0));
    }
}
