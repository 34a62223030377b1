//! Calls into the kernel, hand-offs and processes beside LMbench, perf bench
//! and core-to-core-latency: by turns in one session, pinned alike.

use anyhow::{Context, bail};
use bench::bars::Bars;
use bench::ours::{self, Task};
use bench::pairs::{Ratios, alternate};
use bench::process::{on_cpu, output, peer};
use bench::spread::median;
use bench::table::{Table, figure};
use clap::Parser;
use model::run::Run;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// Rows beside LMbench (its programs' directory in LMBENCH), perf (path in
/// PERF) and core-to-core-latency (path in CORE_TO_CORE): medians of the
/// ratios of alternated pairs.
#[derive(Parser)]
struct Arguments {
    /// Pairs of each comparison
    #[arg(long, default_value_t = 11)]
    pairs: u32,
    /// Length of one measurement of ours, s
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// The CPU; the last allowed one if absent
    #[arg(long)]
    cpu: Option<u32>,
    /// Only groups whose name contains this
    #[arg(long)]
    only: Option<String>,
}

/// Whose program a group runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tool {
    LmBench,
    Perf,
    CoreToCore,
}

/// Where the peer's processes run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// All on the measuring CPU.
    OneCpu,
    /// Each on a CPU of its own (LMBENCH_SCHED=UNIQUE; core-to-core-latency
    /// pins by itself).
    TwoCpus,
}

/// Where a figure stands in what the peer prints.
#[derive(Clone, Copy)]
enum Find {
    /// First number after this beginning of a line.
    After(&'static str),
    /// The number before this end of a line.
    Before(&'static str),
    /// First number of the second line.
    SecondLine,
}

/// One figure of a group.
struct Figure {
    /// Our row, as `estimates` names it.
    ours: &'static str,
    find: Find,
    /// ns of one of our operations for 1 of what the peer prints.
    ns: f64,
    /// Empty if the two are the same operation and the ratio is judged; else
    /// in what they differ.
    differs: &'static str,
}

/// Figures that one run of a peer's program prints.
struct Group {
    name: &'static str,
    tool: Tool,
    command: &'static str,
    place: Place,
    /// Our rows, as they are asked for.
    rows: &'static [&'static str],
    /// Only this point of their curves.
    point: Option<u64>,
    figures: &'static [Figure],
}

const fn same(ours: &'static str, find: Find, ns: f64) -> Figure {
    Figure {
        ours,
        find,
        ns,
        differs: "",
    }
}

const fn unlike(ours: &'static str, find: Find, ns: f64, differs: &'static str) -> Figure {
    Figure {
        ours,
        find,
        ns,
        differs,
    }
}

const fn lmbench(
    name: &'static str,
    command: &'static str,
    rows: &'static [&'static str],
    figures: &'static [Figure],
) -> Group {
    Group {
        name,
        tool: Tool::LmBench,
        command,
        place: Place::OneCpu,
        rows,
        point: None,
        figures,
    }
}

