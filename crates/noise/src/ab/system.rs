//! System-wide controls as switches: set under the journal of [`crate::tune`],
//! and restored by it.

use super::available::{Here, Unavailable};
use super::control::Spec;

use super::toggle::{Toggle, ToggleError, Toggles};
use crate::change::Change;
use crate::control::show;
use crate::tune::{self, BackOutcome, SetOutcome, StateDir, Step, Tuned};
use model::machine::Machine;
use std::path::PathBuf;
use sys::files::Files;
use sys::files::bracketed;

/// Which processes get huge pages.
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// Makes every process get them.
const FOR_ALL: &str = "always";

/// Adds the switch of a control, if there is something to switch on this
/// machine, and says how it is set now. `cpus` are those that a job on its own
/// is kept on.
///
/// # Errors
/// Why there is nothing, in one line.
pub fn add<'f>(
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
    Ok(Here {
        on: None,
        off: now(spec, files, machine),
    })
}

/// How it is set now, where that is one word for all.
fn now(spec: &Spec, files: &dyn Files, machine: &Machine) -> Option<String> {
    match spec.name {
        "thp" => bracketed(&files.read(HUGE_PAGES).ok()?),
        "turbo" | "smt" | "governor" => {
            let all = show(files, machine, None, &mut || ());
            let shown = all.controls.iter().find(|shown| shown.id == spec.name)?;
            shown.now.get().map(ToString::to_string)
        }
        _ => None,
    }
}

/// What is to be set.
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
        true => Err(nothing_to_set(spec, files, machine)),
    }
}

/// Why there is nothing to set, as `latlas noise show` has it.
fn nothing_to_set(spec: &Spec, files: &dyn Files, machine: &Machine) -> Unavailable {
    let all = show(files, machine, None, &mut || ());
    let Some(shown) = all.controls.iter().find(|shown| shown.id == spec.name) else {
        return Unavailable::NothingToSet(spec.name.into());
    };
    match (&shown.hindrance, shown.now.get()) {
        (Some(hindrance), _) => Unavailable::Shown(hindrance.why.clone()),
        (None, Some(now)) => Unavailable::NothingToSet(format!("{}: {now}", shown.title)),
        (None, None) => Unavailable::NothingToSet(format!("{} is unknown here", shown.title)),
    }
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

/// Whether processes get huge pages without asking.
///
/// # Errors
/// That they don't, or that it is unknown.
pub fn huge_pages_for_all(files: &dyn Files) -> Result<(), Unavailable> {
    match chosen(files)? {
        word if word == FOR_ALL => Ok(()),
        word => Err(Unavailable::NotAlways(word)),
    }
}

/// The chosen word; all words if none is marked.
fn chosen(files: &dyn Files) -> Result<String, Unavailable> {
    let now = files.read(HUGE_PAGES);
    let now = now.map_err(|error| Unavailable::File {
        action: "read",
        path: HUGE_PAGES,
        error,
    })?;
    Ok(bracketed(&now).unwrap_or(now))
}

/// One control of the system.
struct SystemToggle<'f> {
    name: &'static str,
    files: &'f dyn Files,
    state: StateDir,
    steps: Vec<Step>,
    tuned: Option<Tuned<'f>>,
    /// The turn with the fewest values set: how many, of how many, and why one
    /// of the others was not.
    partly: Option<(usize, usize, String)>,
    /// A value that somebody else had changed when it was to be put back.
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
        let failed = restored
            .values
            .iter()
            .find_map(|value| match &value.outcome {
                BackOutcome::Failed(why) => Some(format!("{}: {why}", value.what)),
                _ => None,
            });
        match restored.complete() {
            true => Ok(()),
            false => Err(ToggleError::NotRestored(
                failed
                    .or_else(|| restored.remarks.first().cloned())
                    .unwrap_or_default(),
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
    use crate::ab::control;
    use std::fs;
    use sys::files::Tree;

    const WORDS: &str = "sys/kernel/mm/transparent_hugepage/enabled";

    /// A machine of which only this is known.
    fn machine(huge_pages: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in [
            (WORDS, huge_pages),
            ("proc/sys/kernel/random/boot_id", "a-boot\n"),
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        root
    }

    fn thp() -> &'static Spec {
        control::find("thp").expect("a control")
    }

    #[test]
    fn what_is_switched_on_is_there_and_off_again_it_is_as_before() {
        let root = machine("never\n");
        // A plain file stands for the kernel's: it shows what was written.
        let tree = Tree::new(root.path());
        let state = tempfile::tempdir().expect("a directory");
        let state = StateDir::at(&state.path().join("state")).of_tree(root.path());
        let mut toggles = Toggles::new();
        add(
            &mut toggles,
            thp(),
            &tree,
            &sys::machine(root.path()),
            &state,
            &[],
        )
        .expect("never is not always");
        let toggle = toggles.get_mut("thp").expect("added");
        let now = || fs::read_to_string(root.path().join(WORDS)).expect("a file");
        for _ in 0..3 {
            assert_eq!(toggle.on().expect("writable"), Vec::<PathBuf>::new());
            assert_eq!(now().trim(), "always");
            toggle.off().expect("writable");
            assert_eq!(now().trim(), "never");
        }
        toggle.off().expect("off already");
        assert_eq!(toggle.remarks(), [""; 0]);
        // Somebody else's value is left, and said.
        toggle.on().expect("writable");
        fs::write(root.path().join(WORDS), "madvise\n").expect("a file");
        toggle.off().expect("nothing of ours is left");
        assert_eq!(now().trim(), "madvise");
        let remarks = toggle.remarks().join("; ");
        assert!(remarks.contains("another process changed"), "{remarks}");
    }

    #[test]
    fn what_is_set_in_part_says_how_much() {
        let root = machine("never\n");
        let tree = Tree::new(root.path());
        let state = tempfile::tempdir().expect("a directory");
        let step = |path: &str| {
            Step::Set(Change {
                control: "thp".into(),
                path: path.into(),
                wanted: FOR_ALL.into(),
            })
        };
        let mut toggle = SystemToggle {
            name: "thp",
            files: &tree,
            state: StateDir::at(&state.path().join("state")).of_tree(root.path()),
            steps: vec![
                step(HUGE_PAGES),
                step("/sys/kernel/mm/transparent_hugepage/defrag"),
            ],
            tuned: None,
            partly: None,
            foreign: None,
        };
        toggle.on().expect("one of two");
        toggle.off().expect("writable");
        let remarks = toggle.remarks().join("; ");
        assert!(remarks.starts_with("thp: only 1 of 2 values"), "{remarks}");
    }

    #[test]
    fn where_there_is_nothing_to_switch_the_reason_says_so() {
        let root = machine("[always] madvise never");
        let tree = Tree::new(root.path());
        let state = StateDir::at(root.path());
        let machine_there = sys::machine(root.path());
        let mut toggles = Toggles::new();
        let mut add = |name: &str| {
            let spec = control::find(name).expect(name);
            add(&mut toggles, spec, &tree, &machine_there, &state, &[1]).expect_err(name)
        };
        assert!(matches!(add("thp"), Unavailable::AlreadyAlways));
        for absent in ["turbo", "governor", "smt"] {
            assert!(
                matches!(add(absent), Unavailable::Shown(_)),
                "{}",
                add(absent)
            );
        }
        assert!(toggles.is_empty());
        assert!(huge_pages_for_all(&tree).is_ok());
        let root = machine("always [madvise] never");
        let error = huge_pages_for_all(&Tree::new(root.path())).expect_err("madvise");
        assert!(matches!(error, Unavailable::NotAlways(word) if word == "madvise"));
    }
}
