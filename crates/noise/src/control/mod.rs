//! The controls of noise: one table ([`table`]) from which `noise show`, the
//! steps of `noise tune` and the files that it may write follow.

mod absent;
mod activity;
mod advice;
mod context;
mod environment;
mod file;
mod isolation;
mod process;
mod show;
mod special;
mod system;
mod table;

use crate::change::Change;
use crate::pattern::fits;
use context::{ControlContext, StatusResult};
use file::FileState;
use model::nearest::suggestion;
use model::noise::control::{ControlArea, Hindrance};
pub use show::{hindrance_to_set, inspect_controls};
use sys::files::Files;
use system::System;
pub use system::quiet_by_default;
use table::CONTROLS;
use thiserror::Error;

/// When a control is written. The order of restoring is the reverse, so that
/// nothing undoes what was restored before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum WriteStage {
    /// Independent of others.
    Any,
    /// EPP and EPB: locked by the governor `performance`.
    Preference,
    Governor,
    UpperLimit,
    LowerLimit,
    /// Moves the limits.
    Turbo,
    Interrupts,
    /// Whole CPUs, whose interrupts move.
    Siblings,
}

/// Whether `noise tune` sets a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tune {
    ByDefault,
    /// Only by name, for this reason.
    ByName(&'static str),
    /// The same, though `noise show` recommends it.
    Recommended(&'static str),
    /// Never, for this reason.
    Never(&'static str),
}

/// How the content of a file is compared and printed.
#[derive(Clone, Copy, Debug)]
enum ValueFormat {
    Plain,
    /// Values with their words.
    Words(&'static [(&'static str, &'static str)]),
    /// `always [madvise] never`: the chosen word; each of these is good.
    Choice(&'static [&'static str]),
    Mask,
    Kilohertz,
}

/// The good value of a file.
#[derive(Clone, Copy, Debug)]
enum Target {
    Nothing,
    Is(&'static str),
    /// A word, if that file of the same policy offers it.
    Offered(&'static str, &'static str),
    /// The sustained frequency of the policy.
    NominalFrequency,
    /// What the mask holds, without the quiet CPUs.
    Housekeeping,
}

/// What the kernel changes along with a control's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    Nothing,
    /// These files of the same cpufreq policy.
    SamePolicy(&'static [&'static str]),
    Files(&'static [&'static str]),
    /// All that depends on which CPUs are online.
    CpuGoes,
}

#[derive(Clone, Copy)]
struct Control {
    id: &'static str,
    title: &'static str,
    group: ControlArea,
    tune: Tune,
    order: WriteStage,
    /// Whether it was only tested on made-up machines.
    fixtures_only: bool,
    /// Its files; the first pattern that exists counts.
    files: &'static [&'static str],
    /// All patterns count.
    all_files: bool,
    reading: ValueFormat,
    target: Target,
    /// Changes or drops a file's state.
    adjust: Option<fn(&System, FileState) -> Option<FileState>>,
    /// The good value and its reason, as printed.
    better: &'static str,
    why: &'static str,
    moves: Moves,
    /// Why there is no file, if not [`ControlContext::missing`].
    absent: Option<fn(&ControlContext) -> Hindrance>,
    /// All values in a line, if not [`file::in_a_line`].
    line: Option<fn(&System, &[FileState]) -> String>,
    /// Computes the status of a control that is no writable file.
    status: Option<fn(&ControlContext) -> StatusResult>,
}

impl Control {
    /// The base of the table's entries.
    const READ_ONLY: Control = Control {
        id: "",
        title: "",
        group: ControlArea::Environment,
        tune: Tune::Never("it is read-only"),
        order: WriteStage::Any,
        fixtures_only: false,
        files: &[],
        all_files: false,
        reading: ValueFormat::Plain,
        target: Target::Nothing,
        adjust: None,
        better: "",
        why: "",
        moves: Moves::Nothing,
        absent: None,
        line: None,
        status: None,
    };

    fn is_tunable(&self) -> bool {
        !matches!(self.tune, Tune::Never(_))
    }

    fn states(&self, system: &System) -> Vec<FileState> {
        let mut states = Vec::new();
        for pattern in self.files {
            let files = system.expand(pattern).into_iter();
            states.extend(files.filter_map(|(path, cpus)| {
                let file = FileState::read_file(system.files, path, cpus);
                let wanted = self.wanted(system, &file);
                let file = file.wanting(wanted, self.reading);
                match self.adjust {
                    Some(adjust) => adjust(system, file),
                    None => Some(file),
                }
            }));
            if !states.is_empty() && !self.all_files {
                break;
            }
        }
        states
    }

    fn wanted(&self, system: &System, file: &FileState) -> Option<String> {
        match self.target {
            Target::Nothing => None,
            Target::Is(value) => Some(value.to_owned()),
            Target::Offered(list, word) => special::offered(system, &file.path, list, word),
            Target::NominalFrequency => special::nominal(system, &file.path),
            Target::Housekeeping => special::housekeeping(system, file.content()),
        }
    }
}

