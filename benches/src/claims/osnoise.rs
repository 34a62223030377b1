//! The gap detector against the kernel's tracepoints in the same seconds: what
//! the scheduler took from its thread, how many ticks and interrupts there
//! were.
//!
//! `perf record` watches the CPU while `latlas noise measure` spins on it;
//! both tell times on CLOCK_MONOTONIC_RAW. Of the trace counts what happened
//! within the span: each time from a switch away from the thread (ready, since
//! it never waits) to the switch back, which is what `perf sched timehist`
//! calls its wait time; and interrupts that came while the thread ran.

use crate::bars::Bars;
use crate::busy::{Busy, Load};
use crate::pairs::Ratios;
use crate::table::{TextTable, three_digits};
use anyhow::{Context, bail};
use model::noise::osnoise::{Cause, Osnoise};
use model::recording::Recording;
use model::run::Run;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub struct Arguments {
    /// The latlas program
    #[arg(long, value_name = "PATH")]
    latlas: PathBuf,
    /// perf, which needs root and tracefs
    #[arg(long, default_value = "perf")]
    perf: PathBuf,
    /// The CPU
    #[arg(long, default_value_t = 1)]
    cpu: u32,
    /// Rounds of each, with load and without, interleaved
    #[arg(long, default_value_t = 7)]
    rounds: u32,
    /// How long to spin
    #[arg(long = "for", value_name = "TIME", default_value = "5s")]
    span: String,
}

/// Ours over theirs may be this far from 1.
const WITHIN: f64 = 0.1;

/// The scheduler's share of the span, median of the rounds, below which the
/// figure is printed and no bar is set: a few switches in five seconds, of which
/// a reading may hide one.
const LEAST_SHARE: f64 = 0.001;

const EVENTS: [&str; 5] = [
    "sched:sched_switch",
    "irq_vectors:local_timer_entry",
    "irq_vectors:local_timer_exit",
    "irq:irq_handler_entry",
    "irq:irq_handler_exit",
];

pub fn check_osnoise(arguments: &Arguments) -> anyhow::Result<Bars> {
    let mut table = TextTable::new(&[
        "load, round",
        "sched ms",
        "traced",
        "ratio",
        "kernel's",
        "ratio",
        "ticks",
        "traced",
        "tick ms",
        "traced",
        "devices",
        "traced",
        "left %",
        "blind %",
    ]);
    let mut bars = Bars::new();
    let mut of = [Vec::new(), Vec::new()];
    for round in 1..=arguments.rounds {
        for (place, load) in ["none", "same CPU"].into_iter().enumerate() {
            let busy = (place == 1).then(|| Busy::on(&[arguments.cpu], Load::Loops)).transpose()?;
            let (detours, traced) = both(arguments)?;
            drop(busy);
            table.add_line(round_line(load, round, &detours, &traced));
            of[place].push((detours, traced));
        }
    }
    table.print(&format!(
        "CPU {}, {} a round; shares of the watched time put on the whole span",
        arguments.cpu, arguments.span
    ));
    for (place, load) in ["none", "same CPU"].into_iter().enumerate() {
        // A round without a switch has no ratio.
        let ratios = |value: fn(&Osnoise) -> f64| {
            let rounds = of[place].iter().filter(|(_, t)| t.off_cpu_ns > 0.0);
            Ratios::new(rounds.map(|(g, t)| value(g) / t.off_cpu_ns))
        };
        let (detours, kernels) = (ratios(scheduler_ns), ratios(run_delay_ns));
        let share = traced_share(&of[place]);
        println!(
            "load {load}: the scheduler took {} % of the span, traced (median of {} rounds)",
            three_digits(Some(share * 100.0)),
            of[place].len()
        );
        println!("load {load}: scheduler by detours / traced {}", detours.ratio_text());
        println!("load {load}: run delay / traced         {}", kernels.ratio_text());
        if share < LEAST_SHARE {
            println!(
                "load {load}: no bar: below {} % of the span a single switch decides",
                LEAST_SHARE * 100.0
            );
            continue;
        }
        let holds = detours.inside(1.0 - WITHIN, 1.0 + WITHIN);
        let text = format!(
            "scheduler, load {load}: {} (0.9 to 1.1), {} % of the span",
            detours.ratio_text(),
            three_digits(Some(share * 100.0))
        );
        bars.hold(holds, text);
    }
    Ok(bars)
}

/// What the scheduler took of the span by the trace: the median of the rounds.
fn traced_share(rounds: &[(Osnoise, Traced)]) -> f64 {
    let shares = rounds.iter().map(|(detours, traced)| traced.off_cpu_ns / detours.span_ns as f64);
    model::stats::median(shares).unwrap_or(0.0)
}

