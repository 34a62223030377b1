//! One step: told to the journal, done, read back, and told again.

use super::beside;
use super::item::{Item, Place};
use super::journal::{Action, Journal};
use super::meaning;
use super::report::{Applied, BackOutcome, SetOutcome};
use super::undo::undo;
use super::whitelist;
use crate::change::Change;
use crate::files::Files;
use crate::shield::{self, Part, hierarchy};
use std::io;

/// Rounds of moving everybody: some make children meanwhile.
const SWEEPS: u32 = 10;

/// The journal can't be written: nothing more may be changed.
#[derive(Debug)]
pub(crate) struct Unwritable(pub(crate) io::Error);

impl From<io::Error> for Unwritable {
    fn from(error: io::Error) -> Unwritable {
        Unwritable(error)
    }
}

/// Sets one value.
pub(crate) fn set(
    files: &dyn Files,
    journal: &mut Journal,
    change: &Change,
) -> Result<Applied, Unwritable> {
    let said = |old: Option<String>, outcome| Applied {
        control: change.control.clone(),
        what: change.path.clone(),
        old,
        wanted: change.wanted.clone(),
        outcome,
    };
    let failed = |why: &str| SetOutcome::Failed(why.to_owned());
    let place = Place::File(change.path.clone());
    if !whitelist::allows(&change.path, None) {
        return Ok(said(
            None,
            failed("it is none of the files that latlas changes"),
        ));
    }
    let old = match place.read(files) {
        Ok(old) => old,
        Err(error) => return Ok(said(None, failed(&error.to_string()))),
    };
    if place.same(&old, &change.wanted) {
        return Ok(said(Some(old), SetOutcome::Already));
    }
    let mut items = vec![Item {
        place,
        old: old.clone(),
        wanted: Some(change.wanted.clone()),
    }];
    items.extend(beside::of(files, &change.path));
    let outcome = match change_all(files, journal, &change.control, items)? {
        Ok(()) => SetOutcome::Set,
        Err(why) => SetOutcome::Failed(why),
    };
    Ok(said(Some(old), outcome))
}

/// All or nothing of one entry: the reason if nothing.
fn change_all(
    files: &dyn Files,
    journal: &mut Journal,
    control: &str,
    items: Vec<Item>,
) -> Result<Result<(), String>, Unwritable> {
    let entry = journal.intent(Action::Change {
        control: control.to_owned(),
        items: items.clone(),
    })?;
    for item in items.iter().filter(|item| item.wanted.is_some()) {
        if let Err(why) = write(files, item) {
            return Ok(Err(taken_back(files, journal, entry, why)));
        }
    }
    journal.made(entry, read_all(files, &items))?;
    Ok(Ok(()))
}

/// Undoes what failed, and says so where that fails too.
fn taken_back(files: &dyn Files, journal: &mut Journal, entry: usize, why: String) -> String {
    let left: Vec<String> = undo(files, journal, entry)
        .into_iter()
        .filter_map(|value| match value.outcome {
            BackOutcome::Failed(reason) => Some(format!("{}: {reason}", value.what)),
            _ => None,
        })
        .collect();
    match left.is_empty() {
        true => why,
        false => format!("{why}; and it can't be put back: {}", left.join("; ")),
    }
}

/// Writes a wish and reads it back.
fn write(files: &dyn Files, item: &Item) -> Result<(), String> {
    let Some(wanted) = &item.wanted else {
        return Ok(());
    };
    let written = item.place.write(files, wanted);
    match (written, item.place.read(files)) {
        (Err(error), _) => Err(in_words(&item.place, &error)),
        (Ok(()), Err(error)) => Err(format!("it can't be read back: {error}")),
        (Ok(()), Ok(now)) if item.place.same(&now, wanted) => Ok(()),
        (Ok(()), Ok(now)) if item.place.same(&now, &item.old) => {
            Err("the kernel took the value and did nothing".into())
        }
        (Ok(()), Ok(now)) => Err(format!("the kernel made {now:?} of it")),
    }
}

/// What the kernel means by an error, where that is known.
fn in_words(place: &Place, error: &io::Error) -> String {
    const EIO: i32 = 5;
    let of_interrupt = matches!(place, Place::File(path) if path.starts_with("/proc/irq/"));
    match (error.raw_os_error(), error.kind()) {
        (Some(EIO), _) if of_interrupt => "the kernel manages this interrupt itself".into(),
        (_, io::ErrorKind::ReadOnlyFilesystem) => "it is mounted read-only".into(),
        _ => error.to_string(),
    }
}

fn read_all(files: &dyn Files, items: &[Item]) -> Vec<Option<String>> {
    items
        .iter()
        .map(|item| item.place.read(files).ok())
        .collect()
}

