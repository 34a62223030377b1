//! Calls into the kernel, hand-offs and processes beside LMbench, perf bench
//! and core-to-core-latency: by turns in one session, pinned alike.

use anyhow::Context;
use bench::bars::Bars;
use bench::beside::{self, Comparison, Figure, Find, Report, Side, Statistic, same, unlike};
use bench::ours::{self, Task};
use bench::process::{on_cpu, output, peer};
use clap::Parser;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
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

/// LMbench with several repetitions prints a median over them; the others, and
/// it with one, a mean over a single stretch.
fn statistic(group: &Group) -> Statistic {
    match group.tool != Tool::LmBench || group.command.contains("-N 1") {
        true => Statistic::Mean,
        false => Statistic::Median,
    }
}

fn compare(arguments: &Arguments) -> anyhow::Result<Bars> {
    let cpu = ours::cpu(arguments.cpu)?;
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
    let mut report = Report::default();
    for group in GROUPS {
        let wanted = |only: &String| group.name.contains(only.as_str());
        if !arguments.only.as_ref().is_none_or(wanted) {
            continue;
        }
        if peers.command(group, cpu).is_none() {
            println!("{}: its peer is not named, left out", group.name);
            continue;
        }
        let comparison = Comparison {
            name: group.name,
            task: Task {
                points: group.point.into_iter().collect(),
                ..Task::filling(group.rows, arguments.seconds, cpu)
            },
            figures: group.figures,
            statistic: statistic(group),
        };
        report.add(arguments.pairs, &comparison, || {
            measure_theirs(group, &peers, cpu)
        });
    }
    Ok(report.print())
}

fn measure_theirs(group: &Group, peers: &Peers, cpu: u32) -> anyhow::Result<Side> {
    let mut command = peers.command(group, cpu).context("no peer")?;
    let (out, err, wall) = output(&mut command)?;
    let text = match group.tool {
        Tool::CoreToCore => out,
        _ => format!("{out}\n{err}"),
    };
    let figures = beside::read(group.figures, &text).with_context(|| format!("{command:?}"))?;
    Ok((figures, wall))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_rows_exist_and_every_figure_is_of_its_groups_rows() {
        for group in GROUPS {
            assert_eq!(
                beside::of_our_rows(group.rows, group.figures),
                Ok(()),
                "{}",
                group.name
            );
        }
    }
}