const GROUPS: &[Group] = &[
    lmbench(
        "null call",
        "lat_syscall -N 5 null",
        &["call.syscall"],
        &[same("call.syscall", Find::After("Simple syscall:"), 1e3)],
    ),
    lmbench(
        "read",
        "lat_syscall -N 5 read",
        &["file.read_syscall"],
        &[same("file.read_syscall", Find::After("Simple read:"), 1e3)],
    ),
    lmbench(
        "write",
        "lat_syscall -N 5 write",
        &["file.write_syscall"],
        &[same(
            "file.write_syscall",
            Find::After("Simple write:"),
            1e3,
        )],
    ),
    lmbench(
        "stat",
        "lat_syscall -N 5 stat",
        &["file.stat"],
        &[same("file.stat", Find::After("Simple stat:"), 1e3)],
    ),
    lmbench(
        "open and close",
        "lat_syscall -N 5 open",
        &["file.open"],
        &[same("file.open", Find::After("Simple open/close:"), 1e3)],
    ),
    lmbench(
        "signal install",
        "lat_sig -N 5 install",
        &["sync.signal/install"],
        &[same(
            "sync.signal/install",
            Find::After("Signal handler installation:"),
            1e3,
        )],
    ),
    lmbench(
        "signal catch",
        "lat_sig -N 5 catch",
        &["sync.signal/catch"],
        &[same(
            "sync.signal/catch",
            Find::After("Signal handler overhead:"),
            1e3,
        )],
    ),
    lmbench(
        "page fault",
        "lat_pagefault -N 5 FILE",
        &["memory.page_fault/file"],
        &[unlike(
            "memory.page_fault/file",
            Find::After("Pagefaults on"),
            1e3,
            "a page there, a fault here, which maps 16 pages and more",
        )],
    ),
    lmbench(
        "fork and exit",
        "lat_proc -N 5 fork",
        &["process.fork_exit"],
        &[unlike(
            "process.fork_exit",
            Find::After("Process fork+exit:"),
            1e3,
            "the child there ends by exit(3), whose clean-up touches pages that fork shared",
        )],
    ),
    lmbench(
        "fork and exec",
        "lat_proc -N 5 exec",
        &["process.fork_exec"],
        &[unlike(
            "process.fork_exec",
            Find::After("Process fork+execve:"),
            1e3,
            "another program is started",
        )],
    ),
    lmbench(
        "shell",
        "lat_proc -N 5 shell",
        &["process.shell"],
        &[unlike(
            "process.shell",
            Find::After("Process fork+/bin/sh -c:"),
            1e3,
            "another program is started",
        )],
    ),
    lmbench(
        "pipe, one CPU",
        "lat_pipe -N 1",
        &["sync.handoff/pipe/same_cpu"],
        &[same(
            "sync.handoff/pipe/same_cpu",
            Find::After("Pipe latency:"),
            500.0,
        )],
    ),
    Group {
        place: Place::TwoCpus,
        ..lmbench(
            "pipe, two CPUs",
            "lat_pipe -N 1",
            &["sync.handoff/pipe/other_cpu"],
            &[same(
                "sync.handoff/pipe/other_cpu",
                Find::After("Pipe latency:"),
                500.0,
            )],
        )
    },
    lmbench(
        "semaphore, one CPU",
        "lat_sem -N 1",
        &["sync.semaphore_switch/same_cpu"],
        &[unlike(
            "sync.semaphore_switch/same_cpu",
            Find::After("Semaphore latency:"),
            1e3,
            "SysV semop there: the waker does the sleeper's part too, which sleeps every third time only",
        )],
    ),
    Group {
        place: Place::TwoCpus,
        ..lmbench(
            "semaphore, two CPUs",
            "lat_sem -N 1",
            &["sync.semaphore_switch/other_cpu"],
            &[unlike(
                "sync.semaphore_switch/other_cpu",
                Find::After("Semaphore latency:"),
                1e3,
                "SysV semop there: the waker does the sleeper's part too, which sleeps every third time only",
            )],
        )
    },
    lmbench(
        "unix socket, one CPU",
        "lat_unix -N 3",
        &["sync.handoff/unix_socket/same_cpu"],
        &[unlike(
            "sync.handoff/unix_socket/same_cpu",
            Find::After("AF_UNIX sock stream latency:"),
            500.0,
            "processes there, which explains a part only",
        )],
    ),
    Group {
        point: Some(0),
        ..lmbench(
            "ring",
            "lat_ctx -N 3 -s 0 2 8 16",
            &["sched.ring"],
            &[
                same("sched.ring@2,0", Find::After("2 "), 1e3),
                same("sched.ring@8,0", Find::After("8 "), 1e3),
                same("sched.ring@16,0", Find::After("16 "), 1e3),
            ],
        )
    },
    lmbench(
        "operations",
        "lat_ops -N 3",
        &["cpu.*"],
        &[
            same("cpu.div_i32", Find::After("integer div:"), 1.0),
            unlike(
                "cpu.mod_i32",
                Find::After("integer mod:"),
                1.0,
                "the loop there has an or more, for which the cost of another operation is taken off",
            ),
            same("cpu.div_i64", Find::After("int64 div:"), 1.0),
            unlike(
                "cpu.mod_i64",
                Find::After("int64 mod:"),
                1.0,
                "the loop there has an or more, for which the cost of another operation is taken off",
            ),
            same("cpu.add_f32", Find::After("float add:"), 1.0),
            same("cpu.mul_f32", Find::After("float mul:"), 1.0),
            same("cpu.div_f32", Find::After("float div:"), 1.0),
            same("cpu.add_f64", Find::After("double add:"), 1.0),
            same("cpu.mul_f64", Find::After("double mul:"), 1.0),
            same("cpu.div_f64", Find::After("double div:"), 1.0),
        ],
    ),
    Group {
        tool: Tool::Perf,
        ..lmbench(
            "perf: null call",
            "bench syscall basic -l 2000000",
            &["call.syscall"],
            &[same("call.syscall", Find::Before("usecs/op"), 1e3)],
        )
    },
    Group {
        tool: Tool::Perf,
        ..lmbench(
            "perf: pipe, one CPU",
            "bench sched pipe -T -l 100000",
            &["sync.handoff/pipe/same_cpu"],
            &[same(
                "sync.handoff/pipe/same_cpu",
                Find::Before("usecs/op"),
                500.0,
            )],
        )
    },
    Group {
        tool: Tool::CoreToCore,
        place: Place::TwoCpus,
        ..lmbench(
            "line between cores",
            "--csv",
            &["memory.core_to_core"],
            &[same("memory.core_to_core@1,0", Find::SecondLine, 1.0)],
        )
    },
];

