//! `latlas exec`: what it refuses, measures and stores. `ending.rs`: interrupted or killed, it leaves no
//! process running; `habits.rs`: the options of hyperfine, perf stat and time; `rights.rs`: as a user without privileges.

mod ending;
mod habits;
mod rights;

use crate::support::{Done, Home, PROGRAM, has, lacks, skip};
use model::command::{Ended, PageCache};
use model::compare::finding;
use model::estimate::Verdict;
use model::run::Run;
use serde_json::Value;

fn value(run: &Run, id: &str) -> f64 {
    let row = run.row(id).unwrap_or_else(|| panic!("no row {id}"));
    row.estimate().and_then(|e| e.ns()).expect("a figure").value
}

#[test]
fn what_is_wrong_is_refused_and_nothing_is_kept() {
    let home = Home::new();
    home.write("in", "x\n");
    for (name, text) in [("script", "exit 0\n"), ("no-interpreter", "#!/no/such/thing\n")] {
        home.write(name, text);
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(home.path(name), executable).expect("a mode");
    }
    insta::assert_snapshot!(home.refusals(
        r#"exec -- no-such-program
           exec -- /etc/passwd
           exec -- /
           exec -- ./script
           exec -- ./no-interpreter
           exec -- "ls | wc"
           exec -- -x
           exec -- false
           exec --warmup 0 -- false
           exec -- sh -c "echo oh no >&2; exit 3"
           exec --warmup 0 --output show -- false
           exec -- sh -c "for k in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $k >&2; done; exit 3"
           exec -- sh -c "kill -SEGV $$"
           exec --ignore-failure=0 -- true
           exec -- sh -c "kill -STOP $$"
           exec --vs false -- true
           exec --vs "a 'b" -- true
           exec --name a --name b -- true
           exec --vs true --name a --name a -- true
           exec --check "grep -q y" -- echo x
           exec --check true --warmup 0 -- true
           exec --check no-such-check -- true
           exec --input in --output ./in -- cat
           exec --output new.json --out new.json -- true
           exec --input absent -- true
           exec --output absent/x -- true
           exec --cold-files absent -- true
           exec --timeout 150ms -- sleep 86399
           exec --warmups 3 -- true
           exec --pin ls"#
    ));
    assert_eq!(home.read_file("in"), "x\n", "untouched");
    assert_eq!(home.kept_documents(), 0);
}

#[test]
fn behind_the_command_everything_is_the_commands() {
    let run = Home::new().measure("exec -r 6 --document -- sh -c 'exit 0' -r --json");
    let words = run.commands.expect("commands").commands.remove(0).words;
    assert_eq!(words, ["sh", "-c", "exit 0", "-r", "--json"]);
}

#[test]
fn no_time_limit_is_too_long() {
    let run = Home::new().measure("exec -r 6 --timeout 9223372036854775807s --document -- true");
    assert!(value(&run, "exec.true/wall") > 0.0);
}

#[test]
fn a_parent_that_ignores_its_children_is_no_obstacle() {
    // A shell would not do: dash hears of its children in any case.
    let line = "exec -r 6 --document -- true";
    let run = Done::from_command(&mut Home::new().wrapped("env --ignore-signal=CHLD", line))
        .measured()
        .document();
    assert!(value(&run, "exec.true/wall") > 0.0);
}

#[test]
fn a_command_that_wants_the_terminal_is_not_waited_for() {
    // A terminal of its own, with latlas in its foreground.
    let line = format!("'{PROGRAM}' exec -- sh -c 'read x </dev/tty'");
    let mut command = Home::new().launch(["script", "-qec", &line, "/dev/null"]);
    let Ok(output) = command.output() else {
        return skip("there is no script(1)");
    };
    has(&Done::from(output).ended_with(2).out, ["(SIGTTIN)", "terminal"]);
}

/// Counts its runs in the file `n`; `then` runs as well.
fn counting(then: &str) -> String {
    format!("sh -c 'n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n; {then}'")
}

#[test]
fn a_run_that_latlas_slept_through_is_made_again() {
    let home = Home::new();
    let command = counting("if [ $n = 3 ]; then kill -CONT $PPID; fi");
    let run = home.measure(format!("exec -r 6 -w 1 --document -- {command}"));
    let wall = run.row("exec.sh/wall").and_then(|r| r.estimate().cloned());
    assert_eq!(wall.and_then(|e| e.typical).expect("runs").samples, 6);
    assert_eq!(home.read_file("n").trim(), "8", "a warm-up, six, and one again");
    has(&run.conditions.remarks.join(" "), ["during 1 of the runs"]);
}