/// A name given to `--only` that `noise tune` can't set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnknownControl {
    /// No such control; the second is a suggestion.
    #[error("no control {0:?}{1} (latlas noise show lists all)")]
    NoSuch(String, String),
    #[error("{0:?} can't be set: {1}")]
    NeverSet(&'static str, &'static str),
}

/// What `noise tune` would write on the machine of `files`: the controls in
/// `only`, or the default set if that is empty, in the order of writing. Good
/// values are left out. Without `quiet_cpus`, masks stay as they are.
///
/// # Errors
/// A name in `only` that is no control, or is read-only.
pub fn changes(
    files: &dyn Files,
    only: &[String],
    quiet_cpus: &[u32],
) -> Result<Vec<Change>, UnknownControl> {
    let mut chosen: Vec<&Control> = match only.is_empty() {
        true => CONTROLS.iter().filter(|control| control.tune == Tune::ByDefault).collect(),
        false => only.iter().map(|name| control_named(name)).collect::<Result<_, _>>()?,
    };
    chosen.sort_by_key(|control| control.order);
    chosen.dedup_by_key(|control| control.id);
    let system = System::new(files, quiet_cpus);
    let of_control = |control: &Control| -> Vec<Change> {
        let states = control.states(&system).into_iter();
        states.filter_map(|file| file.change(control.id)).collect()
    };
    Ok(chosen.into_iter().flat_map(of_control).collect())
}

/// Names that `noise tune --only` takes, and whether they are in the default
/// set.
pub fn tunable() -> Vec<(&'static str, bool)> {
    CONTROLS
        .iter()
        .filter(|control| control.is_tunable())
        .map(|control| (control.id, control.tune == Tune::ByDefault))
        .collect()
}

fn control_named(name: &str) -> Result<&'static Control, UnknownControl> {
    match CONTROLS.iter().find(|control| control.id == name) {
        Some(control) => match control.tune {
            Tune::Never(why) => Err(UnknownControl::NeverSet(control.id, why)),
            _ => Ok(control),
        },
        None => {
            let names = tunable().into_iter().map(|(id, _)| id);
            Err(UnknownControl::NoSuch(name.to_owned(), suggestion(name, names)))
        }
    }
}

/// A CPU that `--only offline=CPU` takes away.
pub(crate) const ONLINE: &str = "/sys/devices/system/cpu/cpu<n>/online";

/// Whether the path is a file that a control writes, or changes along.
pub(crate) fn is_writable(path: &str) -> bool {
    let tunable = CONTROLS.iter().filter(|control| control.is_tunable());
    let mut patterns = tunable.flat_map(|control| control.files);
    patterns.any(|pattern| fits(pattern, path)) || fits(ONLINE, path)
}

/// What the kernel changes when this file is written.
pub(crate) fn moves(path: &str) -> Moves {
    if fits(ONLINE, path) {
        return Moves::CpuGoes;
    }
    let mut controls = CONTROLS.iter();
    let control = controls.find(|c| c.files.iter().any(|pattern| fits(pattern, path)));
    control.map_or(Moves::Nothing, |control| control.moves)
}

/// The table of docs/noise/controls.md.
pub fn documentation() -> String {
    let mut page =
        "| control | files | better | tune |\n|---|---|---|---|\n".replace("files", "read from");
    for control in CONTROLS {
        let star = if control.fixtures_only { "*" } else { "" };
        let files: Vec<String> = control.files.iter().map(|f| format!("`{f}`")).collect();
        let tune = match control.tune {
            Tune::ByDefault => "default",
            Tune::ByName(_) | Tune::Recommended(_) => "name",
            Tune::Never(_) => "never",
        };
        page += &format!(
            "| `{}`{star} | {} | {} | {tune} |\n",
            control.id,
            files.join(", ").replace("/sys/devices/system/cpu/", ""),
            control.better
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_control_is_whole() {
        let names: HashSet<&str> = CONTROLS.iter().map(|control| control.id).collect();
        assert_eq!(names.len(), CONTROLS.len());
        for control in CONTROLS {
            let id = control.id;
            assert!(!control.title.is_empty() && !control.files.is_empty(), "{id}");
            let good = !control.better.is_empty() && !control.why.is_empty();
            assert!(!control.is_tunable() || good, "{id}");
            assert!(!control.is_tunable() || control.status.is_none(), "{id}");
        }
    }

    #[test]
    fn names_that_can_not_be_set_say_why() {
        let error = |name: &str| control_named(name).err().expect(name);
        let suggested = |name: &str| match error(name) {
            UnknownControl::NoSuch(_, suggestion) => suggestion,
            other => panic!("{other}"),
        };
        assert!(suggested("goverour").contains("governor"));
        assert_eq!(suggested("xyzzy"), "");
        assert!(matches!(error("perf-paranoid"), UnknownControl::NeverSet("perf-paranoid", _)));
    }

    #[test]
    fn what_moves_along_is_that_of_the_control() {
        let governor = moves("/sys/devices/system/cpu/cpufreq/policy4/scaling_governor");
        assert!(matches!(governor, Moves::SamePolicy(_)));
        assert_eq!(moves("/sys/devices/system/cpu/smt/control"), Moves::CpuGoes);
        assert_eq!(moves("/proc/irq/24/smp_affinity"), Moves::Nothing);
    }
}
