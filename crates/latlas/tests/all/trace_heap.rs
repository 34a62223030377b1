//! `latlas trace --malloc`: calls of the allocator in the program that is traced.

use crate::support::processes::copy_program;
use crate::support::{Done, Home, has, lacks, unwrapped};
use crate::trace::{compile, read_trace};
use model::trace::{MemoryOperation, NotRecorded, Trace, summary::summary};
use std::process::Command;

const SIGNPOST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../libraries/signpost");

/// A directory with latlas in `bin`, the library where a package has it, and the program, which may
/// include its header.
fn with_library(options: &[&str]) -> Home {
    let home = Home::new();
    for directory in ["bin", "lib", "lib/latlas"] {
        std::fs::create_dir(home.path(directory)).expect("a directory");
    }
    copy_program(&home.path("bin/latlas"));
    let mut built = Command::new("cc");
    built
        .args(["-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-I", "../include", "-o"])
        .arg(home.path("lib/latlas/liblatlas_malloc.so"))
        .args(["latlas_malloc.c", "-ldl", "-pthread"])
        .current_dir(format!("{SIGNPOST}/malloc"));
    Done::from_command(&mut built).ok();
    let include = format!("-I{SIGNPOST}/include");
    compile(&home, "heap.c", "heap", &[&[&*include], options].concat());
    home
}

/// The recording of a command, which is whole.
fn traced(home: &Home, options: &str, command: &str) -> (Trace, Done) {
    let line = format!("./bin/latlas trace {options} --out t.zst -- {command}");
    let done = Done::from_command(&mut home.launch(line)).recorded();
    let trace = read_trace(home, "t.zst");
    assert_eq!(trace.losses.signposts, 0, "{}", done.err);
    (trace, done)
}

/// Processes of the program, threads of each, and rounds of each thread.
const THREADS: u64 = 2 * 4;
const ROUNDS: u64 = THREADS * 100;
const LARGE: u64 = 100 << 10;

/// Operations with their numbers, all of which have begin and end, and of how much memory they are.
fn heap(trace: &Trace) -> Vec<(MemoryOperation, u64, Option<u64>)> {
    let figures = summary(trace).memory.into_iter();
    let of_heap = |operation| MemoryOperation::OF_HEAP.contains(&operation);
    let figures = figures.filter(|one| of_heap(one.operation)).map(|one| {
        assert_eq!(one.untimed, 0, "{one:?}");
        // How much is usable is the allocator's affair.
        let bytes = one.bytes.filter(|_| one.operation != MemoryOperation::Free);
        (one.operation, one.durations.count() as u64, bytes)
    });
    let mut figures: Vec<_> = figures.collect();
    figures.sort();
    figures
}

/// What the program does, with and without the functions that the header does not replace.
fn expected(has_aligned: bool) -> Vec<(MemoryOperation, u64, Option<u64>)> {
    let mut all = vec![
        (MemoryOperation::Malloc, ROUNDS + THREADS, Some((ROUNDS + THREADS) * LARGE)),
        (MemoryOperation::Calloc, ROUNDS, Some(ROUNDS * LARGE)),
        (MemoryOperation::Realloc, ROUNDS, Some(ROUNDS * 2 * LARGE)),
        (MemoryOperation::Free, 3 * ROUNDS + THREADS, None),
        (MemoryOperation::AlignedAlloc, ROUNDS, Some(ROUNDS * LARGE)),
        (MemoryOperation::Zeroing, ROUNDS, Some(ROUNDS * LARGE)),
    ];
    all.retain(|&(operation, ..)| has_aligned || operation != MemoryOperation::AlignedAlloc);
    all
}

#[test]
fn calls_of_all_threads_and_processes_are_counted_once() {
    let home = with_library(&[]);
    for command in ["./heap", "sh -c 'true; ./heap; true'"] {
        let (trace, done) = traced(&home, "--malloc", command);
        assert_eq!(heap(&trace), expected(true), "{command}: {}", done.err);
        has(&unwrapped(&done.err), ["aligned_alloc", "zeroing", "malloc calls for 64KiB or more"]);
        // They are no signposts, in no table and no picture.
        assert_eq!(trace.signpost_names, [""; 0]);
        lacks(&done.err, ["memory:malloc", "memory:loaded"]);
        let threads = trace.threads.iter().filter(|thread| !thread.heap.is_empty());
        assert_eq!(threads.count() as u64, THREADS, "{command}");
    }
    for out in ["t.svg", "t.pftrace", "t.html"] {
        let line = format!("./bin/latlas trace export t.zst -o {out}");
        Done::from_command(&mut home.launch(line)).ok();
    }
    has(&home.read_file("t.svg"), ["memory operation"]);
    let (few, done) = traced(&home, "--malloc=150KiB", "./heap");
    let counted = heap(&few).into_iter().map(|(operation, count, _)| (operation, count));
    let wanted = [(MemoryOperation::Realloc, ROUNDS), (MemoryOperation::Free, ROUNDS)];
    assert_eq!(counted.collect::<Vec<_>>(), wanted, "{}", done.err);
    let (none, done) = traced(&home, "--malloc", "./heap 1000");
    assert_eq!(heap(&none), []);
    has(&unwrapped(&done.err), ["calls for 64KiB or more: none was seen"]);
    assert_eq!(none.gaps.iter().filter(|gap| gap.reason == NotRecorded::NotLoaded).count(), 0);
}

#[test]
fn a_program_that_loads_nothing_says_so() {
    let home = with_library(&["-static"]);
    let (trace, done) = traced(&home, "--malloc", "./heap");
    assert_eq!(heap(&trace), []);
    has(&unwrapped(&done.err), ["no malloc: the program is linked statically"]);
    let (_, done) = traced(&home, "--malloc", "env -u LD_PRELOAD true");
    has(&unwrapped(&done.err), ["malloc calls for 64KiB or more: none was seen"]);
}

#[test]
fn the_header_counts_in_a_static_program_and_never_twice() {
    for link in ["-static", "-dynamic"] {
        let home = with_library(&["-DHEADER", link]);
        let (trace, done) = traced(&home, "", "./heap");
        assert_eq!(heap(&trace), expected(false), "{link}: {}", done.err);
        let (trace, done) = traced(&home, "--malloc", "./heap");
        let has_aligned = link == "-dynamic";
        assert_eq!(heap(&trace), expected(has_aligned), "{link}: {}", done.err);
    }
}

#[test]
fn what_can_not_be_loaded_is_refused_before_the_command_starts() {
    let home = Home::new();
    let done = home.run("trace --malloc -- touch there");
    assert_eq!((done.code, home.path("there").exists()), (2, false), "{}", done.err);
    has(&unwrapped(&done.err), ["no liblatlas_malloc.so next to latlas", "says how to build it"]);
    for line in ["--malloc --pid 1", "--malloc sched.pool", "--malloc --last 1s -- true"] {
        assert_eq!(home.run(format!("trace {line}")).code, 2, "{line}");
    }
    let home = with_library(&[]);
    let renamed = home.path("a b");
    std::fs::create_dir(&renamed).expect("a directory");
    for directory in ["bin", "lib"] {
        std::fs::rename(home.path(directory), renamed.join(directory)).expect("renamed");
    }
    let line = ["a b/bin/latlas", "trace", "--malloc", "--", "true"];
    let done = Done::from_command(&mut home.launch(line));
    assert_eq!(done.code, 2, "{}", done.err);
    has(&unwrapped(&done.err), ["LD_PRELOAD takes no path with blanks or colons"]);
}