#[test]
fn a_first_run_of_a_single_long_command_counts() {
    let runs = |options: &str, then: &str| {
        let home = Home::new();
        let run = home.run(format!("exec -r 3 --document {options} -- {}", counting(then)));
        let record = run.document().commands.expect("commands");
        (home.read_file("n").trim().to_owned(), record.warmups)
    };
    assert_eq!(runs("", "sleep 0.11"), ("3".into(), 0));
    assert_eq!(runs("-w 1", "sleep 0.11"), ("4".into(), 1), "asked for");
    assert_eq!(runs("", "sleep 0.11; echo a >&2"), ("4".into(), 1), "with another stderr");
    assert_eq!(runs("--output show", "sleep 0.11"), ("4".into(), 1), "with another stdout");
    assert_eq!(runs("--vs true", "sleep 0.11"), ("4".into(), 1), "one of two");
}

#[test]
fn a_time_that_is_not_known_is_no_success() {
    // Every second run takes a hundred times as long: the counts are known, the time is not.
    let command = counting("if [ $((n%2)) = 1 ]; then sleep 0.3; fi");
    let done = Home::new().run(format!("exec -r 8 --document -- {command}")).ended_with(3);
    let run = done.document();
    let verdict = |id: &str| run.row(id).and_then(|r| r.estimate()).expect("one").verdict;
    assert_ne!(verdict("exec.sh/wall"), Verdict::Ok);
    assert_eq!(verdict("exec.sh/major_faults"), Verdict::Ok);
}

#[test]
fn runs_that_failed_are_timed_and_nothing_is_concluded_from_them() {
    let home = Home::new();
    let line = "exec -r 12 --ignore-failure --out run.json --vs false -- sleep 0.02";
    let out = home.run(line).ended_with(3).out;
    let failed = "all 12 runs failed (exit code 1)";
    has(&out, [failed, "not comparable"]);
    lacks(&out, ["different", "same within noise"]);
    let run = home.run_json();
    let record = run.commands.as_ref().expect("commands");
    assert_eq!(record.commands[1].failures, 12);
    assert_eq!((record.commands[1].ends[0].code, record.commands[1].ends[0].runs), (Some(1), 12));
    for one in &record.compared {
        assert_eq!(one.why.as_deref(), Some(&*format!("false: {failed}")));
        assert_eq!(one.word, finding::Verdict::CannotTell);
    }
    let wall = run.row("exec.false/wall").and_then(|row| row.estimate()).expect("timed");
    assert_eq!((wall.verdict, &*wall.reason), (Verdict::Invalid, failed));
    assert!(wall.typical.expect("timed").ns.value > 0.0);

    // Nothing that reads the stored run concludes from it either.
    home.run("exec -r 12 --name false -- sleep 0.02").measured();
    let compared = home.run("compare last~1 last --json").json();
    let rows = compared[0]["rows"].as_array().expect("rows");
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!(row["finding"], "inconclusive", "{row}");
        assert_eq!(row["ratio"], Value::Null, "{row}");
        has(&row["why"].to_string(), [failed]);
    }
    for format in ["jsonl", "csv", "markdown", "hyperfine", "google-benchmark"] {
        let text = home.out(format!("export last~1 --format {format}"));
        has(&text, ["invalid", failed]);
    }
    has(&home.out("show last~1 --all"), [failed]);
    let document = home.json("show last~1 --document");
    let id = document["id"].as_str().expect("an id");
    home.run(format!("report {id} --out page.html")).measured();
    has(&home.read_file("page.html"), [failed]);
}

#[test]
fn an_exit_code_that_is_accepted_is_success() {
    let home = Home::new();
    let line = "exec -r 8 --ignore-failure=1,3 --document";
    let run = home.measure(format!("{line} -- sh -c 'exit 3'"));
    let command = &run.commands.expect("commands").commands[0];
    assert_eq!((command.failures, command.ends[0].code), (0, Some(3)));
    let wall = run.rows[0].estimate().expect("a figure");
    assert_ne!(wall.verdict, Verdict::Invalid);
    has(&home.out("show"), ["exit code 3 in all runs, accepted"]);
    home.run(format!("{line} -- sh -c 'exit 2'")).refused("exit code 2");
    // Not twice the same work: nothing is said of both.
    let counted = counting("exit $((n%2))");
    let varied = home.run(format!("{line} -- {counted}")).ended_with(3).document();
    let reason = &varied.rows[0].estimate().expect("a figure").reason;
    has(reason, ["different ways (exit code", "exit code 0 in 4"]);
    let both = home.run(format!("{line} --vs true -- sh -c 'exit 1'")).ended_with(3).document();
    let why = both.commands.expect("commands").compared[0].why.clone();
    has(&why.expect("why"), ["sh ended with exit code 1, true with exit code 0"]);
}

