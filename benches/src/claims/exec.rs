//! `latlas exec` against hyperfine and `perf stat -r`: the same commands, by
//! turns in one session; and what it adds to a command.

use crate::bars::Bars;
use crate::pairs::{Ratios, alternate};
use crate::process::output;
use crate::spread::median;
use crate::table::{TextTable, three_digits};
use anyhow::{Context, bail};
use model::run::Run;
use model::stats::{self, Interval};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use sys::child::{Environment, Program, fork_exec_wait, spawn_wait};
use tempfile::TempDir;

#[derive(clap::Args)]
pub struct Arguments {
    /// The latlas program
    #[arg(long, value_name = "PATH")]
    latlas: PathBuf,
    /// hyperfine
    #[arg(long, default_value = "hyperfine")]
    hyperfine: PathBuf,
    /// perf
    #[arg(long, default_value = "perf")]
    perf: PathBuf,
    /// Pairs of each comparison
    #[arg(long, default_value_t = 31)]
    pairs: u32,
    /// Runs of the command in each half of a pair
    #[arg(long, default_value_t = 15)]
    runs: u32,
    /// Keep everything on this CPU: commands, latlas, the peers and the bare loops
    #[arg(long)]
    cpu: Option<u32>,
    /// Only commands whose name contains this
    #[arg(long)]
    only: Option<String>,
}

/// A half of the interval of a ratio may be at most this.
const HALF_WIDTH: f64 = 0.05;

/// Half of the interval of a count's difference may be at most this share of
/// the count, or half an event where that is more.
const COUNT_HALF_WIDTH: f64 = 0.05;

/// Turns of the loops that do nothing but start a command and wait.
const BARE_RUNS: usize = 200;

/// A command of the comparison.
struct TimedCommand {
    name: &'static str,
    words: Vec<String>,
}

fn cases(files: &Path) -> anyhow::Result<Vec<TimedCommand>> {
    // Not compressible, as a tarball is not; the same in each run.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let bytes: Vec<u8> = (0..20_000_000)
        .map(|_| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random as u8
        })
        .collect();
    let (large, small) = (files.join("20MB"), files.join("2MB"));
    std::fs::write(&large, &bytes).context("can't write the files of the commands")?;
    std::fs::write(&small, &bytes[..2_000_000]).context("can't write the files")?;
    let case = |name, words: &[&str]| TimedCommand {
        name,
        words: words.iter().map(ToString::to_string).collect(),
    };
    Ok(vec![
        case("true", &["true"]),
        case("sha256sum 20 MB", &["sha256sum", &large.to_string_lossy()]),
        case("gzip 2 MB", &["gzip", "-c", &small.to_string_lossy()]),
        case(
            "sh with ten children",
            &["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"],
        ),
    ])
}

/// What one half of a pair found, times in ns.
#[derive(Clone, Copy, Default)]
struct HalfResult {
    wall_median: f64,
    wall_mean: f64,
    switches: f64,
    migrations: f64,
    faults: f64,
}

fn ours(arguments: &Arguments, case: &TimedCommand, home: &Path) -> anyhow::Result<HalfResult> {
    let mut command = Command::new(&arguments.latlas);
    command
        .args(["exec", "--document", "-r", &arguments.runs.to_string()])
        .env("LATLAS_DATA_DIR", home);
    command.arg("--name").arg("x").arg("--").args(&case.words);
    let got = command.output().context("can't run latlas")?;
    // 3: done, but no figure is narrow enough to be relied on; the pairs are.
    if !matches!(got.status.code(), Some(0 | 3)) {
        bail!("latlas: {}", String::from_utf8_lossy(&got.stderr));
    }
    let run: Run = serde_json::from_slice(&got.stdout).context("latlas printed no run")?;
    let values = |row: &str| -> anyhow::Result<Vec<f64>> {
        let id = format!("exec.x/{row}");
        let cell = run.cells.iter().find(|cell| cell.row == id);
        let cell = cell.with_context(|| format!("no {row} here: are events refused?"))?;
        let samples = cell.samples.samples().map_err(anyhow::Error::msg)?;
        Ok(samples.iter().map(|s| s.ns_per_op(1.0, 1.0)).collect())
    };
    let mean = |row: &str| -> anyhow::Result<f64> { stats::mean(&values(row)?).context("no run") };
    Ok(HalfResult {
        wall_median: stats::median(values("wall")?).context("no run")?,
        wall_mean: mean("wall")?,
        switches: mean("context_switches")?,
        migrations: mean("cpu_migrations")?,
        faults: mean("faults")?,
    })
}

