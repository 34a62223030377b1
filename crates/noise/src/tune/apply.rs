//! One step: recorded in the journal, done, read back, recorded again.

use super::item::{Item, ItemTarget};
use super::journal::{Action, Journal};
use super::report::{Applied, BackOutcome, SetOutcome};
use super::side_effects;
use super::undo::{has_controller, undo};
use super::whitelist;
use crate::change::Change;
use crate::cpus::cpu_ranges;
use crate::shield::{self, ShieldError, ShieldStep, hierarchy};
use std::io;
use sys::files::Files;

/// Passes over the tasks to move: some fork in between.
const SWEEPS: u32 = 10;

#[derive(Debug)]
enum StepError {
    /// The journal can't be written: nothing more may be changed.
    Journal(io::Error),
    /// It failed, and everything else goes on.
    Refused(Refusal),
}

#[derive(thiserror::Error, Debug)]
enum Refusal {
    #[error("not a file that latlas writes")]
    NotOurFile,
    #[error("{0} is not a group of latlas")]
    NotOurGroup(String),
    #[error("the kernel manages this interrupt")]
    ManagedInterrupt,
    #[error("mounted read-only")]
    ReadOnly,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("can't read it back: {0}")]
    NotReadBack(io::Error),
    #[error("the kernel accepted the value and ignored it")]
    Ignored,
    #[error("the kernel changed it to {0:?}")]
    Changed(String),
    #[error("{path} does not accept the controller {controller}")]
    NoController { path: String, controller: String },
    #[error("can't make the group {path}: {error}")]
    NoGroup { path: String, error: io::Error },
    #[error("{path}: {why}")]
    Of { path: String, why: Box<Refusal> },
    #[error("{why}; and can't restore {left}")]
    NotRestored { why: Box<Refusal>, left: String },
    #[error(transparent)]
    Shield(#[from] ShieldError),
}

impl<R: Into<Refusal>> From<R> for StepError {
    fn from(refusal: R) -> StepError {
        StepError::Refused(refusal.into())
    }
}

impl Refusal {
    fn at_path(self, path: &str) -> Refusal {
        Refusal::Of { path: path.to_owned(), why: Box::new(self) }
    }

    /// What the kernel means by an error of a write.
    fn of_write(place: &ItemTarget, error: io::Error) -> Refusal {
        const EIO: i32 = 5;
        let of_interrupt =
            matches!(place, ItemTarget::File(path) if path.starts_with("/proc/irq/"));
        match (error.raw_os_error(), error.kind()) {
            (Some(EIO), _) if of_interrupt => Refusal::ManagedInterrupt,
            (_, io::ErrorKind::ReadOnlyFilesystem) => Refusal::ReadOnly,
            _ => Refusal::Io(error),
        }
    }
}

/// What became of a step, or that the journal can't be written.
fn outcome(done: Result<(), StepError>) -> io::Result<SetOutcome> {
    match done {
        Ok(()) => Ok(SetOutcome::Set),
        Err(StepError::Refused(why)) => Ok(SetOutcome::Failed(why.to_string())),
        Err(StepError::Journal(error)) => Err(error),
    }
}

/// Sets one value.
///
/// # Errors
/// The journal can't be written: nothing more may be changed.
pub(crate) fn set_value(
    files: &dyn Files,
    journal: &mut Journal,
    change: &Change,
) -> io::Result<Applied> {
    let place = ItemTarget::File(change.path.clone());
    let read = match whitelist::allows(&change.path, None) {
        true => place.current_value(files).map_err(Refusal::Io),
        false => Err(Refusal::NotOurFile),
    };
    let applied = |old: Option<String>, outcome| Applied {
        control: change.control.clone(),
        what: change.path.clone(),
        old,
        wanted: change.wanted.clone(),
        outcome,
    };
    let old = match read {
        Ok(old) if place.same(&old, &change.wanted) => {
            return Ok(applied(Some(old), SetOutcome::Already));
        }
        Ok(old) => old,
        Err(why) => return Ok(applied(None, SetOutcome::Failed(why.to_string()))),
    };
    let mut items = vec![Item { place, old: old.clone(), wanted: Some(change.wanted.clone()) }];
    items.extend(side_effects::side_effects(files, &change.path));
    let done = change_all(files, journal, &change.control, items);
    Ok(applied(Some(old), outcome(done)?))
}

/// All or nothing of one entry.
fn change_all(
    files: &dyn Files,
    journal: &mut Journal,
    control: &str,
    items: Vec<Item>,
) -> Result<(), StepError> {
    let action = Action::Change { control: control.to_owned(), items: items.clone() };
    let entry = journal.intent(action).map_err(StepError::Journal)?;
    for item in items.iter().filter(|item| item.wanted.is_some()) {
        if let Err(why) = write_wanted(files, item) {
            return Err(taken_back(files, journal, entry, why).into());
        }
    }
    let values = read_all(files, &items);
    journal.made(entry, values).map_err(StepError::Journal)
}

/// Undoes what failed; that may fail too.
fn taken_back(files: &dyn Files, journal: &mut Journal, entry: usize, why: Refusal) -> Refusal {
    let left: Vec<String> = undo(files, journal, entry)
        .into_iter()
        .filter_map(|value| match value.outcome {
            BackOutcome::Failed(reason) => Some(format!("{}: {reason}", value.what)),
            _ => None,
        })
        .collect();
    match left.is_empty() {
        true => why,
        false => Refusal::NotRestored { why: Box::new(why), left: left.join("; ") },
    }
}