#[test]
fn a_command_that_is_not_what_it_was_is_marked() {
    let home = Home::new();
    let script = "#!/bin/sh\n[ -e n ] && touch -d @1 prog\n: >>n\n";
    home.write("prog", script);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(home.path("prog"), executable).expect("a mode");
    let run = home.run("exec -r 6 --document -- ./prog").ended_with(3).document();
    assert!(run.commands.expect("commands").commands[0].replaced);
    has(&home.out("show"), ["the file of its program changed"]);
    let again = home.measure("exec -r 6 --document -- ./prog");
    assert!(!again.commands.expect("commands").commands[0].replaced);

    home.write("in", "a\nb\n");
    let line = "exec -r 6 --input in --output out --document --vs 'sh -c :' -- wc -l";
    let commands = home.run(line).ended_with(3).document().commands.expect("commands");
    let [reads, does_not] = &commands.commands[..] else { panic!("two") };
    assert_eq!((reads.input_unread, does_not.input_unread), (false, true));
    assert_eq!(reads.output_bytes, Some([2, 2]));
    has(commands.compared[0].why.as_deref().expect("why"), ["no run read its input"]);
}

#[test]
fn a_run_is_kept_and_shown_again_as_it_was() {
    let home = Home::new();
    let out = home.run("exec -r 8 --out run.json --name nothing -- true").measured().out;
    has(&out, ["nothing  true", "8 runs timed", "wall"]);
    let few = |line: &str| line.chars().count() <= 80 || line.contains("/runs/");
    assert!(out.lines().all(few), "{out}");
    has(&home.out("show --all"), ["exec.nothing  true", "page cache  warm"]);
    assert_eq!(home.kept_documents(), 1);
    assert_eq!(home.run("show last").out, out);
    let run = home.run_json();
    for cell in &run.cells {
        assert_eq!(cell.samples.samples().expect("whole").len(), 8);
    }
    let record = run.commands.as_ref().expect("commands");
    assert_eq!(record.commands[0].words, ["true"]);
    assert_eq!((record.ended, &record.page_cache), (Ended::AsAsked, &PageCache::Warm));
    assert!(value(&run, "exec.nothing/wall") > value(&run, "exec.nothing/start"));
    assert!(value(&run, "exec.nothing/faults") > 10.0);
}

#[test]
fn two_commands_are_interleaved_and_compared() {
    let busy = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done";
    let vs = format!("sh -c '{busy}; {busy}; {busy}'");
    let line =
        ["exec", "--document", "-r", "12", "--seed", "3", "--vs", &vs, "--", "sh", "-c", busy];
    let run = Home::new().measure(line);
    let record = run.commands.as_ref().expect("commands");
    let names: Vec<&str> = record.commands.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["sh", "sh-2"]);
    let times = |id: &str| -> Vec<u32> {
        let cell = run.cells.iter().find(|c| c.row == id).expect("a cell");
        let samples = cell.samples.samples().expect("whole");
        samples.iter().map(|s| s.at_ms).collect()
    };
    // The rounds of the two overlap in time.
    let (first, second) = (times("exec.sh/wall"), times("exec.sh-2/wall"));
    assert_eq!((first.len(), second.len()), (12, 12));
    let mut rounds = first.windows(2).zip(&second);
    assert!(rounds.all(|(own, other)| own[0] <= *other + 1000));
    assert!(first[11] >= second[10].min(second[9]));
    let compared = |row: &str| record.compared.iter().find(|c| c.row == row);
    let wall = compared("wall").expect("compared");
    assert_eq!((wall.name.as_str(), wall.rounds), ("sh-2", 12));
    // Three times the work: no machine is so noisy that its CPU time is not more.
    if let Some(clock) = compared("task_clock") {
        assert_eq!(clock.word, finding::Verdict::Different);
        assert!(clock.ratio.expect("twelve rounds").low > 1.0);
    }
}

#[test]
fn streams_go_where_they_should() {
    let home = Home::new();
    home.write("in", "from a file\n");
    home.run("exec -r 6 --input in --output out -- cat").measured();
    assert_eq!(home.read_file("out"), "from a file\n", "emptied before each run");
    let shown = home.run("exec -r 6 --output show --document -- echo hello").measured();
    assert_eq!(shown.err, "hello\n".repeat(6), "the warm-up's is not shown");
    shown.document();
    assert_eq!(home.run("exec -r 6 -- sh -c 'echo a; echo b >&2'").err, "");
    // Its input is empty, not ours.
    home.run("exec -r 6 -- sh -c '! read x'").measured();
}

