//! System-wide controls as switches: set under the journal of [`crate::tune`],
//! and restored by it.

use super::available::{FOR_ALL, HUGE_PAGES, Here, Unavailable, chosen};
use super::control::Spec;

use super::toggle::{Toggle, ToggleError, Toggles};
use crate::change::Change;
use crate::control::{hindrance_to_set, inspect_controls};
use crate::tune::{self, BackOutcome, SetOutcome, StateDir, Step, Tuned};
use model::machine::Machine;
use std::path::PathBuf;
use sys::files::Files;
use sys::files::bracketed;

/// Adds the switch of a control, if there is something to switch on this
/// machine, and says how it is set now. `cpus` are those that a job on its own
/// is kept on.
pub fn add_toggle<'f>(
    toggles: &mut Toggles<'f>,
    spec: &Spec,
    files: &'f dyn Files,
    machine: &Machine,
    state: &StateDir,
    cpus: &[u32],
) -> Result<Here, Unavailable> {
    let steps = steps(spec, files, machine, cpus)?;
    let toggle = SystemToggle {
        name: spec.name,
        files,
        state: state.clone(),
        steps,
        tuned: None,
        partly: None,
        foreign: None,
    };
    toggles.insert(spec.name.into(), Box::new(toggle));
    Ok(Here { on: None, off: now(spec, files, machine) })
}

/// How it is set now, where that is one word for all.
fn now(spec: &Spec, files: &dyn Files, machine: &Machine) -> Option<String> {
    match spec.name {
        "thp" => bracketed(&files.read(HUGE_PAGES).ok()?),
        "turbo" | "smt" | "governor" => {
            let all = inspect_controls(files, machine, None, &mut || ());
            let shown = all.controls.iter().find(|shown| shown.id == spec.name)?;
            shown.now.get().map(ToString::to_string)
        }
        _ => None,
    }
}

fn steps(
    spec: &Spec,
    files: &dyn Files,
    machine: &Machine,
    cpus: &[u32],
) -> Result<Vec<Step>, Unavailable> {
    if spec.name == "thp" {
        return huge_pages(files);
    }
    let steps = tune::plan(files, &[spec.name.to_owned()], cpus)?;
    match steps.is_empty() {
        false => Ok(steps),
        true => Err(nothing_to_set(spec, files, machine, cpus)),
    }
}

/// Why there is nothing to set, as `latlas noise show` has it.
fn nothing_to_set(spec: &Spec, files: &dyn Files, machine: &Machine, cpus: &[u32]) -> Unavailable {
    if let Some(why) = hindrance_to_set(files, machine, spec.name, cpus) {
        return Unavailable::Shown(why);
    }
    let all = inspect_controls(files, machine, None, &mut || ());
    let Some(shown) = all.controls.iter().find(|shown| shown.id == spec.name) else {
        return Unavailable::NothingToSet(spec.name.into());
    };
    let now = shown.now.get().map_or("unknown", String::as_str);
    Unavailable::NothingToSet(format!("{}: {now}", shown.title))
}

fn huge_pages(files: &dyn Files) -> Result<Vec<Step>, Unavailable> {
    match chosen(files)? == FOR_ALL {
        true => Err(Unavailable::AlreadyAlways),
        false => Ok(vec![Step::Set(Change {
            control: "thp".into(),
            path: HUGE_PAGES.into(),
            wanted: FOR_ALL.into(),
        })]),
    }
}

struct SystemToggle<'f> {
    name: &'static str,
    files: &'f dyn Files,
    state: StateDir,
    steps: Vec<Step>,
    tuned: Option<Tuned<'f>>,
    /// The turn with the fewest values set: how many, of how many, and why one
    /// of the others was not.
    partly: Option<(usize, usize, String)>,
    /// A value that another program had changed when it was to be put back.
    foreign: Option<String>,
}

