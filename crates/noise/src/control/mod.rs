//! The controls of noise: one list, one small file for each family. What
//! `noise show` prints and what `noise tune` writes both come from here.

mod absent;
mod advice;
mod around;
mod cores;
mod frequency;
mod interrupts;
mod isolation;
mod look;
mod memory;
mod own;
mod part;
mod places;
mod power;
mod scheduler;
mod show;
mod sight;

use crate::change::Change;
use crate::files::Files;
use absent::{Absent, not_in_proc, not_in_sys};
use model::nearest::suggestion;
use model::noise::control::{Group, Kind};
use part::Part;
use places::Scene;
pub use places::quiet_by_default;
pub use show::show;
use sight::{Sight, Told};
use thiserror::Error;

/// When a control is written among others. What is set first is put back
/// last, so that nothing is undone by what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Concerns nothing else.
    Alone,
    /// Hints to the processor's own governor: locked once the kernel's is
    /// `performance`.
    Preference,
    /// The kernel's governor.
    Governor,
    /// Bounds of the frequency, the upper one first.
    Ceiling,
    /// The lower one.
    Floor,
    /// Turbo moves the bounds.
    Turbo,
    /// Where interrupts and the kernel's work go.
    Interrupts,
    /// Whole CPUs, which takes interrupts along.
    Siblings,
}

