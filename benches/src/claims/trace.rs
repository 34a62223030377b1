//! What tracing costs the traced program: its CPU time for each operation, alone
//! and traced by us and by others, interleaved. The ratio to alone is printed.

use crate::bars::Bars;
use crate::process::output;
use crate::spread::median;
use crate::table::{TextTable, three_digits};
use crate::traced::Workload;
use anyhow::{Context, bail};
use model::stats;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

#[derive(clap::Args)]
pub struct Arguments {
    /// The latlas program
    #[arg(long, value_name = "PATH")]
    latlas: PathBuf,
    /// perf
    #[arg(long, default_value = "perf")]
    perf: PathBuf,
    /// wprof, which is left out without this
    #[arg(long)]
    wprof: Option<PathBuf>,
    /// Rounds of all, interleaved
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Only workloads whose name contains this
    #[arg(long)]
    only: Option<String>,
}

/// Who traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tracer {
    Alone,
    Scheduler,
    Full,
    Own,
    Stacks,
    Last,
    OwnLast,
    PerfSched,
    PerfRecord,
    PerfSwitches,
    Ftrace,
    Wprof,
    PerfTrace,
    Strace,
}

use Tracer::{
    Alone, Ftrace, Full, Last, Own, OwnLast, PerfRecord, PerfSched, PerfSwitches, PerfTrace,
    Scheduler, Stacks, Strace, Wprof,
};

const ALL: [Tracer; 14] = [
    Alone,
    Scheduler,
    Full,
    Own,
    Stacks,
    Last,
    OwnLast,
    PerfSched,
    PerfRecord,
    PerfSwitches,
    Ftrace,
    Wprof,
    PerfTrace,
    Strace,
];

/// The events of the full tier.
const EVENTS: &str = "sched:sched_switch,sched:sched_waking,raw_syscalls:sys_enter,\
                      raw_syscalls:sys_exit,exceptions:page_fault_user";
const TRACEFS: &str = "/sys/kernel/tracing";

impl Tracer {
    fn title(self) -> &'static str {
        match self {
            Alone => "alone, µs",
            Scheduler => "scheduler only",
            Full => "full",
            Own => "own process",
            Stacks => "full, stacks",
            Last => "full, last second",
            OwnLast => "own process, last second",
            PerfSched => "perf sched record",
            PerfRecord => "perf record",
            PerfSwitches => "perf record --switch-events",
            Ftrace => "ftrace",
            Wprof => "wprof, without stacks",
            PerfTrace => "perf trace",
            Strace => "strace -f",
        }
    }

    /// A share of the operations: some tracers need long for each.
    fn operations(self, of: Workload) -> u64 {
        match self {
            PerfTrace | Strace => of.operations() / 20,
            _ => of.operations(),
        }
    }

    /// What comes before the program's own words.
    fn tracer_command(self, arguments: &Arguments, files: &Path) -> Command {
        let words = |program: &Path, words: &[&str]| {
            let mut command = Command::new(program);
            command.args(words);
            command
        };
        let data = files.join("perf.data");
        let data = data.to_string_lossy();
        let (latlas, perf) = (&arguments.latlas, &arguments.perf);
        let traced = |tier: &[&str]| words(latlas, &[&["trace", "--tier"], tier, &["--"]].concat());
        match self {
            Alone | Ftrace | Wprof => words(Path::new("env"), &[]),
            Scheduler => traced(&["full", "--scheduler-only"]),
            Full => traced(&["full"]),
            Own => traced(&["own"]),
            Stacks => traced(&["full", "--stacks"]),
            Last => traced(&["full", "--last", "1s"]),
            OwnLast => traced(&["own", "--last", "1s"]),
            PerfSched => words(perf, &["sched", "record", "-q", "-o", &data, "--"]),
            PerfRecord => words(perf, &["record", "-q", "-e", EVENTS, "-o", &data, "--"]),
            PerfSwitches => {
                let record = ["record", "-q", "--switch-events", "-e", EVENTS, "-o"];
                words(perf, &[&record[..], &[&data, "--"]].concat())
            }
            PerfTrace => words(perf, &["trace", "-o", "/dev/null", "--"]),
            Strace => words(Path::new("strace"), &["-f", "-o", "/dev/null"]),
        }
    }
}