/// Writes the wanted value and reads it back.
fn write_wanted(files: &dyn Files, item: &Item) -> Result<(), Refusal> {
    let (place, Some(wanted)) = (&item.place, &item.wanted) else {
        return Ok(());
    };
    let written = place.write(files, wanted);
    let now = place.current_value(files);
    written.map_err(|error| Refusal::of_write(place, error))?;
    let now = now.map_err(Refusal::NotReadBack)?;
    match () {
        () if place.same(&now, wanted) => Ok(()),
        () if place.same(&now, &item.old) => Err(Refusal::Ignored),
        () => Err(Refusal::Changed(now)),
    }
}

fn read_all(files: &dyn Files, items: &[Item]) -> Vec<Option<String>> {
    items.iter().map(|item| item.place.current_value(files).ok()).collect()
}

/// Makes a shield of these CPUs, all of it or nothing; the second value is its
/// group.
///
/// # Errors
/// The journal can't be written: nothing more may be changed.
pub(crate) fn shield(
    files: &dyn Files,
    journal: &mut Journal,
    cpus: &[u32],
) -> io::Result<(Applied, Option<String>)> {
    let first = journal.entries.len();
    let made = match make_shield(files, journal, cpus) {
        Err(StepError::Refused(mut why)) => {
            for entry in (first..journal.entries.len()).rev() {
                if !journal.entries[entry].done {
                    why = taken_back(files, journal, entry, why);
                }
            }
            Err(StepError::Refused(why))
        }
        made => made,
    };
    let (group, done) = match made {
        Ok(group) => (Some(group), Ok(())),
        Err(why) => (None, Err(why)),
    };
    let applied = Applied {
        control: "shield".into(),
        what: group.clone().unwrap_or_else(|| "a cpuset".into()),
        old: None,
        wanted: cpu_ranges(cpus),
        outcome: outcome(done)?,
    };
    Ok((applied, group))
}

fn make_shield(
    files: &dyn Files,
    journal: &mut Journal,
    cpus: &[u32],
) -> Result<String, StepError> {
    let mut group = String::new();
    for step in shield::steps(files, cpus)? {
        match step {
            ShieldStep::Shrink(items) => change_all(files, journal, "shield", items)?,
            ShieldStep::Enable { path, controller } => {
                enable(files, journal, path, controller)?;
            }
            ShieldStep::Group { action, path, values } => {
                make_group(files, journal, action, &path, &values)?;
                group = path;
            }
            ShieldStep::Clear(found) => clear(files, journal, &found)?,
        }
    }
    Ok(group)
}

fn enable(
    files: &dyn Files,
    journal: &mut Journal,
    path: String,
    controller: String,
) -> Result<(), StepError> {
    let at = |error: io::Error| Refusal::Io(error).at_path(&path);
    if has_controller(files, &path, &controller).map_err(at)? {
        return Ok(());
    }
    let action = Action::Enable { path: path.clone(), controller: controller.clone() };
    journal.intent(action).map_err(StepError::Journal)?;
    files.write(&path, &format!("+{controller}")).map_err(at)?;
    match has_controller(files, &path, &controller) {
        Ok(true) => Ok(()),
        _ => Err(Refusal::NoController { path, controller }.into()),
    }
}

fn make_group(
    files: &dyn Files,
    journal: &mut Journal,
    action: Action,
    path: &str,
    values: &[(&str, String)],
) -> Result<(), StepError> {
    let cpuset = hierarchy(files).ok().map(|found| found.mount);
    if !whitelist::allows_group(path, cpuset.as_deref()) {
        return Err(Refusal::NotOurGroup(path.to_owned()).into());
    }
    let accompanying = action.items().to_vec();
    let entry = journal.intent(action).map_err(StepError::Journal)?;
    files
        .make_directory(path)
        .map_err(|error| Refusal::NoGroup { path: path.to_owned(), error })?;
    for (file, wanted) in values {
        let path = format!("{path}/{file}");
        let item = Item {
            place: ItemTarget::File(path.clone()),
            old: String::new(),
            wanted: Some(wanted.clone()),
        };
        write_wanted(files, &item).map_err(|why| why.at_path(&path))?;
    }
    let values = read_all(files, &accompanying);
    journal.made(entry, values).map_err(StepError::Journal)
}

/// Moves all tasks that can be moved out of the root group. Others stay, which
/// is no failure of the shield.
fn clear(
    files: &dyn Files,
    journal: &mut Journal,
    found: &shield::Hierarchy,
) -> Result<(), StepError> {
    let mut tried = Vec::new();
    for _ in 0..SWEEPS {
        let items = shield::movers(files, found, &mut tried);
        if items.is_empty() {
            break;
        }
        let action = Action::Change { control: "shield".into(), items: items.clone() };
        let entry = journal.intent(action).map_err(StepError::Journal)?;
        for item in &items {
            let _ = write_wanted(files, item);
        }
        let values = read_all(files, &items);
        journal.made(entry, values).map_err(StepError::Journal)?;
    }
    Ok(())
}
