//! One entry of the journal undone. It may be done any number of times, from
//! any point at which it was broken off.

use super::item::{Item, ItemTarget};
use super::journal::{Action, Journal, JournalEntry};
use super::late::Late;
use super::report::{BackOutcome, PutBack};
use super::whitelist;
use crate::shield::tasks::{self, TaskIdentity};
use crate::shield::{groups_below, hierarchy};
use std::io::{self, ErrorKind};
use std::time::Duration;
use sys::files::Files;

/// Tries to empty and remove a group: what is in it may be making children,
/// or ending.
const REMOVALS: u32 = 50;

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Undoes it, and tells the journal if nothing is left of it.
pub(crate) fn undo(files: &dyn Files, journal: &mut Journal, index: usize) -> Vec<PutBack> {
    let entry = journal.entries[index].clone();
    let cpuset = hierarchy(files).ok().map(|found| found.mount);
    let cpuset = cpuset.as_deref();
    let values = match &entry.action {
        Action::Change { control, items } => {
            match items.iter().find(|item| !item.allowed(cpuset)) {
                Some(item) => vec![undo_refused(control, &item.place.title())],
                None => {
                    let (items, foreign) = to_undo(files, journal, index, cpuset);
                    change(files, control, &items, &foreign)
                }
            }
        }
        Action::Enable { path, controller } => vec![match whitelist::allows(path, cpuset) {
            true => back("shield", path, None, disable(files, path, controller)),
            false => undo_refused("shield", path),
        }],
        Action::Group { path, home, list, accompanying } => {
            let known = ["tasks", "cgroup.procs"].contains(&list.as_str())
                && cpuset.is_some_and(|mount| within(home, mount))
                && whitelist::allows_group(path, cpuset)
                && accompanying.iter().all(|item| item.allowed(cpuset));
            match known {
                true => {
                    let (accompanying, foreign) = to_undo(files, journal, index, cpuset);
                    let removed = remove(files, path, home, list);
                    let mut values = vec![back("shield", path, None, removed)];
                    values.extend(change(files, "shield", &accompanying, &foreign));
                    values
                }
                false => vec![undo_refused("shield", path)],
            }
        }
    };
    let left = values.iter().any(|value| matches!(value.outcome, BackOutcome::Failed(_)));
    if !left {
        // Without this record it is undone once more, which changes nothing.
        let _ = journal.done(index);
    }
    values
}

/// Tells the journal how an entry that could not be undone stands: what is
/// another when it is tried again was set by another program.
pub(crate) fn remember(files: &dyn Files, journal: &mut Journal, index: usize) {
    let cpuset = hierarchy(files).ok().map(|found| found.mount);
    let items = journal.entries[index].action.items();
    if items.is_empty() || items.iter().any(|item| !item.allowed(cpuset.as_deref())) {
        // None of ours is not even read.
        return;
    }
    let read = items.iter().map(|item| item.place.current_value(files).ok());
    let left = read.collect();
    // Without it, it is put back whatever others did: as it was before all.
    let _ = journal.tried(index, left);
}

fn within(path: &str, mount: &str) -> bool {
    path.strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        && !path.split('/').any(|part| part == "..")
}

fn undo_refused(control: &str, what: &str) -> PutBack {
    let why = "the journal names what latlas does not change, or what does not exist: skipped";
    back(control, what, None, BackOutcome::Failed(why.into()))
}

fn back(control: &str, what: &str, old: Option<&str>, outcome: BackOutcome) -> PutBack {
    PutBack {
        control: control.to_owned(),
        what: what.to_owned(),
        old: old.map(str::to_owned),
        outcome,
    }
}

/// The items of an entry with what they are to become, and those that are
/// set by another program.
fn to_undo(
    files: &dyn Files,
    journal: &mut Journal,
    index: usize,
    cpuset: Option<&str>,
) -> (Vec<Item>, Vec<usize>) {
    let mut items = journal.entries[index].action.items().to_vec();
    let mut foreign = foreign(files, journal, index, &items);
    as_earlier(journal, index, cpuset, &mut items, &mut foreign);
    (items, foreign)
}

