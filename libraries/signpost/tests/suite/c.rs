//! The header for C, where there is a compiler.

use crate::memory::{SignpostMemory, marks};
use latlas_signpost::layout::{CLOCK_COUNTER, CLOCK_RAW, CLOSED, RECORDS, RecordKind, ring};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The program, compiled; `None` where there is no compiler.
fn compiled(compiler: &str, options: &[&str]) -> Option<(TempDir, PathBuf)> {
    if Command::new(compiler).arg("--version").output().is_err() {
        println!("SKIPPED: there is no {compiler}");
        return None;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("program");
    let mut command = Command::new(compiler);
    command.args(options).args(["-Wall", "-Wextra", "-Werror", "-O1", "-pthread"]);
    command.arg("-I").arg(here.join("include"));
    command.arg("-o").arg(&program);
    command.args(["program.c", "other.c"].map(|file| here.join("tests/suite").join(file)));
    let output = command.output().expect("starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    Some((directory, program))
}

fn writes_the_same(program: &Path) {
    use RecordKind::{Begin, End, Moment};
    for clock in [CLOCK_RAW, CLOCK_COUNTER] {
        let memory = SignpostMemory::new(clock);
        memory.run_command(&mut Command::new(program));
        let main = [
            (Begin, "outer"),
            (Moment, "here"),
            (Begin, "of the other file"),
            (End, "of the other file"),
            (End, "outer"),
        ];
        assert_eq!(marks(&memory.records(0)), main);
        assert_eq!(marks(&memory.records(1)), [(Moment, "in a thread")]);
        // Forked in a stretch, which is the parent's.
        assert_eq!(marks(&memory.records(2)), [(Moment, "in a child")]);
        let owners = [0, 1, 2].map(|ring| memory.of_ring(ring, ring::OWNER));
        assert_eq!(owners[0] >> 32, owners[0] & 0xffff_ffff, "the first thread");
        assert_eq!(owners[1] >> 32, owners[0] >> 32, "a process");
        assert_ne!(owners[2] >> 32, owners[0] >> 32, "a process of its own");
        for ring in 0..3 {
            assert_eq!(memory.of_ring(ring, ring::STATE), CLOSED);
        }
    }
    let memory = SignpostMemory::new(CLOCK_RAW);
    memory.run_command(Command::new(program).arg(RECORDS.to_string()));
    assert_eq!(memory.of_ring(0, ring::HEAD), RECORDS as u64);
    let dropped = RECORDS / 2 + 1;
    assert_eq!(memory.of_ring(0, ring::DROPPED), dropped as u64);
    // Without the variable: nothing, and no error.
    let status = Command::new(program).status().expect("starts");
    assert!(status.success());
}

#[test]
fn a_program_in_c_writes_the_same() {
    if let Some((_directory, program)) =
        compiled("cc", &["-std=c11", "-D_DEFAULT_SOURCE", "-pedantic"])
    {
        writes_the_same(&program);
    }
}

#[test]
fn a_program_in_c_plus_plus_writes_the_same() {
    if let Some((_directory, program)) = compiled("c++", &["-std=c++11", "-x", "c++"]) {
        writes_the_same(&program);
    }
}
