//! What tools that reduce the noise of a machine leave changed after they put
//! things back: latlas against pyperf, on this machine.

use crate::bars::Bars;
use crate::process::peer;
use crate::values::{Keeper, Values, differing, put_back, snapshot};
use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Arguments {
    /// The latlas program
    #[arg(long, value_name = "PATH")]
    latlas: PathBuf,
    /// Controls of latlas' tune; by default its own choice
    #[arg(long, value_name = "NAMES")]
    only: Option<String>,
}

const RATE: &str = "/proc/sys/kernel/perf_event_max_sample_rate";

pub fn check_tune_peers(arguments: &Arguments) -> anyhow::Result<Bars> {
    // The true values come back at the end, whatever happens in between.
    let keeper = Keeper(snapshot());
    let odd = odd(&keeper.0)?;
    println!("before each tool, set by us:");
    for (path, old, new) in differing(&keeper.0, &odd) {
        println!("  {path}: {new} (was {old})");
    }
    let mut bars = Bars::new();
    match peer("PYPERF") {
        Some(pyperf) => {
            let commands =
                [words(&pyperf, &["system", "tune"]), words(&pyperf, &["system", "reset"])];
            tool("pyperf", &odd, &commands, None)?;
        }
        None => println!("\npyperf: left out (PYPERF is not set)"),
    }
    let state = tempfile::tempdir()?;
    let mut tune = words(&arguments.latlas, &["noise", "tune", "--apply"]);
    if let Some(only) = &arguments.only {
        tune.extend(["--only".into(), only.into()]);
    }
    let commands = [tune, words(&arguments.latlas, &["noise", "restore"])];
    let left = tool("latlas", &odd, &commands, Some(state.path()))?;
    bars.hold(left == 0, format!("values that latlas left changed: {left} (0)"));
    put_back(&keeper.0)?;
    Ok(bars)
}

fn words(program: &Path, arguments: &[&str]) -> Vec<PathBuf> {
    std::iter::once(program.to_owned()).chain(arguments.iter().map(PathBuf::from)).collect()
}

/// A sample rate of 30000; the first two interrupts that allow it on the first
/// and the second CPU alone. Returns all values as they are then.
fn odd(before: &Values) -> anyhow::Result<Values> {
    std::fs::write(RATE, "30000").with_context(|| format!("can't write {RATE}: needs root"))?;
    let mut masks = ["1", "2"].iter();
    let mut mask = masks.next();
    for path in before.keys().filter(|path| path.ends_with("/smp_affinity")) {
        let Some(bits) = mask else { break };
        if std::fs::write(path, bits).is_ok() {
            mask = masks.next();
        }
    }
    let odd = snapshot();
    ensure!(differing(before, &odd).len() >= 2, "nothing odd could be set");
    Ok(odd)
}

/// Tunes and resets; how many values are another then.
fn tool(
    name: &str,
    odd: &Values,
    commands: &[Vec<PathBuf>; 2],
    state: Option<&Path>,
) -> anyhow::Result<usize> {
    put_back(odd).context("before the tool")?;
    let run = |words: &[PathBuf]| -> anyhow::Result<String> {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        if let Some(state) = state {
            command.env("LATLAS_STATE_DIR", state);
        }
        let output =
            command.output().with_context(|| format!("can't start {}", words[0].display()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        let complaints: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("ERROR") || line.contains("not set"))
            .collect();
        Ok(format!(
            "{}; {} complaints{}",
            output.status,
            complaints.len(),
            complaints.first().map_or(String::new(), |first| format!(", first: {first}"))
        ))
    };
    println!("\n{name}");
    println!("  tune:  {}", run(&commands[0])?);
    let tuned = snapshot();
    let changed = differing(odd, &tuned);
    println!("  {} values are another then", changed.len());
    println!("  reset: {}", run(&commands[1])?);
    let after = snapshot();
    let left = differing(odd, &after);
    println!("  {} values are not as before:", left.len());
    for (path, old, new) in &left {
        println!("    {path}: was {old}, is {new}");
    }
    let count = left.len();
    put_back(odd).context("after the tool")?;
    Ok(count)
}
