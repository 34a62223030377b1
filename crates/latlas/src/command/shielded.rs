//! Measuring within a cpuset shield: everybody else off some CPUs, and
//! everything put back at the end.

use crate::output;
use anyhow::bail;
use noise::tune::{BackOutcome, Restored, SetOutcome, StateDir, Step, Tuned};
use std::path::{Path, PathBuf};
use sys::files::Tree;

/// Does the work, with the control groups that its processes are to join: none
/// where no CPUs are to be shielded. With the result, whether all is as before.
pub(super) fn within<T>(
    cpus: &[u32],
    work: impl FnOnce(Vec<PathBuf>) -> anyhow::Result<T>,
) -> anyhow::Result<(T, bool)> {
    if cpus.is_empty() {
        return Ok((work(Vec::new())?, true));
    }
    if sys::filesystem::user() != 0 {
        bail!("--shield moves the processes of others, which needs root; --pin needs no right");
    }
    let system = Tree::new(Path::new("/"));
    let shield = Step::Shield {
        cpus: cpus.to_vec(),
    };
    let tuned = Tuned::begin(&system, &StateDir::system(), &[shield])?;
    for applied in tuned.applied() {
        if let SetOutcome::Failed(why) = &applied.outcome {
            bail!("no shield on CPU {}: {why}", applied.wanted);
        }
    }
    let done = work(tuned.shield_groups());
    let restored = tuned.restore();
    output::tell(&told(&restored));
    Ok((done?, restored.as_before()))
}

/// What was not put back; the figures are good nevertheless.
fn told(restored: &Restored) -> String {
    let mut text = String::new();
    for value in &restored.values {
        let what = &value.what;
        match &value.outcome {
            BackOutcome::Restored | BackOutcome::Gone => {}
            BackOutcome::ChangedByOthers(now) => {
                text += &format!("latlas: {what} was changed by others to {now}: left so\n");
            }
            BackOutcome::Failed(why) => {
                text +=
                    &format!("latlas: {what} is not put back: {why}; run `latlas noise restore`\n");
            }
        }
    }
    for remark in &restored.remarks {
        text += &format!("latlas: {remark}\n");
    }
    text
}
