//! What runs next, and when it is enough: on commands whose costs are written
//! down. The clock is the sum of these costs; nothing here asks the machine.

use meter::commands::document::{Began, Parts, document};
use meter::commands::left::Left;
use meter::commands::repeat::{ADAPTIVE, Done, Repeated, Runner, Timed, repeat};
use meter::commands::rows::ROWS;
use meter::osnoise::brief::BriefError;
use model::command::{Command, Commands, Controls, Ended, PageCache, Rule};
use model::compare::finding::Finding;
use model::conditions::Moment;
use model::estimate::Verdict;
use model::machine::Machine;
use model::noise::applied::Applied;
use model::noise::osnoise::Osnoise;
use model::run::{Outcome, Program, Run};
use sys::command::Usage;
use sys::counters::{Counted, Counts, Event};

const MS: u64 = 1_000_000;

/// Gives the wall time in ns of run `n` of a command.
type Costs = Box<dyn FnMut(usize, usize) -> u64>;

struct Scripted {
    costs: Costs,
    counts: Vec<usize>,
    log: Vec<String>,
    now_ns: u64,
    stop_at: Option<usize>,
    fail_at: Option<usize>,
}

impl Scripted {
    fn new(commands: usize, costs: impl FnMut(usize, usize) -> u64 + 'static) -> Scripted {
        Scripted {
            costs: Box::new(costs),
            counts: vec![0; commands],
            log: Vec::new(),
            now_ns: 0,
            stop_at: None,
            fail_at: None,
        }
    }
}

impl Runner for Scripted {
    type Error = String;

    fn warm_up(&mut self, command: usize) -> Result<Done<()>, String> {
        self.log.push(format!("w{command}"));
        Ok(Done::Ended(()))
    }

    fn timed(&mut self, command: usize) -> Result<Done<Usage>, String> {
        if self.stop_at == Some(self.log.len()) {
            return Ok(Done::Interrupted);
        }
        if self.fail_at == Some(self.log.len()) {
            return Err("it failed".into());
        }
        self.log.push(command.to_string());
        let wall_ns = (self.costs)(command, self.counts[command]);
        self.counts[command] += 1;
        self.now_ns += wall_ns;
        Ok(Done::Ended(Usage {
            wall_ns,
            ..Usage::default()
        }))
    }

    fn elapsed_ms(&self) -> u64 {
        self.now_ns / MS
    }
}

fn runs(scripted: &mut Scripted, rule: &Rule, seed: u64) -> Repeated {
    let commands = scripted.counts.len();
    repeat(scripted, commands, 1, rule, seed, |_| ()).expect("no failure")
}

fn exactly(runs: u32) -> Rule {
    Rule {
        runs: Some(runs),
        ..ADAPTIVE
    }
}

#[test]
fn warm_ups_come_first_and_count_for_nothing() {
    let mut one = Scripted::new(1, |_, n| (n as u64 + 1) * MS);
    let found = repeat(&mut one, 1, 3, &exactly(4), 1, |_| ()).expect("no failure");
    assert_eq!(one.log.join(" "), "w0 w0 w0 0 0 0 0");
    let walls: Vec<u64> = found.runs[0].iter().map(|r| r.usage.wall_ns / MS).collect();
    assert_eq!(walls, [1, 2, 3, 4]);
    assert_eq!(
        found.runs[0].iter().map(|r| r.at_ms).collect::<Vec<_>>(),
        [0, 1, 3, 6]
    );
    assert_eq!(found.ended, Some(Ended::AsAsked));
}

#[test]
fn every_other_round_goes_the_other_way_round() {
    let order = |seed| {
        let mut three = Scripted::new(3, |_, _| MS);
        runs(&mut three, &exactly(40), seed);
        three.log.split_off(3)
    };
    let log = order(5);
    let mut firsts = [0; 3];
    for pair in log.chunks(6) {
        let mut back = pair[3..].to_vec();
        back.reverse();
        assert_eq!(pair[..3], back[..], "ABC CBA");
        firsts[pair[0].parse::<usize>().expect("a number")] += 1;
    }
    // The order of the pairs is random: each comes first at times.
    assert!(firsts.iter().all(|&n| n > 0), "{firsts:?}");
    assert_eq!(log, order(5), "a seed repeats it");
    assert_ne!(log, order(6));
}

