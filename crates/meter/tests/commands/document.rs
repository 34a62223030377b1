//! The document of two commands, as one page to be read: all rows, then what is
//! different where less is counted.

use super::{MS, exactly};
use meter::commands::document::{Began, Parts, make_document};
use meter::commands::left::Left;
use meter::commands::repeat::{Repeated, Timed};
use meter::commands::rows::{ROWS, slow_first_run};
use meter::osnoise::brief::BriefError;
use model::command::{Command, Commands, Controls, Ended, EndedRuns, PageCache};
use model::conditions::Moment;
use model::estimate::Verdict;
use model::machine::Machine;
use model::noise::applied::Applied;
use model::noise::osnoise::Osnoise;
use model::run::{Outcome, Program, Row, Run};
use model::synthetic;
use std::fmt::Write;
use sys::command::Usage;
use sys::counters::{Counted, CounterEvent, Counts};

/// What a document is made of, where it is not as usual.
struct Case {
    edit: fn(usize, &mut Usage),
    counted: fn(CounterEvent) -> Counted,
    left: Left,
    tick_ns: Option<u64>,
    edit_command: fn(&mut Command),
}

type Edit = fn(&mut Case);

const USUAL: Case = Case {
    edit: |_, _| (),
    counted: |_| Counted::Everything,
    left: Left { cpu_ns: 0, at_end: 0 },
    tick_ns: None,
    edit_command: |_| (),
};

/// Two commands whose second takes a tenth more, on a machine whose speed
/// changes from round to round.
fn timed_runs(edit: fn(usize, &mut Usage)) -> Vec<Vec<Timed>> {
    let run = |command: usize, n: usize| {
        let speed = [100, 180, 101, 99, 175, 100][n % 6];
        let wall_ns = speed * [100_000, 110_000][command];
        let mut usage = Usage {
            wall_ns,
            start_ns: 90_000,
            user_ns: wall_ns / 2,
            system_ns: wall_ns / 4,
            peak_bytes: 8 << 20,
            own_bytes: 4 << 20,
            run_delay_ns: Some(20_000),
            voluntary: 3,
            involuntary: n as u64 % 2,
            minor_faults: 100,
            major_faults: 0,
            counts: Counts::default()
                .with(CounterEvent::TaskClock, wall_ns * 3 / 4)
                .with(CounterEvent::PageFaults, 95)
                .with(CounterEvent::ContextSwitches, 2),
        };
        edit(command, &mut usage);
        Timed { at_ms: n as u64 * 20, usage }
    };
    let command = |c| (0..30).map(|n| run(c, n)).collect();
    (0..2).map(command).collect()
}

