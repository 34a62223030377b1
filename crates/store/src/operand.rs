//! What can be set against each other: runs, machines and published tables,
//! each by its name.

use crate::index::Index;
use crate::{Store, StoreError};
use compare::operand::{Operand, Source, USED, without_samples};
use compare::references::References;
use compare::{alike, files_alike};
use model::nearest::suggestion;
use model::run::Run;
use model::summary::{KeptRun, MachineKey};

/// Kept runs that are looked through, the newest first, for those of a machine
/// or for what runs differ by.
pub const LOOKED_THROUGH: usize = 30;

/// Why there is no such side.
#[derive(Debug, thiserror::Error)]
pub enum OperandError {
    /// A run that can't be had.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing of that name.
    #[error(
        "unknown run, table or machine {name:?}{suggestion}: give a run (a file, last, last~1, or the \
         first digits of an id), a published table ({tables}) or a machine (@HOST)"
    )]
    Unknown {
        /// The name.
        name: String,
        /// What was probably meant.
        suggestion: String,
        /// The tables that there are.
        tables: String,
    },
    /// No run of that machine is kept.
    #[error("no stored run of a machine named {0:?}")]
    NoMachine(String),
}

/// The side that a name means: a file, a run of the store, all runs under a tag
/// that are like the newest of them, a published table, or a machine with all its
/// latest runs that are alike.
pub fn find(
    name: &str,
    store: &Result<Store, StoreError>,
    references: &References,
) -> Result<Operand, OperandError> {
    if !std::path::Path::new(name).is_file()
        && let Some(table) = references.find(name)
    {
        return Ok(Operand {
            name: name.to_owned(),
            source: Source::Published(table.clone()),
        });
    }
    if let Some(host) = name.strip_prefix('@') {
        return machine(name, host, in_store(store)?);
    }
    // One run under a tag is found by its name below, as everywhere.
    if let Ok(store) = store
        && !std::path::Path::new(name).is_file()
    {
        let runs = tagged(name, store, &mut Vec::new())?;
        if runs.len() > 1 {
            return Ok(Operand::of_runs(name, runs));
        }
    }
    match crate::named(name, store) {
        Ok(path) => Ok(Operand::run(name, crate::read(&path)?)),
        // A machine may be called as an id begins, or as no file is.
        Err(StoreError::NoSuchFile { .. } | StoreError::NoSuchRun { .. }) => {
            let of_machine = in_store(store).map_err(OperandError::from);
            match of_machine.and_then(|store| machine(name, name, store)) {
                Err(OperandError::NoMachine(_) | OperandError::Store(_)) => {
                    Err(unknown(name, references))
                }
                found => found,
            }
        }
        Err(other) => Err(other.into()),
    }
}

/// Kept runs with this tag, the newest first, as far as they are like it.
pub(super) fn tagged(
    tag: &str,
    store: &Store,
    messages: &mut Vec<String>,
) -> Result<Vec<Run>, StoreError> {
    if store.runs_tagged(tag)?.is_empty() {
        return Ok(Vec::new());
    }
    let index = Index::open(store.clone())?;
    let kept = index.runs();
    messages.extend(index.messages());
    let kept = kept?.into_iter();
    let paths = kept.filter(|run| run.tags.iter().any(|own| own == tag));
    let mut runs: Vec<Run> = Vec::new();
    for kept in paths {
        let run = without_samples(crate::read(&kept.path)?);
        if runs.first().is_none_or(|newest| alike(newest, &run)) {
            runs.push(run);
        }
        if runs.len() == USED {
            break;
        }
    }
    Ok(runs)
}

fn in_store(store: &Result<Store, StoreError>) -> Result<&Store, StoreError> {
    store.as_ref().map_err(|_| StoreError::NoDataDirectory)
}

fn unknown(name: &str, references: &References) -> OperandError {
    OperandError::Unknown {
        name: name.to_owned(),
        suggestion: suggestion(name, references.keys()),
        tables: references.keys().join(", "),
    }
}