fn main() -> ExitCode {
    ours::enter_if_child();
    bench::finish(compare(&Arguments::parse()))
}

/// The programs that were named.
struct Peers {
    lmbench: Option<PathBuf>,
    perf: Option<PathBuf>,
    core_to_core: Option<PathBuf>,
    /// A file of 8 MiB in the page cache, for the programs that want one.
    file: NamedTempFile,
}

impl Peers {
    /// The command of a group; `None` where its peer is not named.
    fn command(&self, group: &Group, cpu: u32) -> Option<Command> {
        let mut words = group.command.split(' ');
        let program = match group.tool {
            Tool::LmBench => self.lmbench.as_ref()?.join(words.next()?),
            Tool::Perf => self.perf.clone()?,
            Tool::CoreToCore => self.core_to_core.clone()?,
        };
        let pinned = (group.place == Place::OneCpu).then_some(cpu);
        let mut command = on_cpu(&program, pinned);
        if group.tool == Tool::LmBench {
            command
                .env("ENOUGH", "50000")
                .env("LOOP_O", "0")
                .env("TIMING_O", "0");
            if group.place == Place::TwoCpus {
                command.env("LMBENCH_SCHED", "UNIQUE");
            }
        }
        command.args(words.map(|word| match word {
            "FILE" => self.file.path().as_os_str(),
            word => OsStr::new(word),
        }));
        Some(command)
    }
}

/// What one side did once: by our row's name the median and the mean of its
/// samples in ns (a peer's only figure stands for both), and its wall time.
type Side = (BTreeMap<String, [f64; 2]>, Duration);

/// What of ours is set against the peer's figure: the mean where that is one
/// mean over a single stretch, the median where it is one over repetitions.
fn statistic(group: &Group) -> usize {
    let single = group.tool != Tool::LmBench || group.command.contains("-N 1");
    usize::from(single)
}

