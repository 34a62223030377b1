//! No thread, little stack, no memory: an error in a line and exit code 2, or a result; never a panic, an
//! abort or a hang.

use super::processes::with_process_limit;
use crate::support::processes::{copy_for_all, is_root};
use crate::support::{Done, Home, has, skip};

/// Within this time nothing here takes long.
const WITHIN: &str = "timeout --signal=KILL 120";

#[track_caller]
fn ended(done: &Done, what: &str) {
    assert!(matches!(done.code, 0 | 2 | 3), "{what}: {} {}", done.code, done.err);
    for word in ["panicked", "overflowed", "fatal runtime"] {
        assert!(!done.err.contains(word), "{what}: {}", done.err);
    }
}

#[test]
fn a_trace_without_threads_to_record_with_does_not_begin() {
    let home = Home::new();
    let line = "trace -- touch begun";
    let mut refused = 0;
    for limit in 1..8 {
        let done = Done::from_command(&mut with_process_limit(&home, limit, line));
        ended(&done, &format!("{limit} processes"));
        if done.code == 2 {
            refused += 1;
            assert!(!home.path("begun").exists(), "{limit}: {}", done.err);
            let why = ["can't start", "temporarily unavailable"];
            has(&done.err, why);
        }
        let _ = std::fs::remove_file(home.path("begun"));
    }
    assert!(refused >= 3, "it needs two threads and a process: {refused}");
}

#[test]
fn the_index_is_brought_up_to_date_without_a_thread_to_spare() {
    let home = Home::with(&[1, 2, 3]);
    let open = "chmod -R a+rwX data";
    assert_eq!(Done::from_command(&mut home.launch(["sh", "-c", open])).code, 0);
    for line in ["atlas verify", "atlas list"] {
        let done = Done::from_command(&mut with_process_limit(&home, 1, line)).ok();
        // Another user's: the directory may be warned of, the documents are read.
        has(&done.out, ["3"]);
    }
    // Its index is not used, since every user could change it.
    let done = Done::from_command(&mut with_process_limit(&home, 1, "atlas rebuild"));
    assert_eq!(done.code, 2);
    has(&done.err, ["can't rebuild the index", "writable by other users"]);
}

#[test]
fn what_needs_threads_names_them_where_there_are_none() {
    let home = Home::new();
    for line in ["noise measure --for 100ms", "history --cpus --for 100ms"] {
        let done = Done::from_command(&mut with_process_limit(&home, 1, line));
        ended(&done, line);
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        has(&done.err, ["thread"]);
    }
}

#[test]
fn a_small_stack_is_enough() {
    let home = Home::with(&[1, 2]);
    for kib in [64, 128, 256, 1024] {
        for line in [
            "list",
            "--help",
            "show",
            "report last --out r.html",
            "compare last last",
            "run --quick --budget 1s cpu.add_i64",
            "exec --runs 2 -- true",
        ] {
            let limit = format!("ulimit -s {kib}");
            let done = Done::from_command(&mut home.limited(&limit, line));
            assert!(matches!(done.code, 0 | 3), "{kib} {line}: {} {}", done.code, done.err);
        }
    }
    if !is_root() {
        return skip("only root can limit the processes of another user");
    }
    // Neither a stack nor a thread that would have one.
    copy_for_all(&home);
    let little = "sh -c 'ulimit -s 64; exec \"$@\"' sh";
    let nobody = "setpriv --reuid=54300 --regid=54300 --clear-groups prlimit --nproc=1";
    let mut command = home.launch(format!("{little} {nobody} ./latlas list"));
    Done::from_command(&mut command).refused("can't start a thread");
}

#[test]
fn an_allocation_that_fails_is_an_error() {
    let home = Home::with(&[1]);
    // Read as a whole, and larger than what latlas asks for at its start.
    home.write("large.json", vec![b' '; 60 << 20]);
    let limited = |kib: u32, line: &str| {
        let limit = format!("ulimit -v {kib}; exec {WITHIN} \"$@\"");
        Done::from_command(&mut home.limited(&limit, line))
    };
    // From where the system can load the program.
    let first = (40_000..400_000).step_by(4_000);
    let first = first.clone().find(|&kib| matches!(limited(kib, "--version").code, 0 | 2));
    let first = first.expect("some limit");
    let mut named = 0;
    for kib in (first..first + 100_000).step_by(10_000) {
        for line in ["show", "import --format run large.json", "atlas rebuild"] {
            let done = limited(kib, line);
            ended(&done, &format!("{kib} KiB: {line}"));
            named += u32::from(done.err.contains("latlas: out of memory: can't allocate "));
        }
    }
    assert!(named > 0, "no allocation failed");
}
