//! One CPU, little memory, few open files, a full disk.

use super::{reason, row_text};
use crate::support::{Done, Home, has, with_budget};

#[test]
fn with_one_cpu_rows_on_several_are_not_available() {
    let home = Home::new();
    let line = "run cpu.add_i64 memory.read_all_cores --budget 2s --out=run.json";
    let done = Done::from_command(&mut home.wrapped("taskset -c 0", line)).measured();
    has(&done.out, ["not available here: only one CPU"]);
    let run = home.run_json();
    has(reason(&run, "memory.read_all_cores").expect("one CPU"), ["one CPU"]);
    assert!(run.row("cpu.add_i64").and_then(|row| row.estimate()).is_some());
    assert!(run.conditions.remarks.iter().any(|r| r.contains("one CPU")));
}

#[test]
fn short_memory_shrinks_the_working_sets() {
    let home = Home::new();
    // In KiB, of address space, for each process.
    let line = "run memory.read/sequential --quick --budget 4s --out=run.json";
    let done = Done::from_command(&mut home.limited("ulimit -v 600000", line)).measured();
    has(&done.out, ["working sets end at"]);
    let plan = home.run_json().plan;
    let largest = plan.largest_working_set_bytes;
    assert!((16 << 20..256 << 20).contains(&largest), "{largest}");
    assert!(plan.shrunk.is_some());
    Done::from_command(&mut home.limited("ulimit -v 140000", "run memory.latency"))
        .refused("ulimit -v");
}

/// From a limit under which the program can be loaded and no more, up.
#[test]
fn an_address_space_too_small_is_named_with_what_is_needed() {
    let home = Home::new();
    let mut refused = 0;
    for kib in (20_000..200_000).step_by(6_000) {
        let limit = format!("ulimit -v {kib}");
        let Done { code, err, .. } =
            Done::from_command(&mut home.limited(&limit, "exec --runs 2 -- true"));
        match code {
            // Its loader could not even begin it, or nothing was left after that.
            -1 | 127 if refused == 0 => continue,
            0 | 3 if refused > 0 => break,
            2 => refused += 1,
            other => panic!("{kib} KiB: {other:?} {err}"),
        }
        assert_eq!(err.lines().count(), 1, "{err}");
        // Above what latlas itself asks for, the system may refuse in its own words.
        let named = err.contains("address space") && err.contains("ulimit -v");
        assert!(named || refused > 1, "{err}");
    }
    assert!(refused > 0, "some limit lies between");
}

#[test]
fn a_full_disk_behind_out_is_refused_and_the_table_is_printed() {
    let done = Home::new().run("run cpu.add_i64 --budget 1s --out /dev/full").ended_with(2);
    has(&done.err, ["/dev/full"]);
    has(&done.out, ["add_i64"]);
}

#[test]
fn the_seed_is_in_the_document() {
    let home = Home::new();
    for seed in [1, 2] {
        let line = format!("run cpu.add_i64 cpu.mul_i64 --budget 1s --document --seed {seed}");
        assert_eq!(home.measure(line).plan.seed, seed);
    }
}

#[test]
fn with_few_open_files_small_rings_run_and_the_others_are_named() {
    with_budget(|budget| {
        let line = format!("run sched.ring {budget} --document");
        let run = Done::from_command(&mut Home::new().limited("ulimit -n 32", line))
            .measured()
            .document();
        let row = run.row("sched.ring").expect("never dropped");
        let model::run::Outcome::Map { points, .. } = &row.outcome else {
            return Err(format!("no ring at all: {:?}", row.outcome));
        };
        if !points.iter().any(|point| point.y == 2) {
            return Err(row_text(&run, "sched.ring"));
        }
        let large = points.iter().filter(|point| point.y >= 96);
        assert!(large.clone().all(|point| point.estimate.ns().is_none()));
        let missing =
            |note: &String| note.starts_with("not available here at") && note.contains("96 x");
        if !row.notes.iter().any(missing) {
            return Err(row_text(&run, "sched.ring"));
        }
        assert_eq!(large.count(), 0);
        Ok(())
    });
}

#[test]
fn too_few_open_files_hide_no_stored_run() {
    let home = Home::with(&[1, 2, 3]);
    let limited = |limit: u32, line: &str| {
        Done::from_command(&mut home.limited(&format!("ulimit -n {limit}"), line))
    };
    let remove_index = || {
        for path in crate::support::entries(&home.path("data")) {
            if path.is_file() {
                std::fs::remove_file(path).expect("removed");
            }
        }
    };
    let mut refused = [0, 0];
    // From what the loader of the program needs up to what is enough.
    for limit in (4..20).filter(|&limit| limited(limit, "--version").code == 0) {
        remove_index();
        let listed = limited(limit, "atlas list");
        match listed.code {
            0 => assert_eq!(listed.out.lines().count(), 4, "{limit}: {}", listed.err),
            2 => {
                has(&listed.err, ["Too many open files"]);
                refused[0] += 1;
            }
            other => panic!("{limit}: {other} {}", listed.err),
        }
        let rebuilt = limited(limit, "atlas rebuild");
        if rebuilt.code != 0 {
            assert!(matches!(rebuilt.code, 2 | 3), "{limit}: {}", rebuilt.err);
            let text = rebuilt.err + &rebuilt.out;
            let why = ["Too many open files", "unable to open database file"];
            assert!(why.iter().any(|why| text.contains(why)), "{limit}: {text}");
            refused[1] += 1;
        }
        let all = home.run("atlas list --json").silent().json();
        assert_eq!(all.as_array().map(Vec::len), Some(3), "{limit}");
    }
    assert!(refused[0] > 0 && refused[1] > 0, "{refused:?}");
}
