//! What is counted of programs that do a known number of things.

use sys::child::{Environment, Program, fork_exec_wait};
use sys::command::Usage;

use super::*;

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

/// What `known_program` costs when it does `number` things.
fn known(runner: &mut Runner, kind: &str, number: usize, controls: &[Setting]) -> Finished {
    let this = std::env::current_exe().expect("a name");
    let variable = format!("{KNOWN}={kind}:{number}");
    let words = [
        "env",
        &variable,
        this.to_str().expect("text"),
        "--exact",
        "counts::known_program",
        "--test-threads=1",
        "--quiet",
    ];
    let (finished, _) = runner.run(&words, controls);
    assert_eq!(finished.end, End::Code(0), "{kind}:{number}");
    finished
}

#[test]
fn switches_of_a_program_that_sleeps_are_its_sleeps() {
    let mut runner = Runner::new();
    let none = known(&mut runner, "sleeps", 0, NONE).usage;
    let many = known(&mut runner, "sleeps", 300, NONE).usage;
    // Others may take its CPU at any time, of either program: at least its sleeps, and of its
    // own will not many more.
    let more = many.voluntary.saturating_sub(none.voluntary);
    assert!(many.voluntary >= 300 && more <= 330, "{} {more}", many.voluntary);
    if runner.counts(Event::ContextSwitches) {
        let of = |u: &Usage| u.counts.get(Event::ContextSwitches).expect("counted");
        assert!(of(&many) >= 300, "{}", of(&many));
        // The kernel's two accounts of one program: they differ by what
        // happens before it is executed and after its last counter.
        let both = many.voluntary + many.involuntary;
        assert!(of(&many).abs_diff(both) <= 6, "{} {both}", of(&many));
    }
}

#[test]
fn faults_of_a_program_that_touches_pages_are_its_pages() {
    let mut runner = Runner::new();
    let few = known(&mut runner, "pages", 1, NONE).usage;
    let many = known(&mut runner, "pages", 5001, NONE).usage;
    let more = many.minor_faults - few.minor_faults;
    assert!((4950..=5100).contains(&more), "{more}");
    for event in [Event::PageFaults, Event::MinorFaults] {
        if runner.counts(event) {
            let of = |u: &Usage| u.counts.get(event).expect("counted");
            let more = of(&many) - of(&few);
            assert!((4950..=5100).contains(&more), "{event:?} {more}");
        }
    }
}

/// The kernel counts in a command's peak what the process had before that starts
/// it: not this one's memory, of which there is much.
#[test]
fn the_peak_is_the_commands_own() {
    let machine = sys::machine(Path::new("/"));
    if machine.emulated.get().is_some_and(|by| by.name().is_some()) {
        return println!("SKIPPED: an emulator makes no process that shares only files");
    }
    if !Path::new("/proc/self/clear_refs").exists() {
        return println!("SKIPPED: this kernel sets no peak back (CONFIG_PROC_PAGE_MONITOR)");
    }
    let mut own = sys::Mapping::new(64 << 20).expect("memory");
    for byte in own.as_mut_slice().iter_mut().step_by(512) {
        *byte = 1;
    }
    let mut runner = Runner::new();
    // Its own peak, as it sees it itself, just before it ends.
    let (finished, status) = runner.run(&["cat", "/proc/self/status"], NONE);
    let usage = finished.usage;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB"));
    let peak: u64 = peak.and_then(|peak| peak.parse().ok()).expect("VmHWM");
    assert!(usage.own_bytes < 4 << 20, "{usage:?}");
    // The kernel's sums over CPUs are not exact.
    let most = (peak << 10).max(usage.own_bytes);
    assert!(usage.peak_bytes.abs_diff(most) < 1 << 20, "{usage:?} {status}");

    let page = sys::base_page_bytes() as u64;
    let few = known(&mut runner, "pages", 1, NONE).usage;
    let many = known(&mut runner, "pages", 5001, NONE).usage;
    assert!(few.peak_bytes > few.own_bytes, "{few:?}");
    let more = many.peak_bytes - few.peak_bytes;
    assert!(more.abs_diff(5000 * page) < 1 << 20, "{few:?} {many:?}");
    drop(own);
}

#[test]
fn what_children_and_their_children_do_counts() {
    let mut runner = Runner::new();
    let none = known(&mut runner, "children", 0, NONE).usage;
    let many = known(&mut runner, "children", 40, NONE).usage;
    assert!(many.minor_faults - none.minor_faults > 40 * 20);
    if runner.counts(Event::PageFaults) {
        let of = |u: &Usage| u.counts.get(Event::PageFaults).expect("counted");
        // `true` alone takes some fifty.
        assert!(of(&many) - of(&none) > 40 * 20, "{many:?} {none:?}");
    }
}

#[test]
fn the_task_clock_is_the_cpu_time() {
    let mut runner = Runner::new();
    let usage = known(&mut runner, "spins", 50, NONE).usage;
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
    let mut runner = Runner::new();
    if cpus.len() < 2 || !runner.counts(Event::CpuMigrations) {
        return println!("SKIPPED: one CPU, or moves are not counted");
    }
    let of = |f: &Finished| f.usage.counts.get(Event::CpuMigrations).expect("counted");
    let moves = of(&known(&mut runner, "moves", 60, NONE));
    assert!((59..=80).contains(&moves), "{moves}");
    let pinned = [Setting::Cpus(vec![cpus[1]])];
    assert_eq!(of(&known(&mut runner, "sleeps", 50, &pinned)), 0);
}

#[test]
fn the_counters_begin_with_the_program_and_hold_nothing_of_ours() {
    let mut runner = Runner::new();
    let before = runner.counters.read().expect("readable");
    let mut pages = sys::Mapping::new(400 * sys::base_page_bytes()).expect("memory");
    for byte in pages.as_mut_slice().iter_mut().step_by(512) {
        *byte = 1;
    }
    let own = runner.counters.read().expect("readable").since(&before);
    for event in Event::ALL {
        assert!(own.get(event).is_none_or(|n| n == 0), "{event:?} {own:?}");
    }
    // Twice the same: the counters go on after a command has ended.
    let faults: Vec<u64> =
        (0..3).map(|_| runner.run(&["true"], NONE).0.usage.minor_faults).collect();
    assert!(faults.iter().all(|&n| n > 20), "{faults:?}");
    if runner.counts(Event::PageFaults) {
        for _ in 0..20 {
            let usage = runner.run(&["true"], NONE).0.usage;
            let counted = usage.counts.get(Event::PageFaults).expect("counted");
            assert!(counted > 20, "{usage:?}");
        }
    }
}
