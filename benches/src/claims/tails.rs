//! Why operations were slow, as `latlas trace ROW --tails` says, against causes that are injected
//! and know when they acted. Of the time that an injector took from the slowest operations,
//! the share that is named rightly, wrongly, and not at all.

use crate::bars::Bars;
use crate::injected::{ProcessReport, Stretches};
use crate::injectors::{Acted, ControlGroup, Injection, InjectionSite};
use crate::spread::median;
use crate::table::{TextTable, percent};
use anyhow::{Context, bail};
use model::trace::tails::{Cause, Tails, tails};
use model::trace::{Ended, InterruptKind, Target, Tier, Trace};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::attached::Held;
use sys::role::frame;
use trace::record::{self, RecordRequest};

#[derive(clap::Args)]
pub struct Arguments {
    /// Rounds of all
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Inject these only
    #[arg(long)]
    only: Vec<Injection>,
    /// The row [default: bench.spin, which computes; bench.sleep for the clock]
    #[arg(long)]
    row: Option<String>,
    /// Operations of a visit [default: 10000, or 2000 long ones for interrupts and the clock]
    #[arg(long)]
    operations: Option<u32>,
    /// Record on any CPU, the one of the operations too
    #[arg(long)]
    share: bool,
    /// Print what was named, with its time
    #[arg(long)]
    verbose: bool,
}

/// Shares of the injected time.
#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    rightly: f64,
    wrongly: f64,
    /// Of all excess.
    injected: f64,
    /// Slow operations, and those that lost most of their time to something else.
    slow: usize,
    left_out: usize,
}

const TIERS: [Tier; 2] = [Tier::Full, Tier::OwnProcess];

/// Runs what is asked for.
///
/// # Errors
/// If a visit can't be made or recorded.
pub fn check_tails(arguments: &Arguments) -> anyhow::Result<Bars> {
    let cpus = sys::allowed_cpus()?;
    let (Some(&cpu), Some(&other)) = (cpus.first(), cpus.last()) else {
        bail!("no CPU");
    };
    if cpu == other {
        println!("one CPU: recorder and injectors share it with the operations");
    } else if !arguments.share {
        sys::pin_to(&[other])?;
    }
    let held = sys::attached::hold()?;
    let mut bars = Bars::new();
    let mut table = TextTable::new(&[
        "",
        "tier",
        "rightly",
        "smallest",
        "largest",
        "wrongly",
        "largest",
        "unexplained",
        "injected of excess",
        "left out",
    ]);
    let mut all: [Vec<Shares>; 2] = Default::default();
    for injection in Injection::ALL {
        if !arguments.only.is_empty() && !arguments.only.contains(&injection) {
            continue;
        }
        let mut shares: [Vec<Shares>; 2] = Default::default();
        for _ in 0..arguments.rounds {
            for (shares, tier) in shares.iter_mut().zip(TIERS) {
                match once(arguments, injection, tier, &cpus, &held) {
                    Ok(Some(found)) => shares.push(found),
                    Ok(None) => println!("{}: no slow operation was hit", injection.label()),
                    Err(error) => println!("SKIPPED {}: {error:#}", injection.label()),
                }
                if held.is_requested_within(Duration::ZERO) {
                    bail!("interrupted");
                }
            }
        }
        judge_injection(&mut table, &mut bars, injection.label(), &shares);
        for (all, shares) in all.iter_mut().zip(shares) {
            all.extend(shares);
        }
    }
    for (shares, tier) in all.iter().zip(TIERS) {
        add_shares_line(&mut table, "all", tier, shares);
    }
    table.print("injected time of the slowest operations, by what it is called: medians");
    Ok(bars)
}

fn values(shares: &[Shares], value: impl Fn(&Shares) -> f64) -> Vec<f64> {
    model::stats::sorted(shares.iter().map(value))
}

fn add_shares_line(table: &mut TextTable, name: &str, tier: Tier, shares: &[Shares]) {
    let rightly = values(shares, |s| s.rightly);
    let wrongly = values(shares, |s| s.wrongly);
    let sum = |count: fn(&Shares) -> usize| shares.iter().map(count).sum::<usize>();
    let rest = values(shares, |s| 1.0 - s.rightly - s.wrongly);
    table.add_line(vec![
        name.into(),
        tier.name().into(),
        percent(median(&rightly)),
        percent(rightly.first().copied()),
        percent(rightly.last().copied()),
        percent(median(&wrongly)),
        percent(wrongly.last().copied()),
        percent(median(&rest)),
        percent(median(&values(shares, |s| s.injected))),
        format!("{} of {}", sum(|s| s.left_out), sum(|s| s.slow)),
    ]);
}

