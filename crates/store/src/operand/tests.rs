//! Names of sides on stores that are made up.

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
    let meaning = |name: &&str| match find_operand(name, store, &references(), &mut Vec::new()) {
        Ok(side) => match &side.source {
            FigureSource::Published(table) => format!("{name}: {}\n", table.key),
            FigureSource::Runs(_) => format!("{name}: {:?}\n", ids(&side)),
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
    for (id, name) in [("aaaa", "after"), ("bbbb", "after"), ("dddd", "after"), ("cccc", "one")] {
        let id = format!("{id}0000-0000-4000-8000-000000000001");
        let own = store.as_ref().expect("store");
        own.tag(name, &id, Taken::Shared).expect("tagged");
    }
    // A file comes before a table of its name.
    let path = dir.path().join("2012");
    crate::write_run(&synthetic::run(), &path).expect("written");
    let path = path.to_str().expect("UTF-8");
    // A machine is that of the latest kernel, and so are runs under a tag.
    let names = ["last", "last~2", "aaaa", "@LAB", "desk", "2012", "iphone-x", path];
    let others = ["after", "one", "iphone-y", "ffff", "absent.json", "@home", "last~9"];
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
    let all: Vec<_> = all.iter().map(|(id, host)| (&id[..], *host, "6.1")).collect();
    let (_dir, store) = kept(&all);
    let lab = find_operand("@lab", &store, &references(), &mut Vec::new()).expect("@lab");
    assert_eq!(ids(&lab), ["cccc", "bbbb", "aaaa"]);
    // So are the runs like a run of it.
    let one = find_operand("cccc", &store, &references(), &mut Vec::new()).expect("there");
    let table = find_operand("2012", &store, &references(), &mut Vec::new()).expect("there");
    let recent = recent_like(store.as_ref().expect("store"), &[&one, &table], &mut Vec::new());
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
    let lab = find_operand("@lab", &store, &references(), &mut Vec::new()).expect("@lab");
    assert_eq!(ids(&lab), ["eeee", "dddd", "bbbb", "aaaa"]);
    // An import has no runs like it, though others came of the same file.
    keep("fff0", 15, imported);
    let recent = recent(store.as_ref().expect("store"), &mut Vec::new()).expect("read");
    let one = find_operand("ffff", &store, &references(), &mut Vec::new()).expect("there");
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
    let of = |name: &str| find_operand(name, &store, &references(), &mut Vec::new()).expect(name);
    let like = |a: &Operand, b: &Operand| -> Vec<Vec<String>> {
        let kept = recent(store.as_ref().expect("store"), &mut Vec::new()).expect("read");
        let groups = kept_like(&[a, b], &kept);
        let ids = |group: &Vec<Run>| group.iter().map(|r| r.id[..4].to_string()).collect();
        groups.iter().map(ids).collect()
    };
    assert_eq!(like(&of("eeee"), &of("dddd")), [["bbbb", "aaaa"]]);
    // One group for both kernels' sides where only one has others.
    assert_eq!(like(&of("eeee"), &of("cccc")), [["dddd", "bbbb", "aaaa"]]);
    assert!(like(&of("@lab"), &of("2012")).is_empty());
}

/// Why each command that takes a run finds none of this name.
fn refused(name: &str, store: &Result<Store, StoreError>) -> [String; 3] {
    let references = References::embedded().expect("tables");
    let run = crate::path_named(name, store).and_then(|path| crate::read_run(&path));
    let rows = ["cpu.add_i32".to_owned()];
    let baseline = crate::baseline::baseline(name, store, &references, &rows, &mut Vec::new());
    [
        run.expect_err("no run").to_string(),
        find_operand(name, store, &references, &mut Vec::new()).expect_err("no run").to_string(),
        baseline.expect_err("no run").to_string(),
    ]
}

#[test]
fn what_a_name_leads_to_is_said_alike_by_all_commands() {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Ok(Store::in_directory(dir.path()));
    let pipe = dir.path().join("tags/fif");
    std::fs::create_dir(dir.path().join("tags")).expect("made");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    for error in refused("fif", &store) {
        let said = format!("can't read {}: it is a pipe, not a file", pipe.display());
        assert_eq!(error, said);
    }
    let looped = dir.path().join("loop");
    std::os::unix::fs::symlink(&looped, &looped).expect("made");
    for error in refused(&looped.display().to_string(), &store) {
        assert!(error.contains("Too many levels of symbolic links"), "{error}");
    }
}

#[test]
fn a_stored_run_that_cannot_be_read_is_counted_by_a_comparison_that_would_use_it() {
    let runs = ["aaaa", "bbbb", "cccc", "dddd"].map(|id| (id, "lab", "6.1"));
    let (_dir, store) = kept(&runs);
    let of_user = store.as_ref().expect("store");
    // With the index, which knows them.
    let index = Index::open(of_user.clone()).expect("index");
    assert_eq!(index.runs().expect("runs").len(), 4);
    let paths = of_user.paths().expect("paths");
    for path in &paths[1..3] {
        std::fs::write(path, "{").expect("damaged");
    }
    let mut messages = Vec::new();
    let lab = find_operand("@lab", &store, &references(), &mut messages).expect("@lab");
    assert_eq!(ids(&lab), ["dddd", "aaaa"]);
    let one = find_operand("dddd", &store, &references(), &mut messages).expect("there");
    let recent = recent_like(of_user, &[&one], &mut messages).expect("read");
    assert_eq!(recent.len(), 2);
    let said = "2 stored runs can't be read and count for nothing (latlas atlas verify shows why)";
    assert_eq!(messages, [said], "once");
    let mut messages = Vec::new();
    assert_eq!(super::recent(of_user, &mut messages).expect("read").len(), 2);
    assert_eq!(messages, [said], "and without an index");
}
