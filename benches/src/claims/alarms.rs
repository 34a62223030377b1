//! How often `latlas exec` calls a command faster than itself: its rounds end by what they have shown. Live, and on
//! kept runs of commands that are resampled.

use crate::bars::Bars;
use anyhow::{Context, ensure};
use meter::commands::repeat::COMPARED;
use model::compare::finding::Verdict;
use model::run::Run;
use model::sequential::{Question, is_decided, watched_finding, watched_ratio};
use model::stats::share_interval;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

#[derive(clap::Args)]
pub struct Arguments {
    /// The latlas program
    #[arg(long, value_name = "PATH")]
    latlas: PathBuf,
    /// Comparisons of each command with itself
    #[arg(long, default_value_t = 100)]
    pairs: u32,
    /// The commands, run without a shell
    #[arg(long = "command", value_name = "CMD", default_values = ["true", "gzip -c /bin/sh", "sleep 0.01"])]
    commands: Vec<String>,
    /// Run documents of `latlas exec -r 200` or more, to resample
    #[arg(long, value_name = "FILE")]
    resample: Vec<PathBuf>,
}

/// Of comparisons at most this share may be called different.
const MOST_ALARMS: f64 = 0.01;
/// Comparisons made from one kept run.
const RESAMPLED: usize = 2000;
/// Runs that are drawn together, so that what lasts for some runs stays.
const BLOCK: usize = 20;

pub fn check_alarms(arguments: &Arguments) -> anyhow::Result<Bars> {
    let mut bars = Bars::new();
    for command in &arguments.commands {
        let mut alarms = 0;
        let mut decided = 0;
        for pair in 0..arguments.pairs {
            eprint!("\r{command}: {pair} of {}, {alarms} alarms", arguments.pairs);
            let word = compared_with_itself(arguments, command)?;
            alarms += u64::from(word == Verdict::Different);
            decided += u64::from(word != Verdict::CannotTell);
        }
        eprintln!();
        println!("{command}: {decided} of {} comparisons are conclusive", arguments.pairs);
        hold(&mut bars, command, alarms, arguments.pairs.into());
    }
    for file in &arguments.resample {
        let alarms = resampled(file)?;
        hold(&mut bars, &file.display().to_string(), alarms, RESAMPLED as u64);
    }
    Ok(bars)
}

/// Missed only where the exact interval of the share lies beyond the bar.
fn hold(bars: &mut Bars, what: &str, alarms: u64, of: u64) {
    let holds = share_interval(alarms, of).is_none_or(|share| share.low <= MOST_ALARMS);
    bars.hold(holds, format!("{what}: {alarms} false alarms in {of} (at most 1 %)"));
}

fn compared_with_itself(arguments: &Arguments, command: &str) -> anyhow::Result<Verdict> {
    let home = TempDir::new()?;
    let mut latlas = Command::new(&arguments.latlas);
    latlas.args(["exec", "--document", "-N", command, command]).env("LATLAS_DATA_DIR", home.path());
    let got = latlas.output().context("can't run latlas")?;
    let run: Run = serde_json::from_slice(&got.stdout)
        .with_context(|| String::from_utf8_lossy(&got.stderr).into_owned())?;
    let compared = run.commands.context("no commands")?.compared;
    let wall = compared.iter().find(|one| one.row == "wall");
    Ok(wall.context("nothing compared")?.word)
}

/// Blocks of a kept run, drawn with replacement, split into two commands run after run.
fn resampled(file: &Path) -> anyhow::Result<u64> {
    let run = store::read_run(file)?;
    let wall = run.rows.iter().find(|row| row.id.ends_with("/wall")).context("no wall time")?;
    let values = run.values_ns(&wall.id);
    ensure!(values.len() >= 2 * BLOCK, "{}: too few runs", file.display());
    let Some(Question::Faster { within }) = COMPARED.question else { return Ok(0) };
    let mut random = fastrand::Rng::with_seed(1);
    let mut alarms = 0;
    for _ in 0..RESAMPLED {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let mut look = COMPARED.least_runs as usize;
        let (mut spent_ms, least_ms, most_ms) = (0.0, 3_000.0, 15_000.0);
        'rounds: loop {
            let begin = random.usize(..values.len());
            for round in 0..BLOCK / 2 {
                let at = |k: usize| values[(begin + 2 * round + k) % values.len()];
                a.push(at(round % 2));
                b.push(at(1 - round % 2));
                spent_ms += (at(0) + at(1)) / 1e6;
                let enough = a.len() >= look && spent_ms >= least_ms;
                look = look.max((look as f64 * if enough { 1.05 } else { 1.0 }).ceil() as usize);
                let decided = enough && is_decided(watched_ratio(&a, &b, 1).as_ref(), within);
                if decided || spent_ms >= most_ms || a.len() >= 10_000 {
                    break 'rounds;
                }
            }
        }
        alarms += u64::from(watched_finding(&a, &b, 1, 0.05).verdict == Verdict::Different);
    }
    Ok(alarms)
}
