//! The user's own command as the job of `latlas noise ab`: whether it works, and
//! how long it takes, before anything is announced.

use anyhow::{anyhow, bail};
use meter::commands::arm::{self, Arm, CommandSettings};
use meter::commands::error::{CommandError, Said, end_text, shell_hint};
use meter::commands::repeat::{Done, Runner};
use meter::commands::runner::CommandRunner;
use noise::ab::planned::{AbPlan, Length};
use noise::ab::stage::UserCommand;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A first run that took longer tells enough; a shorter one is made again, with
/// its files in memory.
const LONG: Duration = Duration::from_secs(2);

/// Time after which a run is given up: so many times what the first took, or
/// this.
const PATIENCE: u32 = 10;
const LEAST_PATIENCE: Duration = Duration::from_secs(120);

/// A command that was tried.
pub(super) struct Tried {
    pub(super) command: UserCommand,
    /// What a run of it takes.
    pub(super) takes: Duration,
}

/// Refuses a command that is not there, without running it.
pub(super) fn check_program(words: &[OsString]) -> anyhow::Result<()> {
    arm::check_program(words).map_err(in_words)
}

/// Runs it once or twice as it is started by hand. Nothing if that was
/// interrupted.
pub(super) fn try_out(
    words: &[OsString],
    wake: OwnedFd,
    resumed: &Arc<AtomicBool>,
) -> anyhow::Result<Option<Tried>> {
    let arm = Arm { words: words.to_vec(), ..Arm::default() };
    let settings = CommandSettings::default();
    let runner = CommandRunner::new(vec![arm], settings, Some(wake), Arc::clone(resumed));
    let mut runner = runner.map_err(in_words)?;
    let took = time(&mut runner);
    let ended = runner.end_commands();
    let Some(takes) = took.map_err(in_words)? else {
        return Ok(None);
    };
    ended.map_err(in_words)?;
    Ok(Some(Tried {
        command: UserCommand {
            words: words.to_vec(),
            timeout: LEAST_PATIENCE.max(takes * PATIENCE),
        },
        takes,
    }))
}

fn time(runner: &mut CommandRunner) -> Result<Option<Duration>, CommandError> {
    if runner.warm_up(0)? == Done::Interrupted {
        return Ok(None);
    }
    let first = Duration::from_millis(runner.elapsed_ms());
    if first > LONG {
        return Ok(Some(first));
    }
    Ok(match runner.timed(0)? {
        Done::Interrupted => None,
        Done::Ended(usage) => Some(Duration::from_nanos(usage.wall_ns)),
    })
}

/// Without the options that `exec` has and this command has not.
fn in_words(error: CommandError) -> anyhow::Error {
    match error {
        CommandError::NotFound { name } => {
            anyhow!("command not found: {name:?}{}", shell_hint(&name, "use sh -c"))
        }
        CommandError::Failed { command, how, said, .. } => {
            let said = match said {
                Said::NotKept => Said::Nothing,
                said => said,
            };
            anyhow!("{command:?} {}{said}; only exit code 0 is accepted", end_text(how))
        }
        other => other.into(),
    }
}

/// That the time left of `--budget` after `used` is enough for the fewest rounds.
pub(super) fn check_time(length: Length, used: Duration, plan: &AbPlan) -> anyhow::Result<()> {
    let (Length::Time(left), Some(most_ms)) = (length, plan.most_ms) else {
        return Ok(());
    };
    let most = Duration::from_millis(most_ms);
    if most.as_millis() <= left.as_millis() {
        return Ok(());
    }
    bail!(
        "--budget is too short: {} rounds, the fewest that can show an effect, take up to {:.0} s \
         here, trial included; give that, or name fewer controls",
        plan.least_rounds,
        (used + most).as_secs_f64().ceil()
    )
}

/// A command in words, as a shell would be given it.
pub(super) fn words_text(words: &[OsString]) -> Vec<String> {
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    words.collect()
}