fn run_of(case: &Case) -> Run {
    let command =
        |name: &str| Command { name: name.into(), words: vec![name.into()], ..Command::default() };
    let mut commands = vec![command("a"), command("b")];
    (case.edit_command)(&mut commands[1]);
    let repeated = Repeated { runs: timed_runs(case.edit), ended: Some(Ended::AsAsked) };
    make_document(Parts {
        began: Began {
            unix_ms: 0,
            moment: Moment::default(),
            at_ns: sys::monotonic_raw_ns(),
            osnoise: Some(Ok(Osnoise::default())),
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
            commands: commands.into(),
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
        counted: &CounterEvent::ALL.map(|event| (event, (case.counted)(event))),
        left: &[Left::default(), case.left],
        tick_ns: case.tick_ns,
        seed: 1,
        notes: Vec::new(),
        remarks: Vec::new(),
    })
}

#[test]
fn a_first_run_that_was_slower_than_all_others_is_named_where_there_was_no_warm_up() {
    let notes = |warmups: u32, page_cache: PageCache, first_ms: u64| -> Vec<String> {
        let run = |n: u64| {
            let wall_ns = if n == 0 { first_ms } else { 90 + n } * MS;
            Timed { at_ms: 100 * n, usage: Usage { wall_ns, ..Usage::default() } }
        };
        let runs: Vec<Timed> = (0..10).map(run).collect();
        let commands = Commands {
            warmups,
            page_cache,
            ..synthetic::run_of_commands().commands.expect("commands")
        };
        slow_first_run(&commands, &runs).into_iter().collect()
    };
    assert_eq!(
        notes(0, PageCache::Warm, 150),
        [
            "the first run took 150 ms, the others at most 99.0 ms: perhaps files were not cached yet; --warmup 1 leaves \
          it out"
        ]
    );
    assert!(notes(0, PageCache::Warm, 105).is_empty(), "6 % more");
    assert!(notes(1, PageCache::Warm, 150).is_empty(), "not the first");
    assert!(notes(0, PageCache::Cold, 150).is_empty(), "all are cold");
}

fn ended(code: i32, runs: u32) -> EndedRuns {
    EndedRuns { how: format!("exit code {code}"), code: Some(code), runs }
}

/// Each row, and each comparison.
fn document_lines(run: &Run) -> Vec<String> {
    let compared = &run.commands.as_ref().expect("commands").compared;
    let compared = compared.iter().map(|one| {
        let ratio = one.ratio.map(|r| [r.low, r.value, r.high]);
        let ratio = ratio.map(|ends| ends.map(|end| format!("{end:.4}")).join(" "));
        let (name, row, rounds) = (&one.name, &one.row, one.rounds);
        let ratio = ratio.unwrap_or_default();
        let why = one.why.as_deref().map_or(String::new(), |why| format!(" ({why})"));
        format!("{name} {row}: {} of {rounds} rounds {ratio}{why}", one.word.printed())
    });
    run.rows.iter().map(row_line).chain(compared).collect()
}

fn row_line(row: &Row) -> String {
    let said = match &row.outcome {
        Outcome::Figure(estimate) => {
            let ns = estimate.ns().map(|ns| row.unit.of_ns(ns.value));
            let below = estimate.below_ns.map(|ns| format!(", below {ns}"));
            format!(
                "{}{} {:?} {}",
                ns.expect("a value"),
                below.unwrap_or_default(),
                estimate.verdict,
                estimate.reason
            )
        }
        Outcome::Unavailable { reason } => format!("not available: {reason}"),
        other => panic!("{other:?}"),
    };
    let notes: String = row.notes.iter().map(|note| format!("\n    {note}")).collect();
    format!("{}: {}{notes}", row.id, said.trim_end())
}

#[test]
fn a_wall_time_that_is_a_wait_for_a_cpu_says_so() {
    let waits = |command: usize, usage: &mut Usage| {
        if command == 1 {
            usage.run_delay_ns = Some(usage.wall_ns / 2);
        }
    };
    let run = run_of(&Case { edit: waits, ..USUAL });
    let estimate = |row: &str| run.row(row).and_then(Row::estimate).expect("a figure");
    assert_ne!(estimate("exec.a/wall").verdict, Verdict::CannotTell);
    let waited = estimate("exec.b/wall");
    assert_eq!(waited.verdict, Verdict::CannotTell);
    let reason = "its time is a wait for a CPU: 5.53 ms of 11.1 ms runnable, not running";
    assert_eq!(waited.reason, reason);
    assert_ne!(estimate("exec.b/run_delay").verdict, Verdict::CannotTell);

    let run = run_of(&Case { edit: |_, usage| usage.run_delay_ns = None, ..USUAL });
    let row = run.row("exec.a/run_delay").expect("a row");
    let Outcome::Unavailable { reason } = &row.outcome else { panic!("{row:?}") };
    assert!(reason.starts_with("this kernel doesn't count it"), "{reason}");
}

#[test]
fn documents_of_commands() {
    let run = run_of(&USUAL);
    assert_eq!(run.rows.len(), 2 * ROWS.len());
    for cell in &run.cells {
        let samples = cell.samples.samples().expect("whole");
        assert_eq!(samples.len(), 30, "{}", cell.row);
        assert!(!cell.row.ends_with("cycles"), "not counted is not 0");
    }
    let osnoise = run.conditions.osnoise.as_ref().expect("measured before");
    assert_eq!(osnoise.before, Osnoise::default());
    assert_eq!(osnoise.after, None);
    let why = "OS noise was not measured: interrupted";
    assert_eq!(run.conditions.remarks, [why]);

    let usual = document_lines(&run);
    let mut page = usual.join("\n");
    let cases: [(&str, Edit); 15] = [
        ("memory not above our own is a bound", |case| {
            case.edit = |_, u| u.peak_bytes = u.own_bytes;
        }),
        ("nothing is counted", |case| {
            case.edit = |_, u| u.counts = Counts::default();
            case.counted = |_| Counted::Not("needs CAP_PERFMON".into());
        }),
        ("user mode only", |case| {
            case.counted = |_| Counted::UserModeOnly;
        }),
        ("cycles of user mode only give no frequency", |case| {
            case.edit = |_, u| u.counts = u.counts.with(CounterEvent::Cycles, 1_000_000);
            case.counted = |event| match event {
                CounterEvent::Cycles => Counted::UserModeOnly,
                _ => Counted::Everything,
            };
        }),
        ("a frequency is cycles over the task clock", |case| {
            case.edit = |_, u| {
                let clock = u.counts.get(CounterEvent::TaskClock).expect("set");
                u.counts = u.counts.with(CounterEvent::Cycles, clock * 27 / 10);
            };
        }),
        ("a shared counter", |case| {
            case.edit = |command, u| u.counts.scaled = command == 0;
        }),
        ("processes left that use the CPU", |case| {
            case.left.cpu_ns = 400 * MS;
        }),
        ("processes left that sleep", |case| case.left.at_end = 2),
        ("a thousandth of the commands' own time is not noted", |case| {
            case.left.cpu_ns = MS / 10;
        }),
        ("a few ticks do not divide the time", |case| {
            case.tick_ns = Some(4 * MS);
        }),
        ("many ticks do", |case| case.tick_ns = Some(MS / 10)),
        ("a part below a tick is below resolution", |case| {
            case.edit = |_, u| u.system_ns = 0;
            case.tick_ns = Some(MS / 2);
        }),
        ("runs that failed are timed, and nothing is concluded", |case| {
            case.edit_command = |command| {
                command.failures = 2;
                command.ends = vec![ended(0, 28), ended(3, 2)];
            };
        }),
        ("an accepted exit code is not that of the other command", |case| {
            case.edit_command = |command| command.ends = vec![ended(1, 30)];
        }),
        ("an input that was not read", |case| {
            case.edit_command = |command| command.input_unread = true;
        }),
    ];
    for (name, edit) in cases {
        let mut case = USUAL;
        edit(&mut case);
        let changed = document_lines(&run_of(&case));
        let fewer = usual.len() - changed.len();
        writeln!(page, "\n\n{name} ({fewer} lines fewer):").expect("text");
        let changed = changed.into_iter().filter(|line| !usual.contains(line));
        page += &changed.collect::<Vec<_>>().join("\n");
    }
    insta::assert_snapshot!(page);
}
