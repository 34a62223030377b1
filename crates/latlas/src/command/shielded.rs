//! Measuring on reserved CPUs: a cpuset shield, removed at the end.

use crate::output;
use anyhow::bail;
use noise::tune::{BackOutcome, Restored, SetOutcome, StateDir, Step, Tuned};
use std::path::{Path, PathBuf};
use sys::files::Tree;

/// Does the work, with the control groups that its processes are to join (none without CPUs to
/// reserve). With the result, whether all was restored.
pub(super) fn within<T>(
    cpus: &[u32],
    work: impl FnOnce(Vec<PathBuf>) -> anyhow::Result<T>,
) -> anyhow::Result<(T, bool)> {
    check_privilege(cpus)?;
    if cpus.is_empty() {
        return Ok((work(Vec::new())?, true));
    }
    let system = Tree::new(Path::new("/"));
    let shield = Step::Shield { cpus: cpus.to_vec() };
    let tuned = Tuned::begin(&system, &StateDir::system(), &[shield])?;
    for applied in tuned.applied() {
        if let SetOutcome::Failed(why) = &applied.outcome {
            bail!("can't reserve CPU {}: {why}", applied.wanted);
        }
    }
    let done = work(tuned.shield_groups());
    let restored = tuned.restore();
    output::print_error(&messages(&restored));
    Ok((done?, restored.as_before()))
}

/// Refuses CPUs to reserve without the right to.
pub(super) fn check_privilege(cpus: &[u32]) -> anyhow::Result<()> {
    if !cpus.is_empty() && sys::filesystem::user() != 0 {
        bail!("--shield needs root (it moves other processes); --pin does not");
    }
    Ok(())
}

fn messages(restored: &Restored) -> String {
    let mut text = String::new();
    for value in &restored.values {
        let what = &value.what;
        match &value.outcome {
            BackOutcome::Restored | BackOutcome::Gone => {}
            BackOutcome::ChangedByOthers(now) => {
                text += &format!(
                    "latlas: {what} was changed to {now} by another process: left unchanged\n"
                );
            }
            BackOutcome::Failed(why) => {
                text += &format!(
                    "latlas: {what} was not restored: {why}; run `latlas noise restore`\n"
                );
            }
        }
    }
    for remark in &restored.remarks {
        text += &format!("latlas: {remark}\n");
    }
    text
}
