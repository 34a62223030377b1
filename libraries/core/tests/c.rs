//! A program in C that links the static library, and what it gets into the store.

use model::run::Run;
use std::path::{Path, PathBuf};
use std::process::Command;
use store::exchange::import::{Origin, files, import};
use store::{Store, index};

/// The static library that cargo built for this test: the newest in its directory.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let files = test.parent().expect("a directory").read_dir();
    let files = files.expect("readable").flatten().map(|file| file.path());
    let built = files.filter(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("liblatlas_core-") && name.ends_with(".a")
    });
    let made = |file: &PathBuf| file.metadata().and_then(|file| file.modified()).ok();
    built.max_by_key(made).expect("cargo builds it with the test")
}

/// Builds run.c.
fn built(dir: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = dir.join("run");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let output = Command::new(compiler)
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here.join("include"))
        .arg(here.join("tests/run.c"))
        .arg(library())
        .args(["-lpthread", "-lm", "-ldl", "-o"])
        .arg(&program)
        .output()
        .expect("a C compiler");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    program
}

#[test]
fn a_program_in_c_measures_cancels_and_its_document_is_imported() {
    let dir = tempfile::tempdir().expect("a directory");
    let document = dir.path().join("run.json");
    let output = Command::new(built(dir.path()))
        .arg(&document)
        // Another test may measure at the same time.
        .env("LATLAS_LOCK", dir.path().join("lock"))
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{:?} {said}", output.status);
    let (before, rest) = said.split_once("table: ").expect("a table");
    assert_eq!(
        before,
        "rows: listed\ndocument before: NULL\nmeasured: 0\nprogress: told\nagain: 2\nerror: NULL\n"
    );
    let (table, after) = rest.split_once("kurkin: ").expect("the other one");
    // Its lines are broken anywhere.
    let table: Vec<&str> = table.split_whitespace().collect();
    let table = table.join(" ");
    for text in ["add_i64", "mutex_uncontended", "IN ONE PROCESS: intervals"] {
        assert!(table.contains(text), "no {text:?} in {table}");
    }
    assert_eq!(
        after,
        "drawn\nno such table: NULL\ncancelled: 1\npartial: kept\nrefused: 2\n\
         why: no row \"no.such_row\"; `latlas list` shows all\ndocument: NULL\nnothing: 2\n"
    );

    let run = imported(&document, dir.path());
    let rows: Vec<&str> = run.rows.iter().map(|row| &*row.id).collect();
    assert_eq!(rows, ["cpu.add_i64", "sync.mutex_uncontended"]);
    assert!(run.plan.in_process);
    assert_eq!(run.program.name, "latlas-core");
}

/// The run as the store has it after an import.
fn imported(document: &Path, dir: &Path) -> Run {
    let origin = Origin {
        id: "unused".into(),
        now_unix_ms: sys::realtime_unix_ms(),
        by: "a test".into(),
        name: None,
        machine: None,
    };
    let run =
        import(&[files::read_input(document).expect("read")], None, origin).expect("imported");
    let store = Store::in_directory(&dir.join("store"));
    let (path, _) = index::keep(&store, &run).expect("kept");
    store::read_run(&path).expect("stored")
}