/// Makes a shield of these CPUs: all of it, or nothing. Its group comes with
/// it.
pub(crate) fn shield(
    files: &dyn Files,
    journal: &mut Journal,
    cpus: &[u32],
) -> Result<(Applied, Option<String>), Unwritable> {
    let first = journal.entries.len();
    let (outcome, group) = match parts(files, journal, cpus)? {
        Ok(group) => (SetOutcome::Set, Some(group)),
        Err(why) => {
            let mut why = why;
            for entry in (first..journal.entries.len()).rev() {
                if !journal.entries[entry].done {
                    why = taken_back(files, journal, entry, why);
                }
            }
            (SetOutcome::Failed(why), None)
        }
    };
    let applied = Applied {
        control: "shield".into(),
        what: group.clone().unwrap_or_else(|| "a cpuset".into()),
        old: None,
        wanted: meaning::list(cpus),
        outcome,
    };
    Ok((applied, group))
}

fn parts(
    files: &dyn Files,
    journal: &mut Journal,
    cpus: &[u32],
) -> Result<Result<String, String>, Unwritable> {
    let parts = match shield::parts(files, cpus) {
        Ok(parts) => parts,
        Err(why) => return Ok(Err(why)),
    };
    let mut group = String::new();
    for part in parts {
        let done = match part {
            Part::Needed(Action::Change { control, items }) => {
                change_all(files, journal, &control, items)?
            }
            Part::Needed(action) => enable(files, journal, action)?,
            Part::Group(action, values) => {
                if let Action::Group { path, .. } = &action {
                    group.clone_from(path);
                }
                make(files, journal, action, &values)?
            }
            Part::Clear(found) => clear(files, journal, &found)?,
        };
        if let Err(why) = done {
            return Ok(Err(why));
        }
    }
    Ok(Ok(group))
}

fn enable(
    files: &dyn Files,
    journal: &mut Journal,
    action: Action,
) -> Result<Result<(), String>, Unwritable> {
    let Action::Enable { path, controller } = &action else {
        return Ok(Err("not such a step".into()));
    };
    let given = |files: &dyn Files| -> io::Result<bool> {
        Ok(files
            .read(path)?
            .split_whitespace()
            .any(|name| name == controller))
    };
    match given(files) {
        Ok(true) => return Ok(Ok(())),
        Ok(false) => {}
        Err(error) => return Ok(Err(format!("{path}: {error}"))),
    }
    journal.intent(action.clone())?;
    if let Err(error) = files.write(path, &format!("+{controller}")) {
        return Ok(Err(format!("{path}: {error}")));
    }
    match given(files) {
        Ok(true) => Ok(Ok(())),
        _ => Ok(Err(format!(
            "{path} does not take the {controller} controller"
        ))),
    }
}

fn make(
    files: &dyn Files,
    journal: &mut Journal,
    action: Action,
    values: &[(&str, String)],
) -> Result<Result<(), String>, Unwritable> {
    let cpuset = hierarchy(files).ok().map(|found| found.mount);
    let Action::Group { path, beside, .. } = &action else {
        return Ok(Err("not such a step".into()));
    };
    let beside = beside.clone();
    if !whitelist::allows_group(path, cpuset.as_deref()) {
        return Ok(Err(format!("{path} is no group of latlas")));
    }
    let path = path.clone();
    let entry = journal.intent(action)?;
    if let Err(error) = files.make_directory(&path) {
        return Ok(Err(format!("the group {path} can't be made: {error}")));
    }
    for (file, wanted) in values {
        let item = Item {
            place: Place::File(format!("{path}/{file}")),
            old: String::new(),
            wanted: Some(wanted.clone()),
        };
        if let Err(why) = write(files, &item) {
            return Ok(Err(format!("{path}/{file}: {why}")));
        }
    }
    journal.made(entry, read_all(files, &beside))?;
    Ok(Ok(()))
}

/// Moves everybody who may be moved out of the root group. Who can't be moved
/// stays; that is no failure of the shield.
fn clear(
    files: &dyn Files,
    journal: &mut Journal,
    found: &shield::Hierarchy,
) -> Result<Result<(), String>, Unwritable> {
    let mut tried = Vec::new();
    for _ in 0..SWEEPS {
        let Some(action) = shield::movers(files, found, &mut tried) else {
            break;
        };
        let Action::Change { items, .. } = &action else {
            break;
        };
        let items = items.clone();
        let entry = journal.intent(action)?;
        for item in &items {
            let _ = write(files, item);
        }
        journal.made(entry, read_all(files, &items))?;
    }
    Ok(Ok(()))
}