#[test]
fn steady_commands_end_after_ten_runs_and_three_seconds() {
    // Long runs: the ten are what is waited for.
    let mut long = Scripted::new(1, |_, _| 1_000 * MS);
    let found = runs(&mut long, &ADAPTIVE, 1);
    assert_eq!(
        (found.runs[0].len(), found.ended),
        (10, Some(Ended::Narrow))
    );
    // Short ones: the three seconds.
    let mut short = Scripted::new(1, |_, _| 10 * MS);
    let found = runs(&mut short, &ADAPTIVE, 1);
    assert_eq!(
        (found.runs[0].len(), found.ended),
        (300, Some(Ended::Narrow))
    );
    // Each of two has its three seconds.
    let mut two = Scripted::new(2, |_, _| 10 * MS);
    let found = runs(&mut two, &ADAPTIVE, 1);
    assert_eq!((found.runs[0].len(), found.runs[1].len()), (300, 300));
}

#[test]
fn noisy_commands_go_on_until_the_limit() {
    // Two states by turns: no median is known to 2 %.
    let mut noisy = Scripted::new(1, |_, n| if n % 2 == 0 { 100 } else { 200 } * MS);
    let found = runs(&mut noisy, &ADAPTIVE, 1);
    assert_eq!(found.ended, Some(Ended::AtTheLimit));
    assert_eq!(noisy.elapsed_ms(), 60_000);
    // Never fewer than ten, however long they take.
    let mut long = Scripted::new(1, |_, n| (30_000 + 900 * (n as u64 % 7)) * MS);
    let found = runs(&mut long, &ADAPTIVE, 1);
    assert_eq!(
        (found.runs[0].len(), found.ended),
        (10, Some(Ended::AtTheLimit))
    );
    // Each of two has its minute.
    let mut two = Scripted::new(2, |_, n| if n % 2 == 0 { 100 } else { 200 } * MS);
    assert_eq!(runs(&mut two, &ADAPTIVE, 1).ended, Some(Ended::AtTheLimit));
    assert_eq!(two.elapsed_ms(), 120_000);
    let mut tiny = Scripted::new(1, |_, n| if n % 2 == 0 { 1000 } else { 2000 });
    let found = runs(&mut tiny, &ADAPTIVE, 1);
    assert_eq!(
        (found.runs[0].len(), found.ended),
        (10_000, Some(Ended::AtTheLimit))
    );
}

#[test]
fn the_interval_is_looked_at_again_when_there_are_a_tenth_more() {
    let mut looks = vec![10];
    while let Some(&last) = looks.last().filter(|&&last| last < 1000) {
        looks.push((f64::from(last) * 1.1).ceil() as i32);
    }
    for noisy in 6..40 {
        let mut one = Scripted::new(1, move |_, n| match n < noisy && n % 2 == 0 {
            true => 2_000 * MS,
            false => 1_000 * MS,
        });
        let found = runs(&mut one, &ADAPTIVE, 1);
        let rounds = found.runs[0].len() as i32;
        if found.ended == Some(Ended::Narrow) {
            assert!(looks.contains(&rounds), "{rounds}");
        }
    }
}

#[test]
fn a_ratio_that_is_not_known_keeps_both_going() {
    // Each alone is known to less than 2 %, their ratio in a round is not:
    // they are fast and slow in turns, never together.
    let interleaved = |step: u64| {
        let mut two = Scripted::new(2, move |c, n| {
            (1000 + if (n + c) % 2 == 0 { step } else { 0 }) * MS
        });
        let found = runs(&mut two, &ADAPTIVE, 1);
        let alone = model::repeats::relative_half_width(&walls(&found.runs[0]));
        assert!(alone <= 0.02, "{alone}");
        found.ended
    };
    assert_eq!(interleaved(15), Some(Ended::Narrow));
    assert_eq!(interleaved(30), Some(Ended::AtTheLimit));
}

fn walls(runs: &[Timed]) -> Vec<f64> {
    meter::commands::repeat::walls_ns(runs)
}