impl Toggle for SystemToggle<'_> {
    fn on(&mut self) -> Result<Vec<PathBuf>, ToggleError> {
        let tuned = Tuned::begin(self.files, &self.state, &self.steps);
        let tuned = tuned?;
        let groups = tuned.shield_groups();
        let outcomes = || tuned.applied().iter().map(|applied| &applied.outcome);
        // One interrupt that can't be moved is no reason against the others.
        let set = outcomes().filter(|o| **o == SetOutcome::Set).count();
        let failed: Vec<&String> = outcomes()
            .filter_map(|outcome| match outcome {
                SetOutcome::Failed(why) => Some(why),
                _ => None,
            })
            .collect();
        let why = failed.first().map(|&why| why.clone());
        let all = set + failed.len();
        self.tuned = Some(tuned);
        if set == 0 {
            return Err(why.map_or(ToggleError::AlreadySet, ToggleError::NotSet));
        }
        let fewest = self.partly.as_ref().map_or(usize::MAX, |partly| partly.0);
        if let Some(why) = why.filter(|_| set < fewest) {
            self.partly = Some((set, all, why));
        }
        Ok(groups)
    }

    fn off(&mut self) -> Result<(), ToggleError> {
        let Some(tuned) = self.tuned.take() else {
            return Ok(());
        };
        let restored = tuned.restore();
        if let Some(value) = restored.foreign().next() {
            self.foreign = Some(value.what.clone());
        }
        let failed = restored.values.iter().find_map(|value| match &value.outcome {
            BackOutcome::Failed(why) => Some(format!("{}: {why}", value.what)),
            _ => None,
        });
        match restored.complete() {
            true => Ok(()),
            false => Err(ToggleError::NotRestored(
                failed.or_else(|| restored.remarks.first().cloned()).unwrap_or_default(),
            )),
        }
    }

    fn remarks(&self) -> Vec<String> {
        let name = self.name;
        let partly = self.partly.as_ref().map(|(set, all, why)| {
            format!("{name}: only {set} of {all} values could be set while it was on: {why}")
        });
        let foreign = self.foreign.as_ref().map(|what| {
            format!(
                "{name}: another process changed {what} while it was on, which was kept: off may \
                 differ between rounds"
            )
        });
        partly.into_iter().chain(foreign).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ab::available::huge_pages_for_all;
    use crate::ab::control;
    use std::path::Path;
    use sys::files::Tree;

    /// A tree of which only this is known. A plain file stands for the kernel's:
    /// it shows what was written.
    fn tree(huge_pages: &str) -> (tempfile::TempDir, Tree) {
        let root = tempfile::tempdir().expect("a directory");
        let files = [(HUGE_PAGES, huge_pages), ("/proc/sys/kernel/random/boot_id", "a-boot")];
        let tree = Tree::new(root.path());
        for (path, text) in files {
            let path = tree.full_path(path);
            std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
        (root, tree)
    }

    fn toggle<'f>(root: &Path, tree: &'f Tree, steps: Vec<Step>) -> SystemToggle<'f> {
        SystemToggle {
            name: "thp",
            files: tree,
            state: StateDir::at(&root.join("state")).of_tree(root),
            steps,
            tuned: None,
            partly: None,
            foreign: None,
        }
    }

    #[test]
    fn what_is_switched_on_is_there_and_off_again_it_is_as_before() {
        let (root, tree) = tree("never");
        let mut toggle = toggle(root.path(), &tree, huge_pages(&tree).expect("not always"));
        let now = || tree.read(HUGE_PAGES).expect("a file");
        for _ in 0..3 {
            assert_eq!(toggle.on().expect("writable"), Vec::<PathBuf>::new());
            assert_eq!(now(), "always");
            toggle.off().expect("writable");
            assert_eq!(now(), "never");
        }
        toggle.off().expect("off already");
        assert_eq!(toggle.remarks(), [""; 0]);
        // A value that another program set is left, and reported.
        toggle.on().expect("writable");
        tree.write(HUGE_PAGES, "madvise").expect("a file");
        toggle.off().expect("nothing of ours is left");
        assert_eq!(now(), "madvise");
        // One of two can be set.
        let Step::Set(change) = toggle.steps[0].clone() else {
            panic!("a value");
        };
        toggle.steps.push(Step::Set(Change {
            path: "/sys/kernel/mm/transparent_hugepage/defrag".into(),
            ..change
        }));
        toggle.on().expect("one of two");
        toggle.off().expect("writable");
        let remarks = toggle.remarks();
        assert!(remarks[0].starts_with("thp: only 1 of 2 values"), "{remarks:?}");
        assert!(remarks[1].contains("another process changed"), "{remarks:?}");
    }

    #[test]
    fn where_there_is_nothing_to_switch_the_reason_says_so() {
        let (root, always) = tree("[always] madvise never");
        let state = StateDir::at(root.path());
        let machine = sys::machine_facts(root.path());
        let mut toggles = Toggles::new();
        let mut add = |name: &str| {
            let spec = control::control_named(name).expect(name);
            add_toggle(&mut toggles, spec, &always, &machine, &state, &[1]).expect_err(name)
        };
        assert!(matches!(add("thp"), Unavailable::AlreadyAlways));
        for absent in ["turbo", "governor", "smt"] {
            let why = add(absent);
            assert!(matches!(why, Unavailable::Shown(_)), "{why}");
        }
        assert!(toggles.is_empty());
        assert!(huge_pages_for_all(&always).is_ok());
        let (_root, madvise) = tree("always [madvise] never");
        let error = huge_pages_for_all(&madvise).expect_err("madvise");
        assert!(matches!(error, Unavailable::NotAlways(word) if word == "madvise"));
    }
}