/// The items that another program changed in between, noted in the journal.
fn foreign(files: &dyn Files, journal: &mut Journal, index: usize, items: &[Item]) -> Vec<usize> {
    let entry = &journal.entries[index];
    if let Some(foreign) = &entry.undoing {
        return foreign.clone();
    }
    let late = Late::find(files, journal);
    let mut foreign: Vec<usize> = (0..items.len())
        .filter(|i| {
            entry.foreign.contains(i)
                || is_foreign(files, entry, &late, &items[*i], *i)
                    && !is_a_later_steps(journal, index, &items[*i])
        })
        .collect();
    // A process in another program's group has that group's CPUs.
    let moved: Vec<TaskIdentity> = foreign.iter().filter_map(|&i| moved(&items[i])).collect();
    foreign.extend((0..items.len()).filter(|&i| match &items[i].place {
        ItemTarget::Affinity(task) => moved.contains(task),
        _ => false,
    }));
    foreign.sort_unstable();
    foreign.dedup();
    // Noted before anything is written: what our own writing makes of a value,
    // or moves with it, is not to be taken for another program's the next time.
    // If the disk takes no more, this process at least knows.
    if !items.is_empty() {
        let _ = journal.undoing(index, foreign.clone());
    }
    foreign
}

fn change(files: &dyn Files, control: &str, items: &[Item], foreign: &[usize]) -> Vec<PutBack> {
    let ours = (0..items.len()).rev().filter(|&i| items[i].wanted.is_some());
    let accompanying = (0..items.len()).filter(|&i| items[i].wanted.is_none());
    let mut values = Vec::new();
    for i in ours.chain(accompanying) {
        let item = &items[i];
        let (outcome, noteworthy) = put_back(files, item, foreign.contains(&i));
        // Of what changes by the way, only what is worth a word.
        if noteworthy || item.wanted.is_some() {
            values.push(back(control, &item.place.title(), Some(&item.old), outcome));
        }
    }
    values
}

/// Whether another program changed it: it is neither as before nor as it was
/// left. Of a step that was broken off it is not known how it was left; what
/// is there is taken for our own.
fn is_foreign(files: &dyn Files, entry: &JournalEntry, late: &Late, item: &Item, i: usize) -> bool {
    let (Ok(now), Some(left)) = (item.place.current_value(files), &entry.left) else {
        return false;
    };
    match left.get(i) {
        Some(Some(left)) => {
            !item.place.same(&now, &item.old)
                && !item.place.same(&now, left)
                && !late.made(files, item, left)
        }
        _ => false,
    }
}

/// On a second try earlier steps may be undone already: what they put back, or
/// left to another program, is not to become what it was between them and this.
fn as_earlier(
    journal: &Journal,
    index: usize,
    cpuset: Option<&str>,
    items: &mut [Item],
    foreign: &mut Vec<usize>,
) {
    for (i, item) in items.iter_mut().enumerate() {
        let undone = journal.entries[..index]
            .iter()
            .filter(|entry| entry.done && entry.done_of > index)
            .find_map(|entry| {
                let items = entry.action.items();
                let same = |other: &Item| other.place == item.place && other.allowed(cpuset);
                let at = items.iter().position(same)?;
                let other = entry.undoing.as_ref().unwrap_or(&entry.foreign);
                Some((items[at].old.clone(), other.contains(&at)))
            });
        if let Some((old, other)) = undone {
            item.old = old;
            if other && !foreign.contains(&i) {
                foreign.push(i);
            }
        }
    }
}

fn moved(item: &Item) -> Option<TaskIdentity> {
    match &item.place {
        ItemTarget::Cpuset { task, .. } => Some(*task),
        _ => None,
    }
}

/// Whether a later step that could not be undone yet has the value too, and
/// found it to be its own: then that has left it so.
fn is_a_later_steps(journal: &Journal, index: usize, item: &Item) -> bool {
    let later = journal.entries.iter().skip(index + 1);
    later.filter(|entry| !entry.done).any(|entry| {
        let foreign = entry.undoing.as_ref().unwrap_or(&entry.foreign);
        let mut items = entry.action.items().iter().enumerate();
        items.any(|(i, other)| other.place == item.place && !foreign.contains(&i))
    })
}

