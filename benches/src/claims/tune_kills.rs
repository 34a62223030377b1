//! `latlas noise tune -- sleep` killed with SIGKILL at random moments, on this
//! machine: every value is as before, as another reader sees it.

use crate::bars::Bars;
use crate::values::{Keeper, Values, differing, snapshot};
use anyhow::{Context, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Arguments {
    /// The latlas program
    #[arg(long, value_name = "PATH")]
    latlas: PathBuf,
    /// Kills at which three values were another; those that come earlier or
    /// later are made too, and not counted
    #[arg(long, default_value_t = 50)]
    times: u32,
    /// Of the moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Controls, as `latlas noise tune --only` takes them
    #[arg(
        long,
        default_value = "sample-rate,khugepaged,thp,irq-affinity,default-irq-affinity,workqueues,timer-migration"
    )]
    only: String,
    /// Latest moment of a kill, ms after three values were another (in every
    /// seventh round after the start)
    #[arg(long, default_value_t = 110)]
    latest_ms: u64,
}

/// So long the command keeps the values set, in seconds: shorter than the
/// latest moment, so that putting back is killed too.
const COMMAND_S: &str = "0.06";

/// Many more rounds than kills that count: something is wrong.
const ROUNDS_A_KILL: u32 = 20;

/// So many values must be another while everything is set.
const AT_LEAST: usize = 3;

/// Every so many rounds the watchdog is killed too, and a restore follows.
const WITH_WATCHDOG: u32 = 5;

/// Every so many rounds the kill may come before anything is set.
const EARLY: u32 = 7;

pub fn claim(arguments: &Arguments) -> anyhow::Result<Bars> {
    let keeper = Keeper(snapshot());
    let state = tempfile::tempdir()?;
    let at_most = whole(arguments, state.path(), &keeper.0)?;
    println!(
        "{at_most} values are another while all is set; {} are read",
        keeper.0.len()
    );
    let mut rng = fastrand::Rng::with_seed(arguments.seed);
    let (mut back, mut counted, mut part, mut all, mut after) = (0, 0, 0, 0, 0);
    let mut round = 0;
    while counted < arguments.times || part == 0 {
        round += 1;
        ensure!(
            round <= arguments.times.saturating_mul(ROUNDS_A_KILL),
            "in {round} rounds only {counted} kills with {AT_LEAST} values set, {part} of them while \
             others were not"
        );
        let moment = Duration::from_micros(rng.u64(0..arguments.latest_ms * 1000));
        let too = round % WITH_WATCHDOG == 0;
        let early = round % EARLY == 0;
        let (set, waited) = one(arguments, state.path(), &keeper.0, moment, too, early)
            .with_context(|| format!("round {round}, killed at {moment:?}"))?;
        counted += u32::from(set >= AT_LEAST);
        match set {
            0 => after += 1,
            some if some < at_most => part += 1,
            _ => all += 1,
        }
        let now = snapshot();
        let left = differing(&keeper.0, &now);
        back += u32::from(left.is_empty());
        println!(
            "{round:>4}  killed {}{:>6.1} ms{}  {set:>3} values set then  {} after {:>5.1} ms",
            if early {
                "after       "
            } else {
                "with 3 set +"
            },
            moment.as_secs_f64() * 1e3,
            if too {
                ", watchdog too"
            } else {
                "              "
            },
            if left.is_empty() {
                "all back"
            } else {
                "NOT BACK"
            },
            waited.as_secs_f64() * 1e3,
        );
        for (path, old, new) in left {
            println!("      {path}: was {old}, is {new}");
        }
        drop_state(state.path())?;
    }
    println!("{round} kills: {all} while all was set, {part} in between, {after} before or after");
    let mut bars = Bars::new();
    bars.hold(
        back == round,
        format!("rounds after which all is as before: {back} of {round}"),
    );
    bars.hold(
        counted >= arguments.times,
        format!(
            "kills with at least {AT_LEAST} values changed at that moment: {counted} (at least {})",
            arguments.times
        ),
    );
    bars.hold(
        part > 0,
        format!("kills while some values were set and others not: {part} (at least 1)"),
    );
    Ok(bars)
}

/// Values that are another while a command runs that nobody kills.
fn whole(arguments: &Arguments, state: &Path, before: &Values) -> anyhow::Result<usize> {
    let mut child = start(arguments, state, "1")?;
    std::thread::sleep(Duration::from_millis(600));
    let now = snapshot();
    let set = differing(before, &now).len();
    let ended = child.wait()?;
    // 3: not all could be set, as with an interrupt that the kernel manages.
    ensure!(
        matches!(ended.code(), Some(0 | 3)),
        "latlas noise tune fails here: {ended}"
    );
    let after = snapshot();
    let left = differing(before, &after);
    ensure!(left.is_empty(), "not as before without any kill: {left:?}");
    Ok(set)
}

fn start(arguments: &Arguments, state: &Path, seconds: &str) -> anyhow::Result<Child> {
    Command::new(&arguments.latlas)
        .args([
            "noise",
            "tune",
            "--only",
            &arguments.only,
            "--",
            "sleep",
            seconds,
        ])
        .env("LATLAS_STATE_DIR", state)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("can't start {}", arguments.latlas.display()))
}

/// One round: values set at the moment of the kill, and how long it took until
/// all was back.
fn one(
    arguments: &Arguments,
    state: &Path,
    before: &Values,
    moment: Duration,
    watchdog_too: bool,
    early: bool,
) -> anyhow::Result<(usize, Duration)> {
    let mut child = start(arguments, state, COMMAND_S)?;
    let began = Instant::now();
    while !early && differing(before, &snapshot()).len() < AT_LEAST {
        ensure!(
            began.elapsed() < Duration::from_secs(20),
            "nothing is set within 20 s"
        );
    }
    std::thread::sleep(moment);
    let watchdogs = match watchdog_too {
        true => watchdogs_of(child.id()),
        false => Vec::new(),
    };
    let now = snapshot();
    for watchdog in &watchdogs {
        // Gone already is as good.
        let _ = kill(*watchdog);
    }
    let _ = child.kill();
    child.wait()?;
    let killed = Instant::now();
    let set = differing(before, &now).len();
    if watchdog_too {
        let restore = Command::new(&arguments.latlas)
            .args(["noise", "restore"])
            .env("LATLAS_STATE_DIR", state)
            .output()?;
        ensure!(
            restore.status.success(),
            "restore: {}",
            String::from_utf8_lossy(&restore.stderr)
        );
        return Ok((set, killed.elapsed()));
    }
    while state.join("journal").exists() {
        if killed.elapsed() > Duration::from_secs(20) {
            bail!("the watchdog did not put everything back within 20 s");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // A kill before the journal's first record leaves nothing to wait for.
    Ok((set, killed.elapsed()))
}

/// The child that is no command: the same program.
fn watchdogs_of(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let rest = stat.rsplit(')').next().unwrap_or_default();
            rest.split_whitespace().nth(1) == Some(&parent.to_string())
        })
        .filter(|pid| {
            let own = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&own).contains("__watchdog")
        })
        .collect()
}

fn kill(pid: u32) -> anyhow::Result<()> {
    let sent = Command::new("kill")
        .args(["-9", &pid.to_string()])
        .status()?;
    ensure!(sent.success(), "kill -9 {pid}");
    Ok(())
}

/// The next round begins with nothing.
fn drop_state(state: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(state)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name != "journal") {
            std::fs::remove_file(path)?;
        }
    }
    ensure!(!state.join("journal").exists(), "a journal is left");
    Ok(())
}
