//! Commands under control: what is counted of programs that do a known number
//! of things, and what is left when one is killed.
#![cfg(target_os = "linux")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use sys::child::{Environment, Program, fork_exec_wait};
use sys::command::{
    Command, Controls, End, Finished, Group, Limits, NotStarted, Streams, find_program,
};
use sys::counters::{Counted, Counters, Event};

const KNOWN: &str = "LATLAS_TEST_KNOWN_PROGRAM";

/// Not a test of its own: what the others start, by the name of this test.
#[test]
fn known_program() {
    let Ok(what) = std::env::var(KNOWN) else {
        return;
    };
    let (kind, number) = what.split_once(':').expect("kind:number");
    let number: usize = number.parse().expect("a number");
    match kind {
        "sleeps" => {
            for _ in 0..number {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        "pages" => {
            let page = sys::base_page_bytes();
            // One by one, so that no huge page serves many of them.
            let mut kept = Vec::with_capacity(number);
            for _ in 0..number {
                let mut mapping = sys::Mapping::new(page).expect("memory");
                mapping.as_mut_slice()[0] = 1;
                kept.push(mapping);
            }
            std::hint::black_box(&kept);
        }
        "moves" => {
            let cpus = sys::allowed_cpus().expect("known");
            for k in 0..number {
                sys::pin_to(&[cpus[k % 2]]).expect("allowed");
            }
        }
        "children" => {
            let path = find_program(OsStr::new("true")).expect("true");
            let program = Program::new(&path, &[], Environment::Empty).expect("true");
            for _ in 0..number {
                fork_exec_wait(&program).expect("a child");
            }
        }
        "spins" => {
            let began = sys::child::family_cpu_ns().expect("getrusage");
            let enough = number as u64 * 1_000_000;
            while sys::child::family_cpu_ns().expect("getrusage") - began < enough {}
        }
        other => panic!("{other}"),
    }
}

struct Bench {
    group: Group,
    counters: Counters,
    null: File,
}

impl Bench {
    fn new() -> Bench {
        let null = File::options().read(true).write(true).open("/dev/null");
        Bench {
            group: Group::start().expect("a group"),
            counters: Counters::open(),
            null: null.expect("/dev/null"),
        }
    }

    fn try_run(
        &mut self,
        words: &[&OsStr],
        controls: &Controls,
        output: Option<&File>,
        limits: Limits,
    ) -> Result<Finished, NotStarted> {
        let path = find_program(words[0]).expect("in PATH");
        let command = Command::new(words[0], &path, &words[1..], controls).expect("a program");
        let streams = Streams {
            input: self.null.as_fd(),
            output: output.unwrap_or(&self.null).as_fd(),
            error: self.null.as_fd(),
        };
        self.group
            .run(&command, streams, &mut self.counters, limits)
    }

    fn run(&mut self, words: &[&str]) -> Finished {
        let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        self.try_run(&words, &Controls::default(), None, Limits::default())
            .expect("it starts")
    }

    /// What `known_program` costs when it does `number` things.
    fn known(&mut self, kind: &str, number: usize, controls: &Controls) -> Finished {
        let this = std::env::current_exe().expect("a name");
        let variable = OsString::from(format!("{KNOWN}={kind}:{number}"));
        let words: [&OsStr; 7] = [
            OsStr::new("env"),
            &variable,
            this.as_os_str(),
            OsStr::new("--exact"),
            OsStr::new("known_program"),
            OsStr::new("--test-threads=1"),
            OsStr::new("--quiet"),
        ];
        let finished = self
            .try_run(&words, controls, None, Limits::default())
            .expect("it starts");
        assert_eq!(finished.end, End::Code(0), "{kind}:{number}");
        finished
    }

    fn left_over_ns(&mut self) -> u64 {
        self.group
            .left_over_ns(&mut self.counters)
            .expect("readable")
    }

    fn counts(&self, event: Event) -> bool {
        let counted = self.counters.counted().iter().find(|(e, _)| *e == event);
        counted.is_some_and(|(_, counted)| *counted == Counted::Everything)
    }
}

fn nowhere() -> Controls {
    Controls::default()
}

#[test]
fn switches_of_a_program_that_sleeps_are_its_sleeps() {
    let mut bench = Bench::new();
    let none = bench.known("sleeps", 0, &nowhere()).usage;
    let many = bench.known("sleeps", 300, &nowhere()).usage;
    // Others may take its CPU at any time: at least as many, and of its own
    // will not many more.
    let voluntary = many.voluntary - none.voluntary.min(many.voluntary);
    assert!((290..=330).contains(&voluntary), "{voluntary}");
    if bench.counts(Event::ContextSwitches) {
        let of = |u: &sys::command::Usage| u.counts.get(Event::ContextSwitches).expect("counted");
        let switches = of(&many) - of(&none);
        assert!(switches >= 290, "{switches}");
        // The kernel's two accounts of one program: they differ by what
        // happens before it is executed and after its last counter.
        let both = many.voluntary + many.involuntary;
        assert!(of(&many).abs_diff(both) <= 6, "{} {both}", of(&many));
    }
}

#[test]
fn faults_of_a_program_that_touches_pages_are_its_pages() {
    let mut bench = Bench::new();
    let few = bench.known("pages", 1, &nowhere()).usage;
    let many = bench.known("pages", 5001, &nowhere()).usage;
    let more = many.minor_faults - few.minor_faults;
    assert!((4950..=5100).contains(&more), "{more}");
    for event in [Event::PageFaults, Event::MinorFaults] {
        if bench.counts(event) {
            let of = |u: &sys::command::Usage| u.counts.get(event).expect("counted");
            let more = of(&many) - of(&few);
            assert!((4950..=5100).contains(&more), "{event:?} {more}");
        }
    }
    // 5000 pages more than what it had before, and that is above our own.
    let page = sys::base_page_bytes() as u64;
    assert!(many.peak_bytes >= 5000 * page, "{many:?}");
    assert!(few.peak_bytes < 5000 * page || few.peak_bytes <= few.own_bytes);
}

#[test]
fn what_children_and_their_children_do_counts() {
    let mut bench = Bench::new();
    let none = bench.known("children", 0, &nowhere()).usage;
    let many = bench.known("children", 40, &nowhere()).usage;
    assert!(many.minor_faults - none.minor_faults > 40 * 20);
    if bench.counts(Event::PageFaults) {
        let of = |u: &sys::command::Usage| u.counts.get(Event::PageFaults).expect("counted");
        // `true` alone takes some fifty.
        assert!(of(&many) - of(&none) > 40 * 20, "{many:?} {none:?}");
    }
}

#[test]
fn the_task_clock_is_the_cpu_time() {
    let mut bench = Bench::new();
    let usage = bench.known("spins", 50, &nowhere()).usage;
    assert!(usage.user_ns + usage.system_ns >= 50_000_000, "{usage:?}");
    assert!(usage.wall_ns >= 50_000_000 && usage.start_ns < usage.wall_ns);
    if let Some(clock) = usage.counts.get(Event::TaskClock) {
        assert!(clock >= 50_000_000, "{clock}");
        // One thread has no more than the time that passed.
        assert!(clock <= usage.wall_ns * 11 / 10, "{usage:?}");
    }
}

#[test]
fn moves_are_counted_and_a_pinned_command_makes_none() {
    let cpus = sys::allowed_cpus().expect("known");
    let mut bench = Bench::new();
    if cpus.len() < 2 || !bench.counts(Event::CpuMigrations) {
        return;
    }
    let of = |f: &Finished| f.usage.counts.get(Event::CpuMigrations).expect("counted");
    let moves = of(&bench.known("moves", 60, &nowhere()));
    assert!((59..=80).contains(&moves), "{moves}");
    let pinned = Controls {
        cpus: vec![cpus[1]],
        nice: None,
        ..Controls::default()
    };
    assert_eq!(of(&bench.known("sleeps", 50, &pinned)), 0);
}

#[test]
fn the_counters_begin_with_the_program_and_hold_nothing_of_ours() {
    let mut bench = Bench::new();
    let before = bench.counters.read().expect("readable");
    let mut pages = sys::Mapping::new(400 * sys::base_page_bytes()).expect("memory");
    for byte in pages.as_mut_slice().iter_mut().step_by(512) {
        *byte = 1;
    }
    let own = bench.counters.read().expect("readable").since(&before);
    for event in Event::ALL {
        assert!(own.get(event).is_none_or(|n| n == 0), "{event:?} {own:?}");
    }
    // Twice the same: the counters go on after a command has ended.
    let faults: Vec<u64> = (0..3)
        .map(|_| bench.run(&["true"]).usage.minor_faults)
        .collect();
    assert!(faults.iter().all(|&n| n > 20), "{faults:?}");
    if bench.counts(Event::PageFaults) {
        for _ in 0..20 {
            let usage = bench.run(&["true"]).usage;
            let counted = usage.counts.get(Event::PageFaults).expect("counted");
            assert!(counted > 20, "{usage:?}");
        }
    }
}

#[test]
fn a_command_ends_as_it_ends() {
    let mut bench = Bench::new();
    assert_eq!(bench.run(&["true"]).end, End::Code(0));
    assert_eq!(bench.run(&["sh", "-c", "exit 7"]).end, End::Code(7));
    assert_eq!(
        bench.run(&["sh", "-c", "kill -TERM $$"]).end,
        End::Signal(15)
    );
    // What Rust's runtime ignores for itself, a command must not.
    assert_eq!(
        bench.run(&["sh", "-c", "kill -PIPE $$"]).end,
        End::Signal(13)
    );
}

fn said(file: &mut File) -> String {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).expect("a file");
    file.read_to_string(&mut text).expect("text");
    text
}

fn told(words: &[&str], controls: &Controls) -> String {
    let mut file = tempfile::tempfile().expect("a file");
    let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    let mut bench = Bench::new();
    let finished = bench
        .try_run(&words, controls, Some(&file), Limits::default())
        .expect("it starts");
    assert_eq!(finished.end, End::Code(0));
    said(&mut file)
}

#[test]
fn controls_are_the_commands_own() {
    let cpu = *sys::allowed_cpus().expect("known").last().expect("one");
    let controls = Controls {
        cpus: vec![cpu],
        nice: Some(7),
        ..Controls::default()
    };
    let text = told(
        &["sh", "-c", "nice; grep Cpus_allowed_list /proc/self/status"],
        &controls,
    );
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words, ["7", "Cpus_allowed_list:", &cpu.to_string()]);
    // And not ours.
    assert!(sys::allowed_cpus().expect("known").contains(&cpu));
    assert_ne!(told(&["nice"], &nowhere()).trim(), "7");
}