/// The latest run of a machine and those kept before that are alike.
fn machine(name: &str, host: &str, store: &Store) -> Result<Operand, OperandError> {
    let of_host = |run: &Run| {
        let own = run.machine.hostname.get();
        own.is_some_and(|own| own.eq_ignore_ascii_case(host))
    };
    // What commands cost there, or another program measured, is not the machine.
    let of_machine = |run: &Run| run.imported.is_none() && run.commands.is_none();
    let kept_of_host = |kept: &KeptRun| {
        let own = kept.host.as_ref();
        let of_machine = !kept.imported && !kept.commands && kept.partial.is_none();
        of_machine && own.is_some_and(|own| own.eq_ignore_ascii_case(host))
    };
    let mut runs: Vec<Run> = newest(store, &[&kept_of_host])?
        .into_iter()
        .filter(|run| of_host(run) && of_machine(run) && run.partial.is_none())
        .collect();
    match runs.first().cloned() {
        None => Err(OperandError::NoMachine(host.to_owned())),
        Some(latest) => {
            // By its id: where too little is known it is not even like itself.
            runs.retain(|run| run.id == latest.id || alike(run, &latest));
            // The latest may have no files, and the others some on several
            // file systems.
            if let Some(with_files) = runs.iter().find(|run| run.files_on.is_some()).cloned() {
                runs.retain(|run| files_alike(run, &with_files));
            }
            runs.truncate(USED);
            Ok(Operand {
                name: name.to_owned(),
                source: Source::Runs(runs),
            })
        }
    }
}

/// The last kept runs of each machine that a side of one run is of, the newest
/// first: those that [`kept_like`] may want.
///
/// # Errors
/// If neither index nor documents can be read.
pub fn recent_like(store: &Store, operands: &[&Operand]) -> Result<Vec<Run>, StoreError> {
    let alone = operands.iter().filter(|operand| operand.runs().len() == 1);
    let mut machines: Vec<MachineKey> = alone.map(|o| MachineKey::of(&o.runs()[0])).collect();
    machines.sort();
    machines.dedup();
    let of = |machine: MachineKey| move |kept: &KeptRun| kept.machine == machine;
    let wanted: Vec<_> = machines.into_iter().map(of).collect();
    let wanted: Vec<&dyn Fn(&KeptRun) -> bool> = wanted.iter().map(|of| of as _).collect();
    newest(store, &wanted)
}

/// The newest runs of each kind that is wanted, by the index; where that can't
/// be had, of all.
fn newest(store: &Store, wanted: &[&dyn Fn(&KeptRun) -> bool]) -> Result<Vec<Run>, StoreError> {
    let Ok(kept) = Index::open(store.clone()).and_then(|index| index.runs()) else {
        return recent(store);
    };
    let mut places: Vec<usize> = Vec::new();
    for wanted in wanted {
        let own = (0..kept.len()).filter(|&place| wanted(&kept[place]));
        places.extend(own.take(LOOKED_THROUGH));
    }
    places.sort_unstable();
    places.dedup();
    let paths = places.into_iter().map(|place| &kept[place].path);
    Ok(paths
        .filter_map(|path| crate::read(path).ok())
        .map(without_samples)
        .collect())
}