/// One round's line.
fn round_line(load: &str, round: u32, detours: &Osnoise, traced: &Traced) -> Vec<String> {
    let ms = |ns: f64| three_digits(Some(ns / 1e6));
    let devices = detours.interrupts.iter().filter(|i| !i.timer);
    let devices = devices.filter(|i| i.name.starts_with(|c: char| c.is_ascii_digit()));
    let ticks: u64 = detours.interrupts.iter().filter(|i| i.timer).map(|i| i.count).sum();
    let left = [Cause::Unexplained, Cause::Unknown];
    let left: f64 = left.iter().filter_map(|&cause| detours.share_of(cause)).sum();
    vec![
        format!("{load}, {round}"),
        ms(scheduler_ns(detours)),
        ms(traced.off_cpu_ns),
        three_digits(Some(scheduler_ns(detours) / traced.off_cpu_ns)),
        ms(run_delay_ns(detours)),
        three_digits(Some(run_delay_ns(detours) / traced.off_cpu_ns)),
        ticks.to_string(),
        traced.ticks.to_string(),
        ms(on_the_span(detours, Cause::Tick)),
        ms(traced.tick_ns),
        devices.map(|i| i.count).sum::<u64>().to_string(),
        traced.devices.to_string(),
        three_digits(Some(left * 100.0)),
        three_digits(detours.blind_share().map(|share| share * 100.0)),
    ]
}

fn on_the_span(detours: &Osnoise, cause: Cause) -> f64 {
    detours.share_of(cause).unwrap_or(0.0) * detours.span_ns as f64
}

fn scheduler_ns(detours: &Osnoise) -> f64 {
    on_the_span(detours, Cause::Scheduler)
}

fn run_delay_ns(detours: &Osnoise) -> f64 {
    detours.run_delay_ns.map_or(f64::NAN, |ns| ns as f64)
}

/// Spins under perf; what both saw.
fn both(arguments: &Arguments) -> anyhow::Result<(Osnoise, Traced)> {
    let dir = tempfile::tempdir().context("no temporary directory")?;
    let (data, out) = (dir.path().join("perf.data"), dir.path().join("detours.json"));
    let mut record = Command::new(&arguments.perf);
    record.args(["record", "-q", "-k", "CLOCK_MONOTONIC_RAW", "-m", "1024"]);
    record.args(["-C", &arguments.cpu.to_string(), "-e", &EVENTS.join(",")]);
    record.arg("-o").arg(&data).arg("--").arg(&arguments.latlas);
    record.args(["noise", "measure", "--document", "--for", &arguments.span]);
    record.args(["--cpu", &arguments.cpu.to_string(), "--out"]).arg(&out);
    let done = record.stdout(Stdio::null()).output().context("can't run perf")?;
    if !done.status.success() {
        bail!(
            "perf record: {}\n{}\n(root, and a mounted tracefs: mount -t tracefs tracefs /sys/kernel/tracing)",
            done.status,
            String::from_utf8_lossy(&done.stderr).trim()
        );
    }
    let text = std::fs::read_to_string(&out).context("latlas wrote nothing")?;
    let run: Run = serde_json::from_str(&text)?;
    let detours = run.recordings.into_iter().next().and_then(|recording| match recording {
        Recording::Interruptions(of) => of.cpus.into_iter().next(),
        _ => None,
    });
    let detours = detours.context("latlas measured no CPU")?;
    let traced = trace_detours(&arguments.perf, &data, &detours)?;
    Ok((detours, traced))
}

fn trace_detours(perf: &Path, data: &Path, detours: &Osnoise) -> anyhow::Result<Traced> {
    let mut script = Command::new(perf);
    script.arg("script").arg("-i").arg(data);
    script.args(["--ns", "-F", "time,event,trace", "--show-lost-events"]);
    let (text, warnings, _) = crate::process::output(&mut script)?;
    if let Some(said) = lost(&text, &warnings) {
        bail!("perf lost records, so the trace is no witness: {said}");
    }
    let thread = detours.thread.context("the thread has no number")?;
    Ok(Traced::from_text(&text, thread, detours.began_ns, detours.span_ns))
}

/// The line in which perf tells that it lost records: an event of its own
/// (`--show-lost-events`), or the warning at the end (tools/perf/util/session.c,
/// perf_session__warn_about_errors).
fn lost<'a>(text: &'a str, warnings: &'a str) -> Option<&'a str> {
    let events = text.lines().find(|line| line.contains("PERF_RECORD_LOST"));
    events.or_else(|| warnings.lines().find(|line| line.contains(" and lost ")))
}

/// What the trace says of a span.
#[derive(Debug, Default, PartialEq)]
struct Traced {
    /// From a switch away from the thread to the switch back, ns.
    off_cpu_ns: f64,
    /// Timer interrupts on the CPU, whichever task ran.
    ticks: u64,
    /// Their time, as far as the thread ran, ns.
    tick_ns: f64,
    /// Interrupts of devices on the CPU, whichever task ran.
    devices: u64,
}