#[test]
fn a_command_has_its_name_its_words_and_no_descriptors_of_ours() {
    assert_eq!(
        told(&["sh", "-c", "echo $0:$1", "a", "b c"], &nowhere()),
        "a:b c\n"
    );
    // What this process got from its own parent and passes on, the standard
    // library's way of starting programs shows too.
    let listed = told(&["ls", "/proc/self/fd"], &nowhere());
    let usual = std::process::Command::new("ls")
        .arg("/proc/self/fd")
        .output();
    let usual = String::from_utf8(usual.expect("it runs").stdout).expect("text");
    assert_eq!(listed, usual);
    let path = find_program(OsStr::new("sh")).expect("sh");
    let command = Command::new(
        OsStr::new("./odd/name"),
        &path,
        &["-c", "echo $0"],
        &nowhere(),
    );
    let mut file = tempfile::tempfile().expect("a file");
    let mut bench = Bench::new();
    let null = bench.null.try_clone().expect("a descriptor");
    let streams = Streams {
        input: null.as_fd(),
        output: file.as_fd(),
        error: null.as_fd(),
    };
    let command = command.expect("a program");
    let done = bench
        .group
        .run(&command, streams, &mut bench.counters, Limits::default());
    assert_eq!(done.expect("it starts").end, End::Code(0));
    assert_eq!(said(&mut file), "./odd/name\n");
}