pub fn check_trace(arguments: &Arguments) -> anyhow::Result<Bars> {
    if std::fs::metadata(format!("{TRACEFS}/events")).is_err() {
        bail!("tracefs is not mounted: unshare -m sh -c 'mount -t tracefs none {TRACEFS}; ...'");
    }
    let files = tempfile::tempdir().context("no directory for perf's files")?;
    let mut bars = Bars::new();
    for workload in Workload::ALL {
        let only = arguments.only.as_deref();
        if only.is_some_and(|only| !workload.name().contains(only)) {
            continue;
        }
        let mut times = vec![Vec::new(); ALL.len()];
        for _ in 0..arguments.rounds {
            for (times, tracer) in times.iter_mut().zip(ALL) {
                if tracer == Wprof && arguments.wprof.is_none() {
                    continue;
                }
                times.push(once(arguments, workload, tracer, files.path())?);
            }
        }
        hold(workload, &times, &mut bars);
    }
    if arguments.only.is_none() {
        rate(arguments, files.path(), &mut bars)?;
    }
    Ok(bars)
}

/// The most events that a program makes: what is lost, and what a file needs.
fn rate(arguments: &Arguments, files: &Path, bars: &mut Bars) -> anyhow::Result<()> {
    const LEAST_A_SECOND: f64 = 400_000.0;
    let file = |name: &str| files.join(name).to_string_lossy().into_owned();
    let (kept, converted) = (file("t.zst"), file("t.pftrace"));
    let latlas = || Command::new(&arguments.latlas);
    let traced = std::env::current_exe()?;
    let mut record = latlas();
    record.args(["trace", "--tier", "full", "--out", &kept, "--"]);
    let status = record.arg(traced).args(["__traced", "getppid", "400000"]).output()?.status;
    let (json, _, _) = output(latlas().args(["trace", "show", "--document", &kept]))?;
    output(latlas().args(["trace", "export", &kept, "-o", &converted]))?;
    let run: model::run::Run = serde_json::from_str(&json)?;
    let trace = run.recordings.iter().find_map(model::recording::Recording::trace);
    let trace = trace.context("latlas recorded no trace")?;
    let threads = trace.threads.iter();
    let ends = |t: &model::trace::Thread| t.faults.iter().filter(|f| f.served.is_some()).count();
    let own: usize = threads.map(|t| 2 * t.calls.len() + t.faults.len() + ends(t)).sum();
    let switches: usize = trace.cpus.iter().map(|cpu| cpu.switches.len()).sum();
    let events = (own + switches + trace.wakeups.len()) as f64;
    let a_second = events / (trace.duration_ns as f64 / 1e9);
    let bytes = std::fs::metadata(&converted)?.len() as f64;
    println!("\nrate: {events} events, {a_second:.0} a second; {status}");
    let lost = (a_second >= LEAST_A_SECOND).then_some(trace.losses.records as f64);
    bars.at_most("lost records at 400,000 events a second", lost, 0.0, "");
    bars.at_most("an event in a Perfetto file", Some(bytes / events), 30.0, " B");
    Ok(())
}

