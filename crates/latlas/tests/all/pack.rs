//! Probe packs: built here by the C compiler, some with a fault on purpose.

use crate::support::processes::signal;
use crate::support::{Done, Home, has, lacks, skip, there, with_budget};
use model::run::{Outcome, Run};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/packs");
const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packs/include");
const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/packs.md");

/// A home with this source built as `NAME.so`; `None` without a compiler.
fn built(home: &Home, source: &str, name: &str, define: &str) -> Option<()> {
    if !there("cc") {
        return None;
    }
    let library = home.path(&format!("{name}.so"));
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-Wall", "-Werror", "-O2", "-fPIC", "-shared", "-Wl,-z,now"]);
    cc.args(["-I", INCLUDE, &format!("-D{define}"), &format!("{PACKS}/{source}"), "-o"]);
    let done = Done::from_command(cc.arg(library));
    assert_eq!(done.code, 0, "{}", done.err);
    Some(())
}

/// Rows by id: measured, or the reason.
fn outcomes(run: &Run, group: &str) -> String {
    let rows = run.rows.iter().filter(|row| row.id.starts_with(group));
    let text = rows.map(|row| match &row.outcome {
        Outcome::Unavailable { reason } => format!("{}: {reason}\n", row.id),
        Outcome::Figure(_) => format!("{}: measured\n", row.id),
        other => panic!("{}: {other:?}", row.id),
    });
    without_times(&text.collect::<String>())
}