/// The lines of an injection. One that was not hit misses its bars.
fn judge_injection(table: &mut TextTable, bars: &mut Bars, name: &str, shares: &[Vec<Shares>; 2]) {
    for (shares, tier) in shares.iter().zip(TIERS) {
        add_shares_line(table, name, tier, shares);
        hold(bars, name, tier, shares);
    }
}

fn hold(bars: &mut Bars, name: &str, tier: Tier, shares: &[Shares]) {
    let least = if tier == Tier::Full { 0.85 } else { 0.7 };
    let tier = tier.name();
    let rightly = median(&values(shares, |s| s.rightly));
    bars.within(&format!("{name}, {tier}, rightly"), rightly, least, 1.0);
    let wrongly = median(&values(shares, |s| s.wrongly));
    bars.within(&format!("{name}, {tier}, wrongly"), wrongly, 0.0, 0.05);
}

/// One visit with a cause injected.
fn once(
    arguments: &Arguments,
    injection: Injection,
    tier: Tier,
    cpus: &[u32],
    held: &Held,
) -> anyhow::Result<Option<Shares>> {
    let (Some(&cpu), Some(&other)) = (cpus.first(), cpus.last()) else {
        bail!("no CPU");
    };
    let allowed: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let group = (injection == Injection::Quota).then(ControlGroup::new).transpose()?;
    let (row, operation_us, operations) = injection.operations();
    let row = arguments.row.as_deref().unwrap_or(row);
    let operations = arguments.operations.unwrap_or(operations);
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["__injected", "--row", row])
        .args(["--operations", &operations.to_string()])
        .args(["--operation-us", &operation_us.to_string()])
        .args(["--cpu", &cpu.to_string()])
        .args(["--allowed", &allowed.join(",")]);
    match injection {
        Injection::Faults => command.arg("--faults"),
        Injection::Interrupts => command.args(["--interrupts-from", &other.to_string()]),
        _ => &mut command,
    };
    if let Some(group) = &group {
        command.arg("--group").arg(group.path());
    }
    let place = InjectionSite {
        cpu,
        other,
        group: group.as_ref().map(ControlGroup::path),
        parent: sys::thread::current_id().context("threads have no numbers")?,
    };
    let stop = AtomicBool::new(false);
    let (recorded, acted) = std::thread::scope(|scope| {
        let acting = scope.spawn(|| injection.act(&place, &stop));
        let recorded = recorded(command, held, tier);
        stop.store(true, Ordering::Relaxed);
        let acted = acting.join();
        let failed = || Err(anyhow::anyhow!("the injector failed"));
        (recorded, acted.unwrap_or_else(|_| failed()))
    });
    let acted = acted?;
    let (trace, answered) = recorded?;
    let truth: Stretches = [acted.stretches.clone(), answered].concat();
    let found = tails(&trace).into_iter().next();
    let found = found.context("no operations")?;
    if arguments.verbose {
        print(injection, &trace, &found);
    }
    Ok(attributed_shares(&trace, &found, &truth, injection, &acted))
}

fn recorded(mut command: Command, held: &Held, tier: Tier) -> anyhow::Result<(Trace, Stretches)> {
    let machine = sys::machine_facts(Path::new("/"));
    let request = RecordRequest {
        tier: Some(tier),
        scheduler_only: false,
        interrupts: true,
        stacks: None,
        usdt: None,
        heap: None,
        limit: None,
        last: None,
        limit_bytes: 256 << 20,
        keep_off: None,
        cpus: machine.online_cpus.get().context("no CPUs")?.clone(),
        architecture: machine.arch,
        kernel: machine.kernel.get().cloned().unwrap_or_default(),
    };
    let (mut answer, stdout) = std::io::pipe()?;
    command.stdout(stdout);
    let reader = std::thread::spawn(move || frame::receive::<ProcessReport>(&mut answer));
    let target = Target::Command(Vec::new());
    let trace = record::started(command, target, held, &request)?;
    let answer = reader.join().unwrap_or(Ok(None))?;
    match (answer, trace.ended) {
        (Some((marks, truth)), Ended::Exited(0)) => Ok((trace.of_row("row".into(), &marks), truth)),
        (_, ended) => bail!("no answer: {ended:?}"),
    }
}