fn hyperfine(
    arguments: &Arguments,
    case: &TimedCommand,
    home: &Path,
    runs: u32,
) -> anyhow::Result<HalfResult> {
    let json = home.join("hyperfine.json");
    let mut command = Command::new(&arguments.hyperfine);
    command
        .args(["-N", "--warmup", "1", "--style", "none", "--runs"])
        .arg(runs.to_string())
        .arg("--export-json")
        .arg(&json)
        .arg(quoted(&case.words));
    output(&mut command)?;
    let text = std::fs::read_to_string(&json).context("hyperfine wrote nothing")?;
    let found: serde_json::Value = serde_json::from_str(&text)?;
    let second = |name: &str| found["results"][0][name].as_f64();
    Ok(HalfResult {
        wall_median: second("median").context("no median")? * 1e9,
        wall_mean: second("mean").context("no mean")? * 1e9,
        ..HalfResult::default()
    })
}

/// Words as hyperfine splits them again.
fn quoted(words: &[String]) -> String {
    let quote = |word: &String| format!("'{word}'");
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

fn perf(arguments: &Arguments, case: &TimedCommand) -> anyhow::Result<HalfResult> {
    let mut command = Command::new(&arguments.perf);
    command
        .args(["stat", "-x,", "-r", &arguments.runs.to_string(), "-e"])
        .arg("duration_time,task-clock,context-switches,cpu-migrations,page-faults")
        .arg("--")
        .args(&case.words)
        .stdout(std::process::Stdio::null());
    let got = command.output().context("can't run perf")?;
    let text = String::from_utf8_lossy(&got.stderr);
    if !got.status.success() {
        bail!("perf: {text}");
    }
    let number = |event: &str| -> anyhow::Result<f64> {
        let line = text.lines().find(|line| line.split(',').nth(2) == Some(event));
        let first = line.and_then(|line| line.split(',').next());
        first
            .and_then(|value| value.parse().ok())
            .with_context(|| format!("perf printed no {event}: {text}"))
    };
    Ok(HalfResult {
        wall_median: 0.0,
        wall_mean: number("duration_time")?,
        switches: number("context-switches")?,
        migrations: number("cpu-migrations")?,
        faults: number("page-faults")?,
    })
}

pub fn check_exec(arguments: &Arguments) -> anyhow::Result<Bars> {
    if let Some(cpu) = arguments.cpu {
        // Whatever is started from here inherits it: all share one CPU alike.
        sys::pin_to(&[cpu]).context("can't keep to that CPU")?;
    }
    let files = TempDir::new()?;
    let home = files.path();
    let mut bars = Bars::new();
    let mut walls = TextTable::new(&["command", "peer", "latlas ms", "peer ms", "ratio [95 %]"]);
    let mut counts = TextTable::new(&["command", "count", "latlas", "perf", "difference [95 %]"]);
    for case in cases(home)? {
        let other = |only: &String| !case.name.contains(only.as_str());
        if arguments.only.as_ref().is_some_and(other) {
            continue;
        }
        eprintln!("{}", case.name);
        let pairs = alternate(
            arguments.pairs,
            |_| ours(arguments, &case, home),
            |_| hyperfine(arguments, &case, home, arguments.runs),
        )?;
        let medians = pairs.iter().map(|(a, b)| (a.wall_median, b.wall_median));
        wall(&mut walls, &mut bars, case.name, "hyperfine, medians", medians.collect());
        let pairs = alternate(
            arguments.pairs,
            |_| ours(arguments, &case, home),
            |_| perf(arguments, &case),
        )?;
        let means = pairs.iter().map(|(a, b)| (a.wall_mean, b.wall_mean));
        wall(&mut walls, &mut bars, case.name, "perf, means", means.collect());
        let count = |get: fn(&HalfResult) -> f64| -> Vec<(f64, f64)> {
            pairs.iter().map(|(a, b)| (get(a), get(b))).collect()
        };
        for (what, pairs) in [
            ("context-switches", count(|f| f.switches)),
            ("cpu-migrations", count(|f| f.migrations)),
            ("page-faults", count(|f| f.faults)),
        ] {
            same_count(&mut counts, &mut bars, case.name, what, &pairs);
        }
    }
    walls.print(
        "wall time (perf's starts when it releases its child, that of latlas and hyperfine before the \
         child is created; perf has no warm-up run; no shell)",
    );
    counts.print(
        "mean counts per run (perf events, enabled by execve; perf's means include its cold first \
         run)",
    );
    own_cost(arguments, home)?;
    Ok(bars)
}

fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    median(&values.collect::<Vec<_>>())
}

fn wall(table: &mut TextTable, bars: &mut Bars, case: &str, peer: &str, pairs: Vec<(f64, f64)>) {
    let ratios = Ratios::new(pairs.iter().map(|(a, b)| a / b));
    let ms = |values: Option<f64>| three_digits(values.map(|ns| ns / 1e6));
    table.add_line(vec![
        case.into(),
        peer.into(),
        ms(middle(pairs.iter().map(|p| p.0))),
        ms(middle(pairs.iter().map(|p| p.1))),
        ratios.ratio_text(),
    ]);
    let holds = ratios
        .interval()
        .is_some_and(|i| i.low <= 1.0 && i.high >= 1.0 && i.relative_half_width() <= HALF_WIDTH);
    let text = ratios.ratio_text();
    bars.hold(
        holds,
        format!("{case} compared with {peer}: {text} (holds 1, half-width at most 5 %)"),
    );
}