#[test]
fn what_can_not_be_started_says_at_which_step() {
    let mut bench = Bench::new();
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("no-format");
    std::fs::write(&path, "echo no first line\n").expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a mode");
    let run = |bench: &mut Bench, path: &Path, controls: &Controls| {
        bench.try_run(&[path.as_os_str()], controls, None, Limits::default())
    };
    let error = run(&mut bench, &path, &nowhere()).expect_err("no format");
    assert_eq!(error.doing, "execute the program");
    assert_eq!(error.error.raw_os_error(), Some(8));
    let absent = Controls {
        cpus: vec![8000],
        nice: None,
        ..Controls::default()
    };
    let error = run(&mut bench, Path::new("/bin/true"), &absent).expect_err("no such CPU");
    assert_eq!(error.doing, "pin it to its CPUs");
    // The group is as good as before, and nobody waits to be waited for: a
    // child that has executed nothing has the name of this thread.
    assert_eq!(bench.run(&["true"]).end, End::Code(0));
    let ours = format!("(what_can_not_be) Z {} ", std::process::id());
    let zombies = std::fs::read_dir("/proc")
        .expect("proc")
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok())
        .filter(|stat| stat.contains(&ours));
    assert_eq!(zombies.count(), 0);
    assert!(find_program(OsStr::new("no-such-program-here")).is_none());
    assert!(find_program(OsStr::new("")).is_none());
}