/// Whether this is the injected cause by its name.
fn is_right(cause: Cause, tier: Tier, injection: Injection, by: u32) -> bool {
    match (injection, cause) {
        (
            Injection::Neighbour | Injection::Fifo,
            Cause::Preempted(Some(id)) | Cause::Queued(id),
        ) => id == by,
        (Injection::Neighbour | Injection::Fifo, Cause::Preempted(None)) => tier != Tier::Full,
        (Injection::Faults, Cause::Faults)
        | (Injection::Quota, Cause::Throttled)
        | (Injection::Interrupts, Cause::Interrupts(InterruptKind::CallFunction))
        | (Injection::Clock, Cause::ClockStep)
        | (Injection::Stop, Cause::Stopped) => true,
        _ => false,
    }
}

/// Of an operation, the injector took the time in which it acted, at most its excess. What is
/// named beyond the other excess is wrong. Operations that lost most of their time to something
/// else are left out: its cause is unknown.
fn attributed_shares(
    trace: &Trace,
    found: &Tails,
    truth: &Stretches,
    injection: Injection,
    acted: &Acted,
) -> Option<Shares> {
    /// Of the excess of an operation.
    const MOST: f64 = 0.5;
    let Target::Row(row) = &trace.target else {
        return None;
    };
    let (mut injected, mut rightly, mut wrongly) = (0.0, 0.0, 0.0);
    let mut left_out = 0;
    for slow in &found.slow {
        let operation = row.operations[slow.number];
        let [from_ns, to_ns] =
            [operation.from_ns, operation.to_ns].map(|ns| ns + trace.began.raw_ns);
        let overlap = |&(from, to): &(u64, u64)| to.min(to_ns).saturating_sub(from.max(from_ns));
        let acted_ns = truth.iter().map(overlap).sum::<u64>() as f64;
        let taken_ns = acted_ns.min(slow.excess_ns);
        if taken_ns < slow.excess_ns * MOST {
            left_out += 1;
            continue;
        }
        let named = |right: bool| -> f64 {
            let causes = slow.causes.iter().filter(|(cause, _)| {
                cause.is_explained()
                    && is_right(*cause, trace.tier, injection, acted.thread) == right
            });
            causes.map(|(_, ns)| ns).sum()
        };
        let (right_ns, other_ns) = (named(true), named(false));
        injected += taken_ns;
        rightly += right_ns.min(taken_ns);
        wrongly += (right_ns - taken_ns).max(0.0);
        wrongly += (other_ns - (slow.excess_ns - taken_ns)).max(0.0);
    }
    (injected > 0.0).then(|| Shares {
        rightly: rightly / injected,
        wrongly: wrongly / injected,
        injected: injected / found.excess_ns(),
        slow: found.slow.len(),
        left_out,
    })
}

fn print(injection: Injection, trace: &Trace, found: &Tails) {
    let excess_ns = found.excess_ns();
    println!(
        "\n{}, {}: median {:.1} µs, {} beyond {:.1} µs, excess {:.3} ms",
        injection.label(),
        trace.tier.name(),
        found.median_ns as f64 / 1e3,
        found.slow.len(),
        found.limit_ns as f64 / 1e3,
        excess_ns / 1e6
    );
    let threads = trace.by_id();
    for (cause, ns, count) in found.causes() {
        let name = match cause {
            Cause::Preempted(Some(id)) | Cause::Queued(id) => threads.name_of(id).unwrap_or(""),
            _ => "",
        };
        let share = percent(Some(ns / excess_ns));
        println!("  {share:>7} {count:>3} {cause:?} {name}");
    }
    if let Target::Row(row) = &trace.target {
        println!("  prices {:?}, {:?}", row.prices, trace.losses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::ExitCode;

    fn code(shares: &[Vec<Shares>; 2]) -> String {
        let (mut table, mut bars) = (TextTable::new(&[""; 10]), Bars::new());
        judge_injection(&mut table, &mut bars, "quota", shares);
        format!("{:?}", bars.conclude())
    }

    #[test]
    fn without_a_figure_a_bar_is_missed() {
        let right = vec![Shares { rightly: 1.0, ..Shares::default() }];
        let [holds, misses] = [ExitCode::SUCCESS, ExitCode::FAILURE].map(|c| format!("{c:?}"));
        assert_eq!(code(&[right.clone(), right.clone()]), holds);
        assert_eq!(code(&[right, Vec::new()]), misses);
        assert_eq!(code(&Default::default()), misses);
    }
}