/// CPU time of an operation, in ns.
fn once(
    arguments: &Arguments,
    workload: Workload,
    tracer: Tracer,
    files: &Path,
) -> anyhow::Result<f64> {
    let program = std::env::current_exe()?;
    let count = tracer.operations(workload).to_string();
    let mut command = tracer.tracer_command(arguments, files);
    command.arg(program).args(["__traced", workload.name(), &count]);
    if tracer == Ftrace {
        ftrace(true)?;
    }
    let recording = match (tracer, &arguments.wprof) {
        (Wprof, Some(wprof)) => Some(Recording::start_recording(wprof, &files.join("wprof.data"))?),
        _ => None,
    };
    let output = command.output();
    if tracer == Ftrace {
        ftrace(false)?;
    }
    recording.map_or(Ok(()), Recording::stop)?;
    let output = output.with_context(|| format!("can't run {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.lines().find_map(|line| line.trim().parse().ok());
    number.with_context(|| {
        let error = String::from_utf8_lossy(&output.stderr);
        format!("{command:?}: {}\n{text}{error}", output.status)
    })
}

/// wprof, which records the scheduler's events of all programs until it is interrupted.
struct Recording {
    wprof: Child,
    /// Kept open: it goes on printing.
    said: BufReader<ChildStderr>,
}

impl Recording {
    fn start_recording(program: &Path, file: &Path) -> anyhow::Result<Recording> {
        let mut command = Command::new(program);
        command.args(["--no-stacks", "-d", "60s", "-D"]).arg(file);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut wprof = command.spawn().with_context(|| format!("can't run {command:?}"))?;
        let mut said = BufReader::new(wprof.stderr.take().context("no pipe")?);
        let mut line = String::new();
        while !line.starts_with("Running") {
            line.clear();
            if said.read_line(&mut line)? == 0 {
                bail!("{command:?} recorded nothing: {}", wprof.wait()?);
            }
        }
        Ok(Recording { wprof, said })
    }

    fn stop(mut self) -> anyhow::Result<()> {
        let id = self.wprof.id().to_string();
        output(Command::new("kill").args(["-INT", &id]))?;
        let mut text = String::new();
        self.said.read_to_string(&mut text)?;
        let status = self.wprof.wait()?;
        if !status.success() {
            bail!("wprof: {status}: {text}");
        }
        Ok(())
    }
}

/// Records the scheduler's events into the kernel's own buffer, which is
/// overwritten.
fn ftrace(on: bool) -> anyhow::Result<()> {
    let value = if on { "1" } else { "0" };
    for file in ["sched_switch", "sched_waking"].map(|e| format!("events/sched/{e}/enable")) {
        let path = format!("{TRACEFS}/{file}");
        std::fs::write(&path, value).with_context(|| format!("can't write {path}"))?;
    }
    Ok(())
}

/// Prints the ratios to alone of the same round, and holds them to the bars.
fn hold(workload: Workload, times: &[Vec<f64>], bars: &mut Bars) {
    let mut table = TextTable::new(&["", "median", "smallest", "largest"]);
    let mut ratio = [None; ALL.len()];
    for ((times_of, tracer), ratio) in times.iter().zip(ALL).zip(&mut ratio) {
        if times_of.is_empty() {
            continue;
        }
        let values: Vec<f64> = match tracer {
            Alone => times_of.iter().map(|ns| ns / 1e3).collect(),
            _ => times_of.iter().zip(&times[0]).map(|(of, alone)| of / alone).collect(),
        };
        *ratio = median(&values);
        let sorted = stats::sorted(values);
        let ends = [sorted.first(), sorted.last()].map(|value| three_digits(value.copied()));
        let [smallest, largest] = ends;
        table.add_line(vec![tracer.title().into(), three_digits(*ratio), smallest, largest]);
    }
    table.print(&format!("{}: CPU time of an operation, by that alone", workload.name()));
    let of = |tracer: Tracer| ALL.iter().zip(ratio).find(|(t, _)| **t == tracer)?.1;
    let name = workload.name();
    // What each adds: two ratios near 1 say little of each other.
    let mut against = |ours: Tracer, peer: Tracer, limit: f64| {
        let share = of(ours).zip(of(peer));
        let share = share.map(|(ours, peer)| (ours - 1.0) / (peer - 1.0));
        let what = format!("{name}, {} adds, by {}", ours.title(), peer.title());
        bars.at_most(&what, share, limit, "x");
    };
    // Without switches both are noise.
    if matches!(workload, Workload::PingPong | Workload::Pool) {
        against(Scheduler, PerfSched, 0.8);
        against(Scheduler, Ftrace, 1.0);
    }
    against(Full, PerfRecord, 1.0);
    against(Full, PerfSwitches, 1.0);
    // perf trace records calls only.
    if workload != Workload::Faults {
        against(Full, PerfTrace, 0.2);
    }
    bars.at_most(&format!("{name}, own process"), of(Own), 1.6, "x");
    for (kept, whole) in [(Last, Full), (OwnLast, Own)] {
        let share = of(kept).zip(of(whole)).map(|(kept, whole)| kept / whole);
        bars.at_most(&format!("{name}, {}, by all", kept.title()), share, 1.02, "x");
    }
}