/// The last kept runs, the newest first. Files that can't be read (of a newer
/// latlas, or damaged) are no business of a comparison that did not name them.
fn recent(store: &Store) -> Result<Vec<Run>, StoreError> {
    let paths = store.paths()?;
    let newest = paths.iter().rev().take(LOOKED_THROUGH);
    Ok(newest
        .filter_map(|path| crate::read(path).ok())
        .map(without_samples)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Taken;
    use compare::operand::kept_like;
    use model::machine::Fact;
    use model::synthetic;

    fn kept(runs: &[(&str, &str, &str)]) -> (tempfile::TempDir, Result<Store, StoreError>) {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::in_directory(dir.path());
        for (number, (id, host, kernel)) in runs.iter().enumerate() {
            let mut run = synthetic::run();
            run.id = format!("{id}0000-0000-4000-8000-000000000001");
            run.started_unix_ms += number as u64 * 1000;
            run.machine.hostname = Fact::known(host.to_string());
            run.machine.kernel = Fact::known(kernel.to_string());
            store.save(&run).expect("saved");
        }
        (dir, Ok(store))
    }

    fn references() -> References {
        References::embedded().expect("references")
    }

    fn ids(operand: &Operand) -> Vec<&str> {
        operand.runs().iter().map(|run| &run.id[..4]).collect()
    }

    /// What each name means: the runs, a table, or why nothing.
    fn meanings(names: &[&str], store: &Result<Store, StoreError>) -> String {
        let meaning = |name: &&str| match find(name, store, &references()) {
            Ok(side) => match &side.source {
                Source::Published(table) => format!("{name}: {}\n", table.key),
                Source::Runs(_) => format!("{name}: {:?}\n", ids(&side)),
            },
            Err(error) => format!("{name}: {error}\n"),
        };
        names.iter().map(meaning).collect()
    }

    #[test]
    fn names() {
        let (dir, store) = kept(&[
            ("aaaa", "lab", "6.1"),
            ("bbbb", "lab", "6.2"),
            ("cccc", "desk", "6.1"),
            ("dddd", "lab", "6.2"),
        ]);
        for (id, name) in [
            ("aaaa", "after"),
            ("bbbb", "after"),
            ("dddd", "after"),
            ("cccc", "one"),
        ] {
            let id = format!("{id}0000-0000-4000-8000-000000000001");
            let own = store.as_ref().expect("store");
            own.tag(name, &id, Taken::Shared).expect("tagged");
        }
        // A file comes before a table of its name.
        let path = dir.path().join("2012");
        crate::write(&synthetic::run(), &path).expect("written");
        let path = path.to_str().expect("UTF-8");
        // A machine is that of the latest kernel, and so are runs under a tag.
        let names = [
            "last", "last~2", "aaaa", "@LAB", "desk", "2012", "iphone-x", path,
        ];
        let others = [
            "after",
            "one",
            "iphone-y",
            "ffff",
            "absent.json",
            "@home",
            "last~9",
        ];
        let text = meanings(&[&names[..], &others].concat(), &store);
        let directory = dir.path().to_string_lossy();
        insta::assert_snapshot!(text.replace(&*directory, "DIR"));
    }

    #[test]
    fn a_machine_is_found_behind_many_runs_of_others() {
        let mut all = vec![("aaaa".to_owned(), "lab"), ("bbbb".to_owned(), "lab")];
        all.push(("cccc".to_owned(), "lab"));
        let others = 0..LOOKED_THROUGH + 5;
        all.extend(others.map(|n| (format!("{:04x}", 0x1000 + n), "desk")));
        let all: Vec<_> = all
            .iter()
            .map(|(id, host)| (&id[..], *host, "6.1"))
            .collect();
        let (_dir, store) = kept(&all);
        let lab = find("@lab", &store, &references()).expect("@lab");
        assert_eq!(ids(&lab), ["cccc", "bbbb", "aaaa"]);
        // So are the runs like a run of it.
        let one = find("cccc", &store, &references()).expect("there");
        let table = find("2012", &store, &references()).expect("there");
        let recent = recent_like(store.as_ref().expect("store"), &[&one, &table]);
        let recent = recent.expect("read");
        assert_eq!(recent.len(), 3);
        assert_eq!(kept_like(&[&one, &table], &recent)[0].len(), 2);
    }

    #[test]
    fn a_machine_is_no_import_no_command_and_no_mixture_of_file_systems() {
        let (_dir, store) = kept(&[("aaaa", "lab", "6.1"), ("bbbb", "lab", "6.1")]);
        let keep = |id: &str, later: u64, mut run: Run| {
            run.id = format!("{id}0000-0000-4000-8000-000000000001");
            run.started_unix_ms += later * 1000;
            run.machine.hostname = Fact::known("lab".to_string());
            run.machine.kernel = Fact::known("6.1".to_string());
            store.as_ref().expect("store").save(&run).expect("saved");
        };
        let on = |kind: &str| {
            let mut run = synthetic::run();
            run.files_on.as_mut().expect("files").kind = kind.into();
            run
        };
        keep("cccc", 10, on("tmpfs"));
        keep("dddd", 11, synthetic::run());
        let mut without = synthetic::run();
        without.files_on = None;
        keep("eeee", 12, without);
        let mut imported = synthetic::run();
        imported.imported = Some(synthetic::imported());
        keep("ffff", 13, imported.clone());
        keep("abcd", 14, synthetic::run_of_commands());
        let lab = find("@lab", &store, &references()).expect("@lab");
        assert_eq!(ids(&lab), ["eeee", "dddd", "bbbb", "aaaa"]);
        // An import has no runs like it, though others came of the same file.
        keep("fff0", 15, imported);
        let recent = recent(store.as_ref().expect("store")).expect("read");
        let one = find("ffff", &store, &references()).expect("there");
        assert!(kept_like(&[&one, &one], &recent).is_empty());
    }

    #[test]
    fn runs_like_a_side_are_found() {
        let (_dir, store) = kept(&[
            ("aaaa", "lab", "6.1"),
            ("bbbb", "lab", "6.1"),
            ("cccc", "lab", "6.2"),
            ("dddd", "lab", "6.1"),
            ("eeee", "lab", "6.1"),
        ]);
        let of = |name: &str| find(name, &store, &references()).expect(name);
        let like = |a: &Operand, b: &Operand| -> Vec<Vec<String>> {
            let kept = recent(store.as_ref().expect("store")).expect("read");
            let groups = kept_like(&[a, b], &kept);
            let ids = |group: &Vec<Run>| group.iter().map(|r| r.id[..4].to_string()).collect();
            groups.iter().map(ids).collect()
        };
        assert_eq!(like(&of("eeee"), &of("dddd")), [["bbbb", "aaaa"]]);
        // One group for both kernels' sides where only one has others.
        assert_eq!(like(&of("eeee"), &of("cccc")), [["dddd", "bbbb", "aaaa"]]);
        assert!(like(&of("@lab"), &of("2012")).is_empty());
    }
}