/// Whether a process of this command line is there (not a zombie).
fn running(words: &str) -> bool {
    std::fs::read_dir("/proc")
        .expect("proc")
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).replace('\0', " ").trim() == words)
}

fn soon(what: &str, mut is: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_limit_kills_the_command_and_its_children() {
    let mut bench = Bench::new();
    let words = ["sh", "-c", "sleep 86399.25 & wait"].map(OsStr::new);
    let limits = Limits {
        time: Some(Duration::from_millis(300)),
        wake: None,
    };
    let finished = bench
        .try_run(&words, &nowhere(), None, limits)
        .expect("it starts");
    assert_eq!(finished.end, End::TimedOut);
    soon("the child is gone", || !running("sleep 86399.25"));
}

#[test]
fn waking_ends_the_waiting() {
    let (wake, write) = std::os::unix::net::UnixStream::pair().expect("a pair");
    let mut bench = Bench::new();
    std::thread::spawn(move || {
        soon("it runs", || running("sleep 86399.5"));
        std::io::Write::write_all(&mut &write, b"x").expect("written");
    });
    let limits = Limits {
        time: None,
        wake: Some(wake.as_fd()),
    };
    let words = ["sh", "-c", "sleep 86399.5; true"].map(OsStr::new);
    let finished = bench
        .try_run(&words, &nowhere(), None, limits)
        .expect("it starts");
    assert_eq!(finished.end, End::Interrupted);
    soon("the child is gone", || !running("sleep 86399.5"));
}

#[test]
fn a_command_that_is_stopped_is_not_waited_for() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.run(&["sh", "-c", "kill -STOP $$"]).end,
        End::Stopped(19)
    );
    // One that goes on by itself is left alone. A busy machine may be late with
    // that, or wake it before it has stopped.
    let goes_on = "(for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; kill -CONT $$; done) & \
                   kill -STOP $$; wait; sleep 0.6";
    let went_on = || Bench::new().run(&["sh", "-c", goes_on]).end == End::Code(0);
    assert!((0..5).any(|_| went_on()));
}

#[test]
fn what_a_command_leaves_running_is_told_and_ends_with_the_group() {
    let mut bench = Bench::new();
    let leaves = "(exec -a latlas-test-left sh -c 'while :; do :; done') >/dev/null 2>&1 &";
    if find_program(OsStr::new("bash")).is_none() {
        return;
    }
    bench.run(&["true"]);
    assert_eq!(bench.left_over_ns(), 0);
    assert!(bench.group.members().expect("proc").is_empty());
    assert_eq!(bench.run(&["bash", "-c", leaves]).end, End::Code(0));
    if bench.counts(Event::TaskClock) {
        soon("it ran", || bench.left_over_ns() > 0);
    }
    assert_eq!(bench.group.members().expect("proc").len(), 1);
    drop(bench);
    soon("it is gone", || {
        !running("latlas-test-left -c while :; do :; done")
    });
}