#[test]
fn a_check_gets_the_whole_output_of_the_warm_up() {
    let home = Home::new();
    home.write("expected", "a\nb\n");
    let exec = |text: &str| {
        home.run(format!("exec --all -r 6 --check 'cmp - expected' -- printf '{text}'"))
    };
    has(&exec("a\\nb\\n").out, ["\"cmp - expected\""]);
    exec("a\\nc\\n").refused("\"- expected differ");
}

#[test]
fn a_shells_own_cost_is_stated() {
    let out = Home::new().run("exec --all -r 6 --shell -- 'echo a | cat'").out;
    has(&out, ["echo  echo a | cat (in a shell)", "`sh -c :` alone takes"]);
}

#[test]
fn a_pinned_command_has_its_cpu_for_itself() {
    let cpus = sys::allowed_cpus().expect("known");
    let cpu = cpus[cpus.len() - 1];
    let home = Home::new();
    let check =
        format!("grep -qx 'Cpus_allowed_list:\t{cpu}' /proc/self/status && test $(nice) = 5");
    let pin = cpu.to_string();
    let run = home.measure([
        "exec",
        "-r",
        "6",
        "--nice=5",
        "--pin",
        &pin,
        "--document",
        "--",
        "sh",
        "-c",
        &check,
    ]);
    let controls = run.commands.expect("commands").controls;
    assert_eq!((controls.pinned_cpu, controls.nice), (Some(cpu), Some(5)));
    assert_eq!(controls.observer_apart, cpus.len() > 1);
    let one = Done::from_command(
        &mut home.wrapped(format!("taskset -c {cpu}"), "exec -r 6 --pin -- true"),
    );
    has(&crate::support::unwrapped(&one.out), ["only one CPU may be used"]);
}

#[test]
fn cold_files_are_cold_or_named() {
    let home = Home::new();
    home.write("data.bin", vec![7; 300_000]);
    let exec =
        |more: &str| home.run(format!("exec {more} -r 6 --cold-files data.bin -- cat data.bin"));
    let cache = exec("--document").measured().document().commands.expect("commands").page_cache;
    let PageCache::ColdFiles { files, stayed_pages, untold } = cache else {
        panic!("{cache:?}");
    };
    assert_eq!(files, ["data.bin"]);
    assert_eq!(untold, [""; 0], "it is ours");
    // On a tmpfs all of them stay, and then no figure is one of a cold file.
    let out = exec("").out;
    match stayed_pages > 0 {
        true => has(&out, ["NOT ALL COLD", "INVALID: not all cold"]),
        false => lacks(&out, ["NOT ALL COLD", "not all cold"]),
    }
    home.write("empty.bin", []);
    let empty = home.run("exec -r 6 --cold-files empty.bin -- true");
    empty.refused("empty.bin is empty: there is nothing to drop");
}

#[test]
fn what_stays_in_memory_is_not_timed_as_cold() {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    if !mounts.contains(" /dev/shm tmpfs ") {
        skip("/dev/shm is no tmpfs");
        return;
    }
    let home = Home::new();
    let file = tempfile::NamedTempFile::new_in("/dev/shm").expect("a file");
    std::fs::write(file.path(), vec![7; 300_000]).expect("written");
    let path = file.path().display();
    let done = home.run(format!("exec --document -r 6 --cold-files {path} -- cat {path}"));
    assert_eq!(done.code, 3, "{}", done.err);
    let run = done.document();
    let estimate = run.row("exec.cat/wall").and_then(|row| row.estimate());
    let estimate = estimate.expect("a figure");
    assert_eq!(estimate.verdict, Verdict::Invalid);
    let pages = 300_000_usize.div_ceil(sys::pages::base_page_bytes());
    let expected =
        format!("not all cold: up to {pages} pages of the dropped files stayed in memory");
    assert_eq!(estimate.reason, expected);
}

#[test]
fn a_shell_is_not_timed_without_a_command() {
    let home = Home::new();
    for line in ["''", "'  '", "'# nothing'"] {
        home.run(format!("exec --shell -r 2 -- {line}")).refused("no command in");
        home.run(format!("exec --shell -r 2 --vs {line} -- true")).refused("no command in");
    }
    home.run("exec --shell -r 2 --document -- ':'").measured();
}
