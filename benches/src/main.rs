//! How well latlas measures: one runner, one entry for each claim, compared with
//! other tools, published tables or itself. Each entry prints tables and a line
//! for each bar.
#![allow(clippy::disallowed_methods)]
#![forbid(unsafe_code)]
#![allow(unreachable_pub, reason = "a program: nothing of it is public")]

mod bars;
mod busy;
mod injected;
mod injectors;
mod made_up;
mod operations;
mod ours;
mod pairs;
mod process;
mod slowed;
mod spread;
mod table;
mod traced;
mod values;

mod claims {
    pub mod alarms;
    pub mod atlas_store;
    pub mod cost;
    pub mod coverage;
    pub mod decode;
    pub mod exec;
    pub mod fit;
    pub mod gate;
    pub mod honesty;
    pub mod judge;
    pub mod linear;
    pub mod osnoise;
    pub mod outside;
    pub mod packs;
    pub mod peers;
    pub mod printed;
    pub mod qos;
    pub mod repeatability;
    pub mod runs;
    pub mod tails;
    pub mod trace;
    pub mod truth;
    pub mod tune_peers;
    pub mod under_load;
}

use claims::*;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Check what latlas claims. Exit code: 0 all bars hold, 1 a bar is missed,
/// 2 the entry could not run.
#[derive(Parser)]
#[command(name = "latlas-bench", version)]
struct Arguments {
    #[command(subcommand)]
    entry: Claim,
}

#[derive(Subcommand)]
enum Claim {
    /// Spread of small operations over process runs of latlas, criterion and divan (4 min)
    Repeatability(repeatability::Arguments),
    /// Cycles of the cpu rows against published Zen 3 tables; an empty body; an L1 load (1 min)
    Truth(truth::Arguments),
    /// Latency against multichase, bandwidth against LMbench's bw_mem (15 min)
    Memory(peers::Arguments),
    /// System calls, signals, processes and hand-offs against LMbench, perf bench and
    /// core-to-core-latency (7 min)
    Kernel(peers::Arguments),
    /// Files and disk against LMbench and fio (15 min)
    Files(peers::Arguments),
    /// `latlas exec` against hyperfine and perf stat, and its overhead (20 min)
    Exec(exec::Arguments),
    /// How often `latlas exec` calls a command faster than itself (15 min)
    Alarms(alarms::Arguments),
    /// `latlas noise measure` against tracepoints of the same seconds; root (2 min)
    Osnoise(osnoise::Arguments),
    /// What several runs say of each other: coverage of the 95 % intervals, verdicts, spread (5 min)
    Runs(runs::Arguments),
    /// How often a rerun's figure in ns lies inside the interval of a run up to an hour before
    Coverage(coverage::Arguments),
    /// Rows whose quiet figure lies outside of the samples of their run
    Outside(outside::Arguments),
    /// What is flagged and what is off on a machine with a load (10 min)
    Honesty(honesty::Arguments),
    /// Bias and spread under a competing load, by control (10 min)
    UnderLoad(under_load::Arguments),
    /// False alarms and misses of `run --baseline` (25 min)
    Gate(gate::Arguments),
    /// False alarms and misses of `latlas judge`, on suites made up from kept slots (10 min)
    Judge(claims::judge::Arguments),
    /// What latlas's and pyperf's tune and reset leave changed; root (10 s)
    TunePeers(tune_peers::Arguments),
    /// What tracing costs the program: `latlas trace` against perf, strace and ftrace; root (6 min)
    Trace(trace::Arguments),
    /// How many records of the kernel's buffers a second become events (10 s)
    Decode(decode::Arguments),
    /// What `latlas trace ROW --tails` says of causes that are injected; root (5 min)
    Tails(tails::Arguments),
    /// `latlas qos` against the kernel's run times, `perf sched timehist`, our trace and the zstd
    /// command line; root (4 min)
    Qos(qos::Arguments),
    /// How often `latlas fit` is wrong: published types, recorded runs, and fleets made up from them (3 min)
    Fit(fit::Arguments),
    /// Time and size of an atlas of 1000 runs (5 min)
    AtlasStore(atlas_store::Arguments),
    /// Time and memory over the number of rows, by command (3 min)
    Linear(linear::Arguments),
    /// Wall time, memory, program and document size of latlas (5 min)
    Cost(cost::Arguments),
    /// What the C ABI of packs costs, by malloc and free (90 s)
    Packs(packs::Arguments),
    #[command(name = "__traced", hide = true)]
    Traced(traced::Arguments),
    #[command(name = "__injected", hide = true)]
    Injected(injected::Arguments),
    #[command(name = "__latlas", hide = true)]
    Latlas(operations::Arguments),
    #[command(name = "__criterion", hide = true)]
    Criterion(operations::Arguments),
    #[command(name = "__divan", hide = true)]
    Divan(operations::Arguments),
}

fn main() -> ExitCode {
    busy::enter_if_busy();
    ours::enter_if_child();
    match run_claim(&Arguments::parse().entry) {
        Ok(bars) => bars.conclude(),
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(2)
        }
    }
}

fn run_claim(entry: &Claim) -> anyhow::Result<bars::Bars> {
    match entry {
        Claim::Repeatability(of) => repeatability::check_repeatability(of),
        Claim::Truth(of) => truth::check_truth(of),
        Claim::Memory(of) => peers::check_peers(of, "memory"),
        Claim::Kernel(of) => peers::check_peers(of, "kernel"),
        Claim::Files(of) => peers::check_peers(of, "files"),
        Claim::Exec(of) => exec::check_exec(of),
        Claim::Alarms(of) => alarms::check_alarms(of),
        Claim::Osnoise(of) => osnoise::check_osnoise(of),
        Claim::Linear(of) => linear::check_linear(of),
        Claim::Runs(of) => runs::check_runs(of),
        Claim::Coverage(of) => coverage::check_coverage(of),
        Claim::Outside(of) => outside::check_outside(of),
        Claim::Honesty(of) => honesty::check_honesty(of),
        Claim::UnderLoad(of) => under_load::check_under_load(of),
        Claim::Gate(of) => gate::check_gate(of),
        Claim::Judge(of) => claims::judge::check_judge(of),
        Claim::TunePeers(of) => tune_peers::check_tune_peers(of),
        Claim::Qos(of) => qos::check_qos(of),
        Claim::Fit(of) => fit::check_fit(of),
        Claim::AtlasStore(of) => atlas_store::check_atlas_store(of),
        Claim::Cost(of) => cost::check_cost(of),
        Claim::Packs(of) => packs::check_packs(of),
        Claim::Trace(of) => trace::check_trace(of),
        Claim::Decode(of) => decode::check_decode(of),
        Claim::Tails(of) => tails::check_tails(of),
        Claim::Injected(of) => injected::visit(of).map(|()| bars::Bars::new()),
        Claim::Traced(of) => traced::do_operations(of).map(|()| bars::Bars::new()),
        Claim::Latlas(of) => operations::latlas(of).map(|()| bars::Bars::new()),
        Claim::Criterion(of) => {
            operations::criterion(of);
            Ok(bars::Bars::new())
        }
        Claim::Divan(of) => {
            operations::divan(of);
            Ok(bars::Bars::new())
        }
    }
}