#[test]
fn what_was_broken_off_does_not_count() {
    let mut two = Scripted::new(2, |_, _| MS);
    two.stop_at = Some(2 + 5);
    let found = runs(&mut two, &exactly(10), 1);
    assert_eq!(found.ended, Some(Ended::Interrupted));
    let lengths: Vec<usize> = found.runs.iter().map(Vec::len).collect();
    assert_eq!(lengths.iter().sum::<usize>(), 5);
    let mut failing = Scripted::new(1, |_, _| MS);
    failing.fail_at = Some(3);
    let error = repeat(&mut failing, 1, 1, &exactly(10), 1, |_| ());
    assert_eq!(error, Err("it failed".into()));
}

/// Two commands whose second takes a tenth more, on a machine whose speed
/// changes from round to round.
fn made_up(edit: impl Fn(usize, usize, &mut Usage)) -> Vec<Vec<Timed>> {
    let usage = |c: usize, n: usize| {
        let speed = [100, 180, 101, 99, 175, 100][n % 6];
        let wall_ns = speed * [100_000, 110_000][c];
        let mut usage = Usage {
            wall_ns,
            start_ns: 90_000,
            user_ns: wall_ns / 2,
            system_ns: wall_ns / 4,
            peak_bytes: 8 << 20,
            own_bytes: 4 << 20,
            voluntary: 3,
            involuntary: n as u64 % 2,
            minor_faults: 100,
            major_faults: 0,
            counts: Counts::default()
                .with(Event::TaskClock, wall_ns * 3 / 4)
                .with(Event::PageFaults, 95)
                .with(Event::ContextSwitches, 2),
        };
        edit(c, n, &mut usage);
        usage
    };
    (0..2)
        .map(|c| {
            (0..30)
                .map(|n| Timed {
                    at_ms: n as u64 * 20,
                    usage: usage(c, n),
                })
                .collect()
        })
        .collect()
}

fn run_of(runs: Vec<Vec<Timed>>, counted: &[(Event, Counted)]) -> Run {
    run_with(runs, counted, &[], None)
}

fn run_with(
    runs: Vec<Vec<Timed>>,
    counted: &[(Event, Counted)],
    left: &[Left],
    tick_ns: Option<u64>,
) -> Run {
    let command = |name: &str| Command {
        name: name.into(),
        words: vec![name.into()],
        shell: None,
        failures: 0,
        checked_by: None,
    };
    let repeated = Repeated {
        runs,
        ended: Some(Ended::AsAsked),
    };
    document(Parts {
        began: Began {
            unix_ms: 0,
            moment: Moment::default(),
            at_ns: sys::monotonic_raw_ns(),
            osnoise: Ok(Osnoise::default()),
        },
        osnoise_after: Some(Err(BriefError::Interrupted)),
        machine: Machine::unknown("made-up", "a test"),
        program: Program {
            name: "test".into(),
            version: "0".into(),
            commit: None,
            target: String::new(),
            profile: String::new(),
            emulated: None,
        },
        commands: Commands {
            commands: vec![command("a"), command("b")],
            page_cache: PageCache::Warm,
            controls: Controls::default(),
            warmups: 1,
            rule: exactly(30),
            ended: Ended::AsAsked,
            margin: 0.05,
            compared: Vec::new(),
            output: String::new(),
            input: String::new(),
        },
        applied: Applied::default(),
        repeated: &repeated,
        counted,
        left,
        tick_ns,
        seed: 1,
        notes: Vec::new(),
        remarks: Vec::new(),
    })
}

#[test]
fn os_noise_is_in_the_conditions() {
    let run = run_of(made_up(|_, _, _| ()), &everything());
    let osnoise = run.conditions.osnoise.expect("measured before");
    assert_eq!((osnoise.before, osnoise.after), (Osnoise::default(), None));
    let why = "OS noise was not measured: interrupted";
    assert_eq!(run.conditions.remarks, [why]);
}

fn everything() -> Vec<(Event, Counted)> {
    Event::ALL
        .into_iter()
        .map(|e| (e, Counted::Everything))
        .collect()
}

fn value(run: &Run, id: &str) -> f64 {
    let row = run.row(id).unwrap_or_else(|| panic!("no row {id}"));
    row.estimate()
        .expect("a figure")
        .ns()
        .expect("a value")
        .value
}

