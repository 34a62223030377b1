//! `latlas qos` against what the kernel says of the same seconds (`sched_stat_runtime`, `perf sched
//! timehist`, our own trace), and its throughput against the zstd command line.

mod seen;

use crate::bars::Bars;
use crate::pairs::{Ratios, alternate};
use crate::process::output;
use crate::spread::median;
use crate::table::{TextTable, percent, three_digits};
use anyhow::{Context, bail};
use model::qos::shares::shares_of_second;
use model::qos::{Case, CaseRuns, Qos};
use model::recording::Recording;
use model::run::Run;
use seen::{jobs_in_trace, pairs_in_perf};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

#[derive(clap::Args)]
pub struct Arguments {
    /// The latlas program
    #[arg(long, value_name = "PATH")]
    latlas: PathBuf,
    /// perf
    #[arg(long, default_value = "perf")]
    perf: PathBuf,
    /// zstd
    #[arg(long, default_value = "zstd")]
    zstd: PathBuf,
    /// Rounds of two jobs, and pairs with zstd
    #[arg(long, default_value_t = 6)]
    rounds: u32,
    /// Size of the file
    #[arg(long, default_value = "256MiB")]
    size: String,
}

/// Runs what is asked for.
///
/// # Errors
/// If latlas or a peer can't be run.
pub fn check_qos(arguments: &Arguments) -> anyhow::Result<Bars> {
    let files = tempfile::tempdir().context("no directory for files")?;
    let mut bars = Bars::new();
    measure_shares(arguments, files.path(), &mut bars)?;
    occupancy(arguments, files.path(), &mut bars)?;
    throughput(arguments, files.path(), &mut bars)?;
    Ok(bars)
}

/// `latlas qos` with these words, after others.
fn qos(mut command: Command, arguments: &Arguments, words: &[&str]) -> anyhow::Result<Qos> {
    command.args(["--no-config", "qos", "--document", "--size", &arguments.size]).args(words);
    let got = command.output().context("can't run latlas")?;
    // 3: too few rounds for an interval.
    let stopped = || String::from_utf8_lossy(&got.stderr).into_owned();
    if !matches!(got.status.code(), Some(0 | 3)) {
        bail!("latlas: {}", stopped());
    }
    let run: Run = serde_json::from_slice(&got.stdout).with_context(stopped)?;
    let recording = run.recordings.into_iter().next();
    recording
        .and_then(|recording| match recording {
            Recording::Qos(qos) => Some(qos),
            _ => None,
        })
        .context("latlas measured nothing")
}

fn after(program: &Path, words: &[&str], latlas: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(words).arg(latlas);
    command
}

fn case(document: &Qos, wanted: impl Fn(Case) -> bool) -> anyhow::Result<&CaseRuns> {
    let mut cases = document.cases.iter();
    let found = cases.find(|runs| wanted(runs.case));
    found.context("latlas measured no such case")
}

/// The lower job's share by latlas, by `sched_stat_runtime`, and by `timehist`.
fn measure_shares(arguments: &Arguments, files: &Path, bars: &mut Bars) -> anyhow::Result<()> {
    let data = files.join("perf.data");
    let data = data.to_string_lossy();
    let events = "sched:sched_switch,sched:sched_stat_runtime,sched:sched_waking";
    let record = ["record", "-q", "-a", "-e", events, "-o", &data, "--"];
    let rounds = arguments.rounds.to_string();
    let words = ["--levels", "utility,default", "--cases", "pairs", "--rounds", &rounds];
    let document = qos(after(&arguments.perf, &record, &arguments.latlas), arguments, &words)?;
    let runs = case(&document, |case| matches!(case, Case::Pair { .. }))?;
    let pairs = pairs_in_perf(&arguments.perf, &data, runs.runs.len())?;
    let mut table = TextTable::new(&["round", "latlas", "sched_stat_runtime", "timehist"]);
    let mut apart = [Vec::new(), Vec::new()];
    let ours = shares_of_second(runs).into_iter().zip(&runs.runs);
    for (round, ((share, run), pair)) in ours.zip(&pairs).enumerate() {
        let end_ns = pair[0].to_ns.min(pair[1].to_ns);
        let window = (end_ns.saturating_sub(run.together_ns), end_ns);
        let lower = |ns: [u64; 2]| ns[0].min(ns[1]) as f64 / (ns[0] + ns[1]).max(1) as f64;
        let by_runtime = lower([0, 1].map(|at| pair[at].ran_ns(window)));
        let ids = [pair[0].process, pair[1].process];
        let by_timehist = lower(seen::timehist(&arguments.perf, &data, window, ids)?);
        for (apart, theirs) in apart.iter_mut().zip([by_runtime, by_timehist]) {
            apart.push((share - theirs).abs() * 100.0);
        }
        let shares =
            [share, by_runtime, by_timehist].map(|share| format!("{:.2} %", share * 100.0));
        table.add_line([vec![(round + 1).to_string()], shares.to_vec()].concat());
    }
    table.print("utility beside default: its share of the CPU time while both ran");
    let limits = [("sched_stat_runtime", 0.5), ("timehist", 3.0)];
    for (apart, (peer, limit)) in apart.iter().zip(limits) {
        let largest = apart.iter().copied().reduce(f64::max);
        let what = format!("share of the lower job, largest difference to {peer}");
        bars.at_most(&what, largest, limit, " points");
    }
    Ok(())
}