/// Whether `noise tune` sets a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tuned {
    /// Unless others are named.
    ByDefault,
    /// Only if it is named, for this reason.
    ByName(&'static str),
    /// The same, though it is better for measuring.
    Advised(&'static str),
    /// Never, for this reason.
    Never(&'static str),
}

/// A control.
struct Control {
    id: &'static str,
    title: &'static str,
    group: Group,
    tuned: Tuned,
    stage: Stage,
    /// Whether no real machine that we had has it.
    fixtures_only: bool,
    what: What,
}

impl Control {
    /// One that is looked at and never written; where real machines have it.
    const fn told(
        id: &'static str,
        title: &'static str,
        group: Group,
        tuned: Tuned,
        look: fn(&Sight) -> Told,
    ) -> Control {
        Control {
            id,
            title,
            group,
            tuned,
            stage: Stage::Alone,
            fixtures_only: false,
            what: What::Told(look),
        }
    }
}

/// Where a control's value is.
enum What {
    /// In files of the system that can be written.
    Files(Settled),
    /// Somewhere else, or it can't be written.
    Told(fn(&Sight) -> Told),
}

/// One file of the kernel, or several alike.
struct Settled {
    /// The files with their values; none where the kernel has none.
    parts: fn(&Scene) -> Vec<Part>,
    /// The better value, in words.
    better: &'static str,
    /// Why it is better.
    why: &'static str,
    /// How a shell names all files at once; empty where it can't.
    glob: &'static str,
    /// Why there is no file.
    absent: fn(&Absent) -> (Kind, String),
    /// All values in a line, where they are no plain list.
    line: Option<fn(&Scene, &[Part]) -> String>,
}

/// Every control there is.
fn all() -> impl Iterator<Item = &'static Control> {
    [
        frequency::CONTROLS,
        cores::CONTROLS,
        own::CONTROLS,
        scheduler::CONTROLS,
        interrupts::CONTROLS,
        memory::CONTROLS,
        around::CONTROLS,
    ]
    .into_iter()
    .flatten()
}

/// A name given to `--only` that `noise tune` can't follow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name:?} can't be set: {why}")]
pub struct UnknownControl {
    /// The name.
    pub name: String,
    /// Why not, with what was probably meant.
    pub why: String,
}

/// What `noise tune` would write on the machine that `files` show: the
/// controls named in `only`, or those of the default set if none is named, in
/// the order in which they are to be written. Values that are as wanted
/// already are left out. `quiet_cpus` are to be kept free of interrupts and of
/// the kernel's work; where there are none, these controls change nothing.
///
/// # Errors
/// A name in `only` that is no control, or one that is only shown.
pub fn changes(
    files: &dyn Files,
    only: &[String],
    quiet_cpus: &[u32],
) -> Result<Vec<Change>, UnknownControl> {
    let mut chosen: Vec<&Control> = match only.is_empty() {
        true => all().filter(|c| c.tuned == Tuned::ByDefault).collect(),
        false => only
            .iter()
            .map(|name| named(name))
            .collect::<Result<_, _>>()?,
    };
    chosen.sort_by_key(|control| control.stage);
    chosen.dedup_by_key(|control| control.id);
    let scene = Scene::new(files, quiet_cpus);
    Ok(chosen
        .into_iter()
        .flat_map(|control| {
            let parts = match &control.what {
                What::Files(settled) => (settled.parts)(&scene),
                What::Told(_) => Vec::new(),
            };
            parts.into_iter().filter_map(|part| part.change(control.id))
        })
        .collect())
}

/// Names that `--only` of `noise tune` takes, and whether they are in the
/// default set.
pub fn tunable() -> Vec<(&'static str, bool)> {
    all()
        .filter(|control| !matches!(control.tuned, Tuned::Never(_)))
        .map(|control| (control.id, control.tuned == Tuned::ByDefault))
        .collect()
}

fn named(name: &str) -> Result<&'static Control, UnknownControl> {
    let unknown = |why: String| UnknownControl {
        name: name.to_owned(),
        why,
    };
    match all().find(|control| control.id == name) {
        Some(Control {
            tuned: Tuned::Never(why),
            ..
        }) => Err(unknown((*why).to_owned())),
        Some(control) => Ok(control),
        None => {
            let names = tunable().into_iter().map(|(id, _)| id);
            Err(unknown(format!(
                "there is no such control{} (latlas noise show lists all)",
                suggestion(name, names)
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines;
    use std::collections::HashSet;
    use std::path::Path;
    use sys::files::Tree;

    fn on(machine: &machines::Machine, only: &[&str], quiet: &[u32]) -> Vec<(String, String)> {
        let root = tempfile::tempdir().expect("a directory");
        machine.write_below(root.path()).expect("a tree");
        let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
        changes(&Tree::new(root.path()), &only, quiet)
            .expect("known controls")
            .into_iter()
            .map(|change| (change.path, change.wanted))
            .collect()
    }

    #[test]
    fn names_are_unique() {
        let names: HashSet<&str> = all().map(|control| control.id).collect();
        assert_eq!(names.len(), all().count());
    }

    #[test]
    fn a_misspelt_name_is_answered_with_the_right_one() {
        let tree = Tree::new(Path::new("/"));
        let error = |name: &str| {
            let error = changes(&tree, &[name.to_owned()], &[]).expect_err(name);
            error.to_string()
        };
        assert!(
            error("goverour").contains("did you mean governor?"),
            "{}",
            error("goverour")
        );
        assert!(error("perf-paranoid").contains("only shown"));
        assert!(!error("xyzzy").contains("did you mean"));
    }

    #[test]
    fn the_kinds_of_steps_come_in_an_order_that_nothing_undoes() {
        let steps = on(&machines::intel(), &[], &[3, 7]);
        let at = |end: &str| {
            let found = steps.iter().position(|(path, _)| path.ends_with(end));
            found.unwrap_or_else(|| panic!("no {end} in {steps:?}"))
        };
        assert!(at("energy_performance_preference") < at("scaling_governor"));
        assert!(at("scaling_governor") < at("no_turbo"));
        assert!(at("no_turbo") < at("smp_affinity"));
        assert!(
            !steps.iter().any(|(path, _)| path.contains("smt")),
            "not by default"
        );
        let named = on(
            &machines::intel(),
            &["smt", "irq-affinity", "min-frequency", "max-frequency"],
            &[3],
        );
        let ends: Vec<&str> = named
            .iter()
            .map(|(path, _)| path.rsplit('/').next().unwrap_or_default())
            .collect();
        assert_eq!(ends.first(), Some(&"scaling_max_freq"));
        assert_eq!(ends.last(), Some(&"control"));
    }

    #[test]
    fn interrupts_leave_the_quiet_cpus_and_keep_the_others() {
        let steps = on(&machines::intel(), &["irq-affinity"], &[3, 7]);
        // 16: all eight; 17: CPU 3 only, so it gets all others; 18: CPU 0 already; 19 is managed.
        assert_eq!(
            steps,
            [
                ("/proc/irq/16/smp_affinity".to_owned(), "77".to_owned()),
                ("/proc/irq/17/smp_affinity".to_owned(), "77".to_owned()),
            ]
        );
        assert!(on(&machines::intel(), &["irq-affinity"], &[]).is_empty());
        let all: Vec<u32> = (0..8).collect();
        assert!(
            on(&machines::intel(), &["workqueues"], &all).is_empty(),
            "nothing is left"
        );
    }

    #[test]
    fn the_quiet_cpus_are_a_whole_core_of_the_fastest_kind() {
        let quiet = |machine: machines::Machine| {
            let root = tempfile::tempdir().expect("a directory");
            machine.write_below(root.path()).expect("a tree");
            quiet_by_default(&Tree::new(root.path()))
        };
        assert_eq!(quiet(machines::intel()), [3, 7], "siblings are n and n + 4");
        assert_eq!(
            quiet(machines::hybrid()),
            [2, 3],
            "the last P-core, not an E-core"
        );
        assert_eq!(quiet(machines::big_little()), [7]);
        assert_eq!(quiet(machines::single()), [0_u32; 0], "none to spare");
    }
}