/// Times and ratios differ from run to run.
fn without_times(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.replace(" (core dumped)", "");
        match (line.find("about "), line.find(" take "), line.find(" times as long")) {
            (Some(about), ..) => match line.find("; ") {
                Some(rest) => line[..about].to_owned() + "about T" + &line[rest..],
                None => line[..about].to_owned() + "about T",
            },
            (_, Some(from), Some(to)) => line[..from].to_owned() + " take R" + &line[to..],
            _ => line,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_fault_costs_its_row_and_nothing_else() {
    let home = Home::new();
    if built(&home, "faults.c", "faults", "_GNU_SOURCE").is_none() {
        return;
    }
    let done = with_budget(|budget| {
        let line = format!("run {budget} --document --pack faults.so 'f.*' cpu.add_i64");
        let done = home.run(line).measured();
        let own = workers_of(&done.document(), "f.good");
        // Workers of the pack's own, and all of them although some were lost.
        match (8..16).all(|worker| own.contains(&worker)) {
            true => Ok(done),
            false => Err(format!("{own:?}: {:?}", done.document().conditions.remarks)),
        }
    });
    insta::assert_snapshot!("faults", outcomes(&done.document(), "f."));
    assert_eq!(
        outcomes(&done.document(), "cpu.add_i64"),
        "cpu.add_i64: measured\ncpu.add_i64/throughput: measured"
    );
    has(
        &done.err,
        ["cpu.add_i64 is a row of latlas itself; ignored", "f.hang: its pack did not return"],
    );
    let run = done.document();
    let (own, ours) = (workers_of(&run, "f.good"), workers_of(&run, "cpu.add_i64"));
    assert_eq!(own, (8..16).collect(), "none of the catalogue's");
    assert!(ours.last().is_some_and(|&last| last < 8), "{ours:?}");
}

/// The workers that have samples of a row.
fn workers_of(run: &Run, row: &str) -> BTreeSet<u32> {
    let cells = run.cells.iter().filter(|cell| cell.row == row);
    let samples = cells.flat_map(|cell| cell.samples.samples().expect("whole"));
    samples.map(|sample| sample.worker).collect()
}

#[test]
fn what_a_traced_row_prints_is_not_taken_for_its_answer() {
    let home = Home::new();
    if built(&home, "faults.c", "faults", "_GNU_SOURCE").is_none() {
        return;
    }
    let trace = |row: &str| home.run(format!("trace {row} --operations 5 --pack faults.so"));
    has(&trace("f.good/stamped").recorded().out, ["f.good/stamped"]);
    has(&trace("g.prints").recorded().out, ["g.prints"]);
    for row in ["g.ends", "g.leaves"] {
        let ended = trace(row);
        assert_eq!(ended.code, 2, "{row}: {}", ended.err);
        has(&ended.err, ["its pack ended the process that ran it"]);
    }
    kill_left(&home);
}

/// Kills what `g.leaves` left running, which nothing waited for.
#[track_caller]
fn kill_left(home: &Home) {
    for process in home.read_file("left").lines() {
        signal(process.parse().expect("a number"), "KILL");
    }
}

#[test]
fn check_says_what_is_wrong_with_each_probe() {
    let home = Home::new();
    if built(&home, "faults.c", "faults", "_GNU_SOURCE").is_none() {
        return;
    }
    let done = home.run("pack check faults.so").ended_with(1);
    kill_left(&home);
    insta::assert_snapshot!("check", without_times(&done.out));
}

#[test]
fn files_that_are_no_packs_are_refused_and_in_the_directory_skipped() {
    let home = Home::new();
    let others =
        ["NO_PACK", "NULL_PACK", "SMALL_PROBES", "MANY_PROBES", "MISSING_SYMBOL", "CRASHES"];
    for other in others {
        if built(&home, "other.c", other, other).is_none() {
            return;
        }
    }
    home.write("text.so", "not a library");
    let lines = others.map(|other| format!("list --pack {other}.so\n")).concat();
    let more =
        "list --pack text.so\nlist --pack missing.so\nlist --pack .\npack check NO_PACK.so\n";
    insta::assert_snapshot!(
        "refused",
        home.refusals(&(lines + more)).replace(" (core dumped)", "")
    );
    std::fs::create_dir_all(home.path("data/packs")).expect("a directory");
    std::fs::copy(home.path("NULL_PACK.so"), home.path("data/packs/null.so")).expect("copied");
    let done = home.run("list cpu.add_i64").ok();
    has(
        &done.err,
        ["skipped: pack ", "null.so is not a probe pack: latlas_probe_pack() returned NULL"],
    );
}

#[test]
fn a_pack_of_another_version_has_rows_that_say_so() {
    let home = Home::new();
    if built(&home, "other.c", "two", "VERSION_2").is_none() {
        return;
    }
    let run = home.measure("run --quick --document --pack two.so two.one two.two cpu.add_i64");
    insta::assert_snapshot!("version", outcomes(&run, "two."));
}

#[test]
fn packs_of_the_directory_are_always_there() {
    let home = Home::new();
    home.write("data/packs/README", "not a library by its name");
    if built(&home, "other.c", "data/packs/two", "VERSION_2").is_none() {
        return;
    }
    has(&home.run("list 'two.*'").silent().out, ["two.one", "two.two"]);
    let own = home.path("own");
    std::fs::rename(home.path("data/packs"), &own).expect("moved");
    home.run("list 'two.*'").refused("no row");
    home.write("config/latlas/config", format!("--pack '{}'\n", own.join("two.so").display()));
    has(&home.run("explain two.one").silent().out, ["the pack second"]);
}

#[test]
fn each_template_builds_and_has_no_fault() {
    let tools = [
        ("c", "cc"),
        ("cpp", "c++"),
        ("rust", "cargo"),
        ("go", "go"),
        ("zig", "zig"),
        ("swift", "swiftc"),
        ("objc", "gnustep-config"),
    ];
    for (language, tool) in tools {
        let home = Home::new();
        let name = format!("my_{language}");
        has(&home.out(format!("pack new {language} {name}")), ["make -C my_"]);
        home.run(format!("pack new {language} {name}")).refused("exists: left unchanged");
        if !there("make") || !there(tool) {
            continue;
        }
        // That of rustup is none without its files, which are in the caller's home directory.
        if language == "rust" && Done::from_command(&mut home.launch("cargo --version")).code != 0 {
            skip("cargo does not run");
            continue;
        }
        let made = Done::from_command(&mut home.launch(["make", "-C", &name]));
        assert_eq!(made.code, 0, "{language}: {}", made.err);
        lacks(&made.err, ["warning"]);
        let library = format!("{name}/{name}.so");
        let checked = home.run(format!("pack check {library}")).ok();
        has(&checked.out, [&*format!("pack {name}: 1 probe"), "  ok  "]);
        let explained = home.out(format!("explain --pack {library} {name}"));
        has(&explained, [&*name]);
        if language == "cpp" && there("objdump") {
            assert_called_indirectly(&home, &library);
        }
    }
}

/// A compiler that sees one class compares its address and inlines it: then no call is measured.
fn assert_called_indirectly(home: &Home, library: &str) {
    let code =
        Done::from_command(&mut home.launch(["objdump", "-d", "--no-show-raw-insn", library])).out;
    let (_, body) = code.split_once("virtual_callPvm>:").expect("the loop");
    let body = body.split("\n\n").next().expect("its instructions");
    assert!(body.contains("call   *") || body.contains("blr"), "{body}");
}

#[test]
fn names_that_can_not_be_a_pack_are_refused() {
    let home = Home::new();
    let lines = "pack new c Mine\npack new c ''\npack new c ../x\npack new c cpu\npack new fortran mine\npack check none.so";
    insta::assert_snapshot!("names", home.refusals(lines));
}

#[test]
fn the_page_shows_the_templates() {
    let page = std::fs::read_to_string(DOCS).expect("docs/packs.md");
    let templates = Path::new(INCLUDE).with_file_name("templates");
    for file in ["c/NAME.c", "rust/src/lib.rs"] {
        let text = std::fs::read_to_string(templates.join(file)).expect("a template");
        assert!(
            page.contains(&text.replace("@NAME@", "mine")),
            "docs/packs.md differs from packs/templates/{file}"
        );
    }
    let header = std::fs::read_to_string(format!("{INCLUDE}/latlas_probe.h")).expect("the header");
    has(&header, [&*format!("#define LATLAS_PROBE_VERSION {}u\n", sys::pack::VERSION)]);
}