/// The part of a job's CPU time on each CPU, by its own blocks and by our trace.
fn occupancy(arguments: &Arguments, files: &Path, bars: &mut Bars) -> anyhow::Result<()> {
    let kept = files.join("t.zst");
    let kept_text = kept.to_string_lossy();
    let record = ["trace", "--tier", "full", "--out", &kept_text, "--"];
    let rounds = arguments.rounds.to_string();
    let words = ["--levels", "default", "--cases", "alone", "--rounds", &rounds];
    let latlas = &arguments.latlas;
    let document = qos(after(latlas, &record, latlas), arguments, &words)?;
    let runs = case(&document, |case| matches!(case, Case::Alone { .. }))?;
    let traced = store::read_run(&kept)?;
    let trace = traced.recordings.iter().find_map(Recording::trace).context("no trace")?;
    let jobs = jobs_in_trace(trace, runs.runs.len());
    let mut table = TextTable::new(&["round", "CPU", "by blocks", "by the trace", "moved"]);
    let mut apart = Vec::new();
    for (round, (run, job)) in runs.runs.iter().zip(&jobs).enumerate() {
        let work = run.jobs.first().context("no job")?;
        let blocks = &work.residency;
        let certain_ns: u64 = blocks.cpus.iter().map(|cpu| cpu.work.cpu_ns).sum();
        let moved = 1.0 - certain_ns as f64 / blocks.all.cpu_ns.max(1) as f64;
        for cpu in &blocks.cpus {
            let ours = cpu.work.cpu_ns as f64 / certain_ns.max(1) as f64;
            let theirs = job.share_of(cpu.cpu);
            apart.push((ours - theirs).abs() * 100.0);
            table.add_line(vec![
                (round + 1).to_string(),
                cpu.cpu.to_string(),
                percent(Some(ours)),
                percent(Some(theirs)),
                percent(Some(moved)),
            ]);
        }
    }
    table.print("default alone: CPU time by CPU");
    let largest = apart.into_iter().reduce(f64::max);
    let what = "part of a CPU, largest difference to the trace";
    bars.at_most(what, largest, 2.0, " points");
    Ok(())
}

/// Bytes per second of one job at the default level by that of the zstd command line: of one
/// operation, and of two programs at once for two.
fn throughput(arguments: &Arguments, files: &Path, bars: &mut Bars) -> anyhow::Result<()> {
    let file = files.join("file");
    let bytes = {
        let document = qos(
            Command::new(&arguments.latlas),
            arguments,
            &["--levels", "default", "--cases", "alone", "--rounds", "1"],
        )?;
        document.how.file_bytes
    };
    ::qos::file::make(&file, bytes, &AtomicBool::new(false))?;
    let (version, _, _) = output(Command::new(&arguments.zstd).arg("--version"))?;
    println!("\n{}", version.trim());
    let mut table = TextTable::new(&["operations", "latlas, MB/s", "zstd, MB/s", "ratio"]);
    for operations in [1, 2] {
        let ours = |_| -> anyhow::Result<f64> {
            let jobs = operations.to_string();
            let words =
                ["--levels", "default", "--cases", "alone", "--rounds", "1", "--jobs", &jobs];
            let document = qos(Command::new(&arguments.latlas), arguments, &words)?;
            let runs = case(&document, |case| matches!(case, Case::Alone { .. }))?;
            let job = runs.runs.first().and_then(|run| run.jobs.first());
            let job = job.context("no job")?;
            Ok(job.bytes as f64 / (job.wall_ns as f64 / 1e3))
        };
        let theirs = |_| zstd(&arguments.zstd, &file, operations);
        let pairs = alternate(arguments.rounds, ours, theirs)?;
        let ratios = Ratios::new(pairs.iter().map(|(ours, theirs)| ours / theirs));
        let column = |of: fn(&(f64, f64)) -> f64| {
            let values: Vec<f64> = pairs.iter().map(of).collect();
            three_digits(median(&model::stats::sorted(values)))
        };
        table.add_line(vec![
            operations.to_string(),
            column(|pair| pair.0),
            column(|pair| pair.1),
            ratios.ratio_text(),
        ]);
        let what = format!("throughput of {operations}, by zstd -b");
        bars.within(&what, ratios.interval().map(|i| i.value), 0.97, 1.03);
    }
    table.print("one job at the default level");
    Ok(())
}

/// MB/s of so many programs at once, each with one thread: in its benchmark blocks of a file wait
/// for each other.
fn zstd(program: &Path, file: &Path, programs: u32) -> anyhow::Result<f64> {
    let start = |_| {
        let mut command = Command::new(program);
        command.args(["-b3", "-B256K", "-T1", "-q"]).arg(file);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().context("can't run zstd")
    };
    let children: Vec<_> = (0..programs).map(start).collect::<anyhow::Result<_>>()?;
    let mut sum = 0.0;
    for child in children {
        let output = child.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        // 3#file : 268435456 -> 100000000 (x2.684),  300.5 MB/s, 900.0 MB/s
        let speed = text.rsplit('\r').find_map(|line| {
            let before = line.split("MB/s").next()?;
            before.split_whitespace().last()?.parse::<f64>().ok()
        });
        sum += speed.with_context(|| format!("no speed in {text}"))?;
    }
    Ok(sum)
}