impl Traced {
    fn from_text(text: &str, thread: u32, began_ns: u64, span_ns: u64) -> Traced {
        let ended_ns = began_ns + span_ns;
        let inside =
            |from: u64, to: u64| to.min(ended_ns).saturating_sub(from.max(began_ns)) as f64;
        let mut traced = Traced::default();
        let (mut away, mut entered) = (None, None);
        for (at_ns, event, rest) in text.lines().filter_map(script_record) {
            let within = (began_ns..ended_ns).contains(&at_ns);
            match event {
                "sched:sched_switch" => {
                    if field(rest, " prev_pid=") == Some(thread) {
                        away = Some(at_ns);
                    } else if field(rest, " next_pid=") == Some(thread)
                        && let Some(from) = away.take()
                    {
                        traced.off_cpu_ns += inside(from, at_ns);
                    }
                }
                "irq_vectors:local_timer_entry" => {
                    traced.ticks += u64::from(within);
                    entered = Some(at_ns);
                }
                "irq_vectors:local_timer_exit" => {
                    if let Some(from) = entered.take().filter(|_| away.is_none()) {
                        traced.tick_ns += inside(from, at_ns);
                    }
                }
                "irq:irq_handler_entry" => traced.devices += u64::from(within),
                _ => {}
            }
        }
        // Away until the end.
        traced.off_cpu_ns += away.map_or(0.0, |from| inside(from, ended_ns));
        traced
    }
}

/// Time, event and the rest of a line of `perf script`.
fn script_record(line: &str) -> Option<(u64, &str, &str)> {
    let (time, rest) = line.trim_start().split_once(": ")?;
    let (seconds, ns) = time.split_once('.')?;
    let at_ns = seconds.parse::<u64>().ok()? * 1_000_000_000 + ns.parse::<u64>().ok()?;
    let (event, rest) = rest.trim_start().split_once(": ")?;
    Some((at_ns, event, rest))
}

/// The number after a name; names of threads may hold anything.
fn field(text: &str, name: &str) -> Option<u32> {
    let (_, after) = text.rsplit_once(name)?;
    after.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "\
10.000000000:            sched:sched_switch: prev_comm=latlas-detours prev_pid=77 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=5 next_prio=120
10.000100000: irq_vectors:local_timer_entry: vector=236
10.000110000:  irq_vectors:local_timer_exit: vector=236
10.000500000:            sched:sched_switch: prev_comm=a b prev_pid=5 prev_prio=120 prev_state=R ==> next_comm=latlas-detours next_pid=77 next_prio=120
10.001000000: irq_vectors:local_timer_entry: vector=236
10.001004000:  irq_vectors:local_timer_exit: vector=236
10.001500000:         irq:irq_handler_entry: irq=36 name=virtio1-req.0
10.001503000:          irq:irq_handler_exit: irq=36 ret=handled
10.001900000:            sched:sched_switch: prev_comm=latlas-detours prev_pid=77 prev_prio=120 prev_state=R ==> next_comm=c next_pid=9 next_prio=120
10.002300000: irq_vectors:local_timer_entry: vector=236
";

    #[test]
    fn what_perf_lost_is_noticed_in_either_place() {
        let warned =
            "Warning:\nProcessed 51200 events and lost 3 chunks!\n\nCheck IO/CPU overload!\n";
        assert_eq!(lost(TRACE, warned), Some("Processed 51200 events and lost 3 chunks!"));
        assert!(lost(TRACE, "Warning:\nProcessed 9 samples and lost 5.00%!\n").is_some());
        let event = format!("{TRACE}10.1: PERF_RECORD_LOST lost 54\n");
        assert!(lost(&event, "").is_some());
        assert_eq!(lost(TRACE, "perf: a warning of another kind\n"), None);
    }

    #[test]
    fn the_share_is_the_median_rounds() {
        let round = |off_cpu_ns: f64| {
            let detours = Osnoise { span_ns: 1_000_000, ..Osnoise::default() };
            let traced = Traced { off_cpu_ns, ..Traced::default() };
            (detours, traced)
        };
        let rounds = [round(50.0), round(900_000.0), round(300.0)];
        assert_eq!(traced_share(&rounds), 0.0003);
    }

    #[test]
    fn a_trace_is_cut_to_the_span() {
        // From 0.2 ms after the first switch to 2.1 ms after it.
        let traced = Traced::from_text(TRACE, 77, 10_000_200_000, 1_900_000);
        let wanted =
            Traced { off_cpu_ns: 300_000.0 + 200_000.0, ticks: 1, tick_ns: 4_000.0, devices: 1 };
        assert_eq!(traced, wanted);
        let other = Traced::from_text(TRACE, 78, 10_000_000_000, 1_900_000);
        assert_eq!(other.off_cpu_ns, 0.0);
        assert_eq!(script_record("no time"), None);
    }
}