#[test]
fn each_command_has_all_rows_and_its_samples() {
    let run = run_of(made_up(|_, _, _| ()), &everything());
    assert_eq!(run.rows.len(), 2 * ROWS.len());
    assert_eq!(value(&run, "exec.a/user"), value(&run, "exec.a/wall") / 2.0);
    assert_eq!(value(&run, "exec.a/cpus_utilised"), 0.75);
    assert_eq!(value(&run, "exec.b/peak_memory"), f64::from(8 << 20));
    // Events where they are counted, wait4 where not.
    assert_eq!(value(&run, "exec.a/faults"), 95.0);
    assert_eq!(value(&run, "exec.a/minor_faults"), 100.0);
    assert_eq!(value(&run, "exec.a/context_switches"), 2.0);
    assert_eq!(value(&run, "exec.a/voluntary_switches"), 3.0);
    assert_eq!(value(&run, "exec.a/involuntary_switches"), 0.5);
    assert_eq!(value(&run, "exec.a/major_faults"), 0.0);
    for cell in &run.cells {
        assert_eq!(
            cell.samples.samples().expect("whole").len(),
            30,
            "{}",
            cell.row
        );
    }
    // No cycles were counted: no figure, not 0.
    assert!(matches!(
        run.row("exec.a/cycles").expect("a row").outcome,
        Outcome::Unavailable { .. }
    ));
    assert!(run.cells.iter().all(|cell| !cell.row.ends_with("cycles")));
}

#[test]
fn commands_are_set_beside_each_other_round_by_round() {
    let run = run_of(made_up(|_, _, _| ()), &everything());
    // The machine is slow in a third of the rounds: each alone is two states.
    let wall = run.row("exec.a/wall").and_then(|r| r.estimate().cloned());
    assert_eq!(wall.expect("a figure").verdict, Verdict::TwoStates);
    let compared = &run.commands.as_ref().expect("commands").compared;
    let of = |row: &str| compared.iter().find(|c| c.row == row).expect("compared");
    let ratio = of("wall").ratio.expect("thirty rounds");
    assert!((ratio.low - 1.1).abs() < 1e-6 && (ratio.high - 1.1).abs() < 1e-6);
    assert_eq!(
        (of("wall").word, of("wall").rounds),
        (Finding::Different, 30)
    );
    assert_eq!(of("peak_memory").word, Finding::SameWithinNoise);
    assert!(compared.iter().all(|c| c.name == "b"));
}

#[test]
fn a_memory_below_our_own_is_a_bound_and_no_figure() {
    let run = run_of(made_up(|_, _, u| u.peak_bytes = u.own_bytes), &everything());
    let estimate = run
        .row("exec.a/peak_memory")
        .and_then(|r| r.estimate().cloned());
    let own = f64::from(4 << 20);
    assert_eq!(estimate.expect("an estimate").below_ns, Some(own));
    let compared = &run.commands.as_ref().expect("commands").compared;
    assert!(compared.iter().all(|c| c.row != "peak_memory"));
}

#[test]
fn what_is_not_counted_says_why_and_what_stands_in() {
    let refused: Vec<(Event, Counted)> = Event::ALL
        .into_iter()
        .map(|e| (e, Counted::Not("needs CAP_PERFMON".into())))
        .collect();
    let none = |_: usize, _: usize, u: &mut Usage| u.counts = Counts::default();
    let run = run_of(made_up(none), &refused);
    for id in [
        "exec.a/task_clock",
        "exec.a/cpu_migrations",
        "exec.a/frequency",
    ] {
        match &run.row(id).expect("a row").outcome {
            Outcome::Unavailable { reason } => assert_eq!(reason, "needs CAP_PERFMON"),
            other => panic!("{id}: {other:?}"),
        }
    }
    let row = run.row("exec.a/context_switches").expect("a row");
    assert!(row.notes[0].contains("as wait4 tells"), "{:?}", row.notes);
    assert_eq!(value(&run, "exec.a/context_switches"), 3.5);
    assert_eq!(value(&run, "exec.a/faults"), 100.0);
    assert_eq!(value(&run, "exec.a/cpus_utilised"), 0.75);
    let user_only: Vec<(Event, Counted)> = Event::ALL
        .into_iter()
        .map(|e| (e, Counted::UserModeOnly))
        .collect();
    let run = run_of(made_up(|_, _, _| ()), &user_only);
    let row = run.row("exec.a/faults").expect("a row");
    assert!(row.notes[0].contains("user mode only"), "{:?}", row.notes);
}

