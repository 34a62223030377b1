//! The document of two commands, as one page to be read: all rows, then what is
//! different where less is counted.

use super::{MS, exactly};
use meter::commands::document::{Began, Parts, document};
use meter::commands::left::Left;
use meter::commands::repeat::{Repeated, Timed};
use meter::commands::rows::ROWS;
use meter::osnoise::brief::BriefError;
use model::command::{Command, Commands, Controls, Ended, EndedRuns, PageCache};
use model::conditions::Moment;
use model::machine::Machine;
use model::noise::applied::Applied;
use model::noise::osnoise::Osnoise;
use model::run::{Outcome, Program, Row, Run};
use std::fmt::Write;
use sys::command::Usage;
use sys::counters::{Counted, Counts, Event};

/// What a document is made of, where it is not as usual.
struct Case {
    edit: fn(usize, &mut Usage),
    counted: fn(Event) -> Counted,
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
fn runs(edit: fn(usize, &mut Usage)) -> Vec<Vec<Timed>> {
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
            voluntary: 3,
            involuntary: n as u64 % 2,
            minor_faults: 100,
            major_faults: 0,
            counts: Counts::default()
                .with(Event::TaskClock, wall_ns * 3 / 4)
                .with(Event::PageFaults, 95)
                .with(Event::ContextSwitches, 2),
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
    let repeated = Repeated { runs: runs(case.edit), ended: Some(Ended::AsAsked) };
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
        counted: &Event::ALL.map(|event| (event, (case.counted)(event))),
        left: &[Left::default(), case.left],
        tick_ns: case.tick_ns,
        seed: 1,
        notes: Vec::new(),
        remarks: Vec::new(),
    })
}

fn ended(code: i32, runs: u32) -> EndedRuns {
    EndedRuns { how: format!("exit code {code}"), code: Some(code), runs }
}

/// Each row, and each comparison.
fn lines(run: &Run) -> Vec<String> {
    let compared = &run.commands.as_ref().expect("commands").compared;
    let compared = compared.iter().map(|one| {
        let ratio = one.ratio.map(|r| [r.low, r.value, r.high]);
        let ratio = ratio.map(|ends| ends.map(|end| format!("{end:.4}")).join(" "));
        let (name, row, rounds) = (&one.name, &one.row, one.rounds);
        let ratio = ratio.unwrap_or_default();
        let why = one.why.as_deref().map_or(String::new(), |why| format!(" ({why})"));
        format!("{name} {row}: {} of {rounds} rounds {ratio}{why}", one.word.text())
    });
    run.rows.iter().map(line).chain(compared).collect()
}

fn line(row: &Row) -> String {
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

    let usual = lines(&run);
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
            case.edit = |_, u| u.counts = u.counts.with(Event::Cycles, 1_000_000);
            case.counted = |event| match event {
                Event::Cycles => Counted::UserModeOnly,
                _ => Counted::Everything,
            };
        }),
        ("a frequency is cycles over the task clock", |case| {
            case.edit = |_, u| {
                let clock = u.counts.get(Event::TaskClock).expect("set");
                u.counts = u.counts.with(Event::Cycles, clock * 27 / 10);
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
        let changed = lines(&run_of(&case));
        let fewer = usual.len() - changed.len();
        writeln!(page, "\n\n{name} ({fewer} lines fewer):").expect("text");
        let changed = changed.into_iter().filter(|line| !usual.contains(line));
        page += &changed.collect::<Vec<_>>().join("\n");
    }
    insta::assert_snapshot!(page);
}