/// Whether two tools count the same: the interval of the differences holds 0
/// and is narrow enough to say so.
fn same_count(
    table: &mut TextTable,
    bars: &mut Bars,
    case: &str,
    what: &str,
    pairs: &[(f64, f64)],
) {
    let differences = stats::sorted(pairs.iter().map(|(a, b)| a - b));
    let interval = stats::quantile_interval_sorted(&differences, 0.5);
    let text = interval.map_or("-".into(), |Interval { value, low, high }| {
        format!("{value:.2} [{low:.2}, {high:.2}]")
    });
    let peers_median = middle(pairs.iter().map(|p| p.1));
    table.add_line(vec![
        case.into(),
        what.into(),
        three_digits(middle(pairs.iter().map(|p| p.0))),
        three_digits(peers_median),
        text.clone(),
    ]);
    let widest = (COUNT_HALF_WIDTH * peers_median.unwrap_or(0.0)).max(0.5);
    let holds = interval.is_some_and(|i| i.low <= 0.0 && i.high >= 0.0 && i.half_width() <= widest);
    bars.hold(holds, format!("{what} of {case}: {text} (holds 0, half-width at most {widest:.2})"));
}

/// What a run of `true` takes in a loop that does nothing but start it and
/// wait, and with each tool around it.
fn own_cost(arguments: &Arguments, home: &Path) -> anyhow::Result<()> {
    let path = sys::command::find_program("true".as_ref()).context("no true in PATH")?;
    let program = Program::new(&path, &[], Environment::Inherited)?;
    let case = TimedCommand { name: "true", words: vec!["true".into()] };
    let (mut spawned, mut forked, mut walls, mut around) = (vec![], vec![], vec![], vec![]);
    let mut peers_median = Vec::new();
    for pair in 0..arguments.pairs {
        // In another order each time: what drifts meets all of them.
        for k in 0..4 {
            match (pair + k) % 4 {
                0 => spawned.push(bare(|| spawn_wait(&program))?),
                1 => forked.push(bare(|| fork_exec_wait(&program))?),
                2 => {
                    let (wall_us, whole_us) = whole(arguments, home)?;
                    walls.push(wall_us);
                    around.push(whole_us - wall_us);
                }
                _ => {
                    let found = hyperfine(arguments, &case, home, BARE_RUNS as u32)?;
                    peers_median.push(found.wall_median / 1e3);
                }
            }
        }
    }
    let mut table = TextTable::new(&["one run of true", "us"]);
    for (what, values) in [
        ("posix_spawn and wait in a loop", &spawned),
        ("fork, exec and wait in a loop", &forked),
        ("latlas exec, wall", &walls),
        ("latlas exec, between two runs", &around),
        ("hyperfine, wall", &peers_median),
    ] {
        table.add_line(vec![what.into(), three_digits(median(values))]);
    }
    table.print("own cost, medians (the loops wait by waitpid and count nothing)");
    let added = Ratios::new(walls.iter().zip(&spawned).map(|(ours, bare)| ours - bare));
    println!("latlas exec adds to posix_spawn and wait, us: {}", added.ratio_text());
    Ok(())
}

/// Median of a bare loop, us a turn.
fn bare(mut once: impl FnMut() -> std::io::Result<i32>) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..BARE_RUNS {
        let began = Instant::now();
        once()?;
        times.push(began.elapsed().as_secs_f64() * 1e6);
    }
    median(&times).context("no turn")
}

/// Median wall time, and time from one run to the next, us.
fn whole(arguments: &Arguments, home: &Path) -> anyhow::Result<(f64, f64)> {
    let mut command = Command::new(&arguments.latlas);
    command
        .args(["exec", "--document", "-r", &BARE_RUNS.to_string(), "--name", "x", "--", "true"])
        .env("LATLAS_DATA_DIR", home);
    let got = command.output().context("can't run latlas")?;
    let run: Run = serde_json::from_slice(&got.stdout).context("latlas printed no run")?;
    let cell = run.cells.iter().find(|cell| cell.row == "exec.x/wall");
    let samples = cell.context("no wall time")?.samples.samples();
    let samples = samples.map_err(anyhow::Error::msg)?;
    let walls: Vec<f64> = samples.iter().map(|s| s.first_ticks as f64 / 1e3).collect();
    let (first, last) = (samples.first(), samples.last());
    let (first, last) = first.zip(last).context("no run")?;
    let steps = (samples.len() - 1) as f64;
    let step_us = f64::from(last.at_ms - first.at_ms) * 1e3 / steps;
    // The runs' own times and what is between them, over the same stretch.
    let mean_us = walls[..walls.len() - 1].iter().sum::<f64>() / steps;
    let typical_us = stats::median(walls).context("no run")?;
    Ok((typical_us, typical_us + step_us - mean_us))
}