fn compare(arguments: &Arguments) -> anyhow::Result<Bars> {
    let cpu = match arguments.cpu {
        Some(cpu) => cpu,
        None => sys::affinity::allowed_cpus()?
            .last()
            .copied()
            .context("no CPU is allowed")?,
    };
    let peers = Peers {
        lmbench: peer("LMBENCH"),
        perf: peer("PERF"),
        core_to_core: peer("CORE_TO_CORE"),
        file: NamedTempFile::new().context("no temporary file")?,
    };
    std::fs::write(peers.file.path(), vec![1; 8 << 20]).context("the file can't be filled")?;
    println!(
        "CPU {cpu}, {} alternated pairs, ours {} s each; ratios are ours / the peer's time",
        arguments.pairs, arguments.seconds
    );
    let mut bars = Bars::new();
    let mut ratios = Table::new(&[
        "comparison",
        "row",
        "ours ns",
        "peer ns",
        "ours is the",
        "ratio",
        "with the other",
        "the same operation",
    ]);
    let mut walls = Table::new(&["comparison", "ours s", "of that the rows s", "peer s"]);
    for group in GROUPS {
        let wanted = |only: &String| group.name.contains(only.as_str());
        if !arguments.only.as_ref().is_none_or(wanted) {
            continue;
        }
        if peers.command(group, cpu).is_none() {
            println!("{}: its peer is not named, left out", group.name);
            continue;
        }
        eprintln!("{}", group.name);
        match one(
            arguments,
            group,
            &peers,
            cpu,
            &mut ratios,
            &mut walls,
            &mut bars,
        ) {
            Ok(()) => {}
            Err(e) => bars.hold(false, format!("{}: {e:#}", group.name)),
        }
    }
    ratios.print("Median ratio with its distribution-free 95 % interval (ns an operation)");
    walls.print("Wall time of one measurement, median");
    Ok(bars)
}

fn one(
    arguments: &Arguments,
    group: &Group,
    peers: &Peers,
    cpu: u32,
    table: &mut Table,
    walls: &mut Table,
    bars: &mut Bars,
) -> anyhow::Result<()> {
    let mut rows_ms = Vec::new();
    let pairs = alternate(
        arguments.pairs,
        |pair| {
            let (side, ms) = measure_ours(arguments, group, cpu, u64::from(pair) + 1)?;
            rows_ms.push(ms);
            Ok(side)
        },
        |_| measure_theirs(group, peers, cpu),
    )?;
    for wanted in group.figures {
        let judged = statistic(group);
        let both = |of: usize| -> Vec<(f64, f64)> {
            let figure = |side: &Side| Some(side.0.get(wanted.ours)?[of]);
            pairs
                .iter()
                .filter_map(|(ours, theirs)| Some((figure(ours)?, figure(theirs)?)))
                .collect()
        };
        let ratios_of = |of| Ratios::new(both(of).iter().map(|(ours, theirs)| ours / theirs));
        let ratios = ratios_of(judged);
        let middle = |pick: fn(&(f64, f64)) -> f64| {
            figure(median(&both(judged).iter().map(pick).collect::<Vec<_>>()))
        };
        table.line(vec![
            group.name.into(),
            wanted.ours.into(),
            middle(|pair| pair.0),
            middle(|pair| pair.1),
            ["median", "mean"][judged].into(),
            ratios.text(),
            ratios_of(1 - judged).text(),
            match wanted.differs {
                "" => "yes".into(),
                differs => format!("no: {differs}"),
            },
        ]);
        if wanted.differs.is_empty() {
            bars.hold(
                ratios.inside(0.9, 1.1),
                format!(
                    "{} {}: {} (inside 0.9 to 1.1)",
                    group.name,
                    wanted.ours,
                    ratios.text()
                ),
            );
        }
    }
    let seconds = |pick: &dyn Fn(&(Side, Side)) -> Duration| {
        let all: Vec<f64> = pairs.iter().map(|pair| pick(pair).as_secs_f64()).collect();
        figure(median(&all))
    };
    walls.line(vec![
        group.name.into(),
        seconds(&|(ours, _)| ours.1),
        figure(median(&rows_ms).map(|ms| ms / 1e3)),
        seconds(&|(_, theirs)| theirs.1),
    ]);
    Ok(())
}