#[test]
fn processes_that_are_left_running_are_told() {
    let notes = |cpu_ns: u64, at_end: u32| {
        let left = [Left::default(), Left { cpu_ns, at_end }];
        let run = run_with(made_up(|_, _, _| ()), &everything(), &left, None);
        assert!(run.row("exec.a/wall").expect("a row").notes.is_empty());
        run.row("exec.b/wall").expect("a row").notes.join(" ")
    };
    let used = notes(400 * MS, 0);
    assert!(used.contains("they used 400 ms of CPU time"), "{used}");
    assert!(!used.contains("at the end"), "{used}");
    let asleep = notes(0, 2);
    assert!(
        asleep.contains("leaves processes running; 2 of them were still there"),
        "{asleep}"
    );
    // A thousandth of the commands' own time is not worth a word.
    assert_eq!(notes(MS / 10, 0), "");
}

#[test]
fn cycles_of_one_mode_and_time_of_both_give_no_frequency() {
    let with_cycles = |_: usize, _: usize, u: &mut Usage| {
        u.counts = u.counts.with(Event::Cycles, 1_000_000);
    };
    let mut counted = everything();
    for (event, how) in &mut counted {
        if *event == Event::Cycles {
            *how = Counted::UserModeOnly;
        }
    }
    let run = run_of(made_up(with_cycles), &counted);
    assert_eq!(value(&run, "exec.a/cycles"), 1e6);
    match &run.row("exec.a/frequency").expect("a row").outcome {
        Outcome::Unavailable { reason } => {
            assert!(reason.contains("user mode only"), "{reason}");
            assert!(reason.contains("CAP_PERFMON"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_few_ticks_do_not_divide_the_time() {
    // Some 7.5 to 13.5 ms of CPU time in a run.
    let verdicts = |tick_ns: Option<u64>| {
        let run = run_with(made_up(|_, _, _| ()), &everything(), &[], tick_ns);
        ["user", "system", "task_clock"].map(|row| {
            let row = run.row(&format!("exec.a/{row}")).expect("a row");
            let estimate = row.estimate().expect("a figure");
            (estimate.verdict, estimate.reason.clone())
        })
    };
    let known = verdicts(None);
    let [user, system, clock] = verdicts(Some(4 * MS));
    for (found, before) in [(&user, &known[0]), (&system, &known[1])] {
        assert_eq!(found.0, Verdict::CannotTell);
        assert_ne!(before.0, Verdict::CannotTell);
        assert!(found.1.contains("ticks of 4000 µs"), "{}", found.1);
    }
    assert_eq!(clock, known[2], "its clock is no tick");
    assert_eq!(verdicts(Some(MS / 10)), known, "many ticks do");
}

#[test]
fn a_counter_that_was_shared_is_told() {
    let notes = |scaled: bool| {
        let run = run_of(made_up(|_, _, u| u.counts.scaled = scaled), &everything());
        run.row("exec.a/task_clock").expect("a row").notes.join(" ")
    };
    assert!(notes(true).contains("counts are scaled up"));
    assert_eq!(notes(false), "");
}

#[test]
fn a_frequency_is_cycles_over_the_task_clock() {
    let with_cycles = |_: usize, _: usize, u: &mut Usage| {
        let clock = u.counts.get(Event::TaskClock).expect("set");
        u.counts = u.counts.with(Event::Cycles, clock * 27 / 10);
    };
    let run = run_of(made_up(with_cycles), &everything());
    let row = run.row("exec.a/frequency").expect("a row");
    let ns = row.estimate().and_then(|e| e.ns()).expect("a value").value;
    assert!((row.unit.of_ns(ns) - 2.7).abs() < 1e-9);
}

#[test]
fn a_part_of_the_time_below_a_tick_is_below_resolution() {
    let without = |_: usize, _: usize, u: &mut Usage| u.system_ns = 0;
    let run = run_with(made_up(without), &everything(), &[], Some(MS / 2));
    let below = |row: &str| {
        let row = run.row(&format!("exec.a/{row}")).expect("a row");
        row.estimate().expect("a figure").below_ns
    };
    assert_eq!(below("system"), Some((MS / 2) as f64));
    assert_eq!(below("user"), None);
}