/// The outcome, and whether there was anything to do.
fn put_back(files: &dyn Files, item: &Item, foreign: bool) -> (BackOutcome, bool) {
    let now = match item.place.current_value(files) {
        Ok(now) => now,
        Err(error) => return (missing(files, item, &error), true),
    };
    if item.place.same(&now, &item.old) {
        return (BackOutcome::Restored, false);
    }
    if foreign {
        return (BackOutcome::ChangedByOthers(now), true);
    }
    let written = item.place.write(files, &item.old);
    let outcome = match (item.place.current_value(files), written) {
        (Ok(now), _) if item.place.same(&now, &item.old) => BackOutcome::Restored,
        (Err(error), _) => missing(files, item, &error),
        (Ok(_), Err(error)) => BackOutcome::Failed(error.to_string()),
        (Ok(now), Ok(())) => {
            BackOutcome::Failed(format!("{:?} was written, but it reads {now:?}", item.old))
        }
    };
    (outcome, true)
}

/// A value went with its file, unless no file of the kernel can be seen.
fn missing(files: &dyn Files, item: &Item, error: &io::Error) -> BackOutcome {
    let seen = match &item.place {
        ItemTarget::File(path) if path.starts_with("/sys/devices") => {
            files.exists("/sys/devices/system/cpu")
        }
        ItemTarget::File(path) if path.starts_with("/sys") => files.exists("/sys/kernel"),
        _ => files.exists("/proc/sys/kernel"),
    };
    match error.kind() {
        ErrorKind::NotFound if seen => BackOutcome::Gone,
        ErrorKind::NotFound => BackOutcome::Failed("it is not visible here".into()),
        _ => BackOutcome::Failed(error.to_string()),
    }
}

/// Whether a group gives this controller to the groups below.
pub(crate) fn has_controller(files: &dyn Files, path: &str, controller: &str) -> io::Result<bool> {
    let given = files.read(path)?;
    Ok(given.split_whitespace().any(|name| name == controller))
}

fn disable(files: &dyn Files, path: &str, controller: &str) -> BackOutcome {
    let given = || has_controller(files, path, controller);
    match given() {
        Ok(false) => return BackOutcome::Restored,
        Ok(true) => {}
        Err(error) => return BackOutcome::Failed(error.to_string()),
    }
    match (files.write(path, &format!("-{controller}")), given()) {
        (_, Ok(false)) => BackOutcome::Restored,
        (Err(error), _) | (_, Err(error)) => BackOutcome::Failed(error.to_string()),
        (Ok(()), Ok(true)) => BackOutcome::Failed(format!("{controller} stays enabled")),
    }
}

/// All processes return to their groups, also from groups that a command made
/// within (a runner of containers does), then the groups go, innermost first.
fn remove(files: &dyn Files, path: &str, home: &str, list: &str) -> BackOutcome {
    let mut why = String::new();
    for _ in 0..REMOVALS {
        match files.try_exists(path) {
            Ok(false) => return BackOutcome::Restored,
            Ok(true) => {}
            Err(error) => return BackOutcome::Failed(error.to_string()),
        }
        let below = groups_below(files, path, list);
        for group in below.iter().rev().map(String::as_str).chain([path]) {
            for id in tasks::members(files, &format!("{group}/{list}")) {
                // What can't be moved, or has ended, is seen by what is left.
                let _ = files.write(&format!("{home}/{list}"), &id.to_string());
            }
            if group != path {
                // One that stays is in the way of the outer one, which says so.
                let _ = files.remove_directory(group);
            }
        }
        match files.remove_directory(path) {
            Ok(()) if files.try_exists(path).is_ok_and(|there| !there) => {
                return BackOutcome::Restored;
            }
            Ok(()) => why = "it exists again".into(),
            Err(error) => why = error.to_string(),
        }
        std::thread::sleep(PAUSE);
    }
    match groups_below(files, path, list).first() {
        Some(group) => BackOutcome::Failed(format!("{why} (the group {group} is in it)")),
        None => BackOutcome::Failed(why),
    }
}