/// Ours in a process of its own; beside it what the rows themselves took, ms.
fn measure_ours(
    arguments: &Arguments,
    group: &Group,
    cpu: u32,
    seed: u64,
) -> anyhow::Result<(Side, f64)> {
    let began = Instant::now();
    let run = ours::measure(&Task {
        point: group.point,
        budget_s: Some(arguments.seconds.max(1.0)),
        fill: true,
        pin: Some(cpu),
        seed,
        ..Task::of(group.rows)
    })?;
    let wall = began.elapsed();
    let figures: BTreeMap<String, [f64; 2]> = ours::estimates(&run)
        .into_iter()
        .filter_map(|(name, _, estimate)| {
            let cell = run
                .cells
                .iter()
                .find(|cell| ours::cell_name(cell) == name)?;
            let mean = ours::mean_ns(&run, cell)?;
            Some((name, [estimate.typical?.ns.value, mean]))
        })
        .collect();
    if let Some(wanted) = group.figures.iter().find(|f| !figures.contains_key(f.ours)) {
        bail!("{} gave no figure: {}", wanted.ours, why(&run));
    }
    let rows_ms = run.cells.iter().map(|cell| cell.wall_ms).sum();
    Ok(((figures, wall), rows_ms))
}

/// What a run says of rows that have no figure.
fn why(run: &Run) -> String {
    let notes = run.rows.iter().flat_map(|row| row.notes.clone());
    let reasons = run.rows.iter().filter_map(|row| match &row.outcome {
        model::run::Outcome::Unavailable { reason } => Some(reason.clone()),
        _ => None,
    });
    reasons.chain(notes).collect::<Vec<_>>().join("; ")
}

fn measure_theirs(group: &Group, peers: &Peers, cpu: u32) -> anyhow::Result<Side> {
    let mut command = peers.command(group, cpu).context("no peer")?;
    let (out, err, wall) = output(&mut command)?;
    let text = match group.tool {
        Tool::CoreToCore => out,
        _ => format!("{out}\n{err}"),
    };
    let mut figures = BTreeMap::new();
    for wanted in group.figures {
        // A program of LMbench's prints nothing where it measured nothing.
        let Some(value) = find(&text, wanted.find) else {
            bail!("{command:?} printed no figure for {}:\n{text}", wanted.ours);
        };
        figures.insert(wanted.ours.to_string(), [value * wanted.ns; 2]);
    }
    Ok((figures, wall))
}

fn find(text: &str, place: Find) -> Option<f64> {
    let first_number = |text: &str| {
        text.split(|c: char| c.is_whitespace() || c == ',')
            .find_map(|word| word.parse().ok())
    };
    match place {
        Find::After(begin) => text
            .lines()
            .find_map(|line| first_number(line.strip_prefix(begin)?.rsplit(": ").next()?)),
        Find::Before(end) => text.lines().find_map(|line| {
            let rest = line.trim_end().strip_suffix(end)?;
            rest.split_whitespace().last()?.parse().ok()
        }),
        Find::SecondLine => first_number(text.lines().nth(1)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_where_they_stand() {
        assert_eq!(
            find(
                "Simple syscall: 0.2133 microseconds\n",
                Find::After("Simple syscall:")
            ),
            Some(0.2133)
        );
        let ring = "\n\"size=0k ovr=0.52\n2 1.83\n8 2.05\n16 2.20\n";
        assert_eq!(find(ring, Find::After("2 ")), Some(1.83));
        assert_eq!(find(ring, Find::After("16 ")), Some(2.2));
        assert_eq!(
            find("\n     4.782540 usecs/op\n", Find::Before("usecs/op")),
            Some(4.78254)
        );
        assert_eq!(find(",\n108.1093,\n", Find::SecondLine), Some(108.1093));
        assert_eq!(find("", Find::After("Simple read:")), None);
    }

    #[test]
    fn our_rows_exist_and_every_figure_is_of_its_groups_rows() {
        let known: Vec<String> = ours::catalogue()
            .iter()
            .flat_map(meter::probe::Probe::row_ids)
            .collect();
        for group in GROUPS {
            for figure in group.figures {
                let row = figure.ours.split('@').next().unwrap_or_default();
                assert!(known.iter().any(|id| id == row), "{row}");
                let asked = group.rows.iter().any(|pattern| {
                    let begin = pattern.trim_end_matches('*');
                    row == *pattern || (begin != *pattern && row.starts_with(begin))
                });
                assert!(asked, "{}: {row} is not asked for", group.name);
            }
        }
    }
}
