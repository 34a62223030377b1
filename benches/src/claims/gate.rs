//! The regression gate of `latlas run --baseline`: how often it cries wolf, and
//! how often it finds a row that is really a tenth slower.

use crate::bars::Bars;
use crate::ours::{self, MeasureTask};
use crate::table::TextTable;
use anyhow::Context;
use compare::gate::{Gate, judge_run};
use compare::operand::{Operand, without_samples};
use model::run::{Run, Scale};
use model::stats::share_interval;
use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

/// Ten small rows of the quick set: arithmetic, calls, the kernel, memory
/// within the caches, what programs do with it. None shares its time with
/// another one.
const ROWS: [&str; 10] = [
    "cpu.mul_i64",
    "cpu.div_i64",
    "call.virtual",
    "call.syscall",
    "alloc.malloc_free/16B",
    "collections.hash_lookup/in_cache",
    "cpu.memcpy/16B",
    "memory.naive_xor/50kB",
    "sync.mutex_uncontended",
    "codec.sha256_1K",
];
/// Runs that a user would have kept after some weeks, and that a tag may name.
const KEPT: usize = 10;

#[derive(clap::Args)]
pub struct Arguments {
    /// Comparisons of unchanged runs [default: 300, or 60 with --short]
    #[arg(long)]
    unchanged: Option<usize>,
    /// Runs with a slowed row [default: 50, or 20 with --short]
    #[arg(long)]
    slowed: Option<usize>,
    /// A first answer in some 10 minutes: a bar is missed only where the exact
    /// interval of the share lies beyond it
    #[arg(long)]
    short: bool,
    /// By how much a row may grow, percent
    #[arg(long, default_value_t = 5.0)]
    fail_above: f64,
    /// The CPU; each run chooses the quieter one if absent
    #[arg(long)]
    cpu: Option<u32>,
}

impl Arguments {
    fn unchanged(&self) -> usize {
        self.unchanged.unwrap_or(if self.short { 60 } else { 300 })
    }

    fn slowed(&self) -> usize {
        self.slowed.unwrap_or(if self.short { 20 } else { 50 })
    }
}

/// The ways of judging.
const WAYS: [&str; 3] = ["cold", "warm", "tag"];

/// What one way of judging came to.
#[derive(Default)]
struct Count {
    comparisons: u64,
    alarms: u64,
    again: u64,
    slowed: u64,
    hits: u64,
    others: u64,
}

struct Bench<'a> {
    arguments: &'a Arguments,
    /// The runs before, the newest first.
    before: VecDeque<Run>,
    seed: u64,
}

pub fn check_gate(arguments: &Arguments) -> anyhow::Result<Bars> {
    let began = Instant::now();
    let mut bench = Bench { arguments, before: VecDeque::new(), seed: 0 };
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut named: BTreeMap<String, u64> = BTreeMap::new();
    while bench.before.len() < KEPT {
        bench.keep_another()?;
    }
    for number in 0..arguments.unchanged() {
        let run = bench.measure_rows(&ROWS.map(String::from), Scale::Quick, None)?;
        for way in WAYS {
            let gate = bench.ask_gate(way, &run, None)?;
            let count = counts.entry(way).or_default();
            count.comparisons += 1;
            count.again += u64::from(gate.runs > 1);
            count.alarms += u64::from(!gate.crossed.is_empty());
            for row in gate.crossed {
                println!("unchanged run {}, {way}: {row} is named", number + 1);
                *named.entry(row).or_default() += 1;
            }
        }
        bench.keep(run);
        progress("unchanged", number + 1, arguments.unchanged(), &began);
    }
    let mut found: BTreeMap<&str, [u64; WAYS.len()]> = BTreeMap::new();
    for number in 0..arguments.slowed() {
        let row = ROWS[number % ROWS.len()];
        // A fresh baseline, as it was before the change.
        bench.keep_another()?;
        let run = bench.measure_rows(&ROWS.map(String::from), Scale::Quick, Some(row))?;
        for (at, way) in WAYS.into_iter().enumerate() {
            let gate = bench.ask_gate(way, &run, Some(row))?;
            let hit = gate.crossed.iter().any(|own| own == row);
            let count = counts.entry(way).or_default();
            count.slowed += 1;
            count.hits += u64::from(hit);
            count.others += u64::from(gate.crossed.iter().any(|own| own != row));
            found.entry(row).or_default()[at] += u64::from(hit);
            if !hit {
                println!("slowed run {}, {way}: {row} is missed: {}", number + 1, seen(&gate, row));
            }
        }
        progress("slowed", number + 1, arguments.slowed(), &began);
    }
    print(&counts, &found, arguments.slowed());
    println!(
        "{:.1} s of a run on average, {:.0} s in all; rows that were named wrongly: {named:?}",
        bench.before.iter().map(|run| run.wall_ms as f64 / 1e3).sum::<f64>()
            / bench.before.len() as f64,
        began.elapsed().as_secs_f64()
    );
    Ok(bars(&counts, arguments.short))
}

impl Bench<'_> {
    fn measure_rows(
        &mut self,
        rows: &[String],
        scale: Scale,
        slowed: Option<&str>,
    ) -> anyhow::Result<Run> {
        self.seed += 1;
        let run = ours::measure_in_child(&MeasureTask {
            rows: rows.to_vec(),
            scale,
            seed: self.seed,
            pin: self.arguments.cpu,
            slowed: slowed.map(str::to_owned),
            ..MeasureTask::for_rows(&[])
        })?;
        Ok(without_samples(run))
    }

    fn keep_another(&mut self) -> anyhow::Result<()> {
        let run = self.measure_rows(&ROWS.map(String::from), Scale::Quick, None)?;
        self.keep(run);
        Ok(())
    }

    fn keep(&mut self, run: Run) {
        self.before.push_front(run);
        self.before.truncate(KEPT + 1);
    }

    /// The gate's answer, in one of the ways; what it measures again is slowed
    /// as the run was.
    fn ask_gate(&mut self, way: &str, run: &Run, slowed: Option<&str>) -> anyhow::Result<Gate> {
        let runs: Vec<Run> = self.before.iter().cloned().collect();
        let newest = runs.first().cloned().context("runs are kept")?;
        let (baseline, recent) = match way {
            "cold" => (vec![newest], Vec::new()),
            "warm" => (vec![newest], runs[1..].to_vec()),
            _ => (runs[..KEPT].to_vec(), Vec::new()),
        };
        let share = self.arguments.fail_above / 100.0;
        // As the program does after a quick run.
        let mut again = |rows: &[String]| self.measure_rows(rows, Scale::Default, slowed);
        let baseline = Operand::of_runs(way, baseline);
        Ok(judge_run(&baseline, run.clone(), &recent, share, &mut again)?)
    }
}

/// What the gate saw of a row.
fn seen(gate: &Gate, row: &str) -> String {
    match gate.rows.iter().find(|own| own.row == row) {
        None => "it has no ratio".into(),
        Some(own) => format!("ratios {:.3?}, p {:.4?}", own.time_ratios, own.p_values),
    }
}

fn progress(what: &str, number: usize, of: usize, began: &Instant) {
    if number.is_multiple_of(10) || number == of {
        eprintln!("{what} {number} of {of}, {:.0} s", began.elapsed().as_secs_f64());
    }
}

/// A count with its share and the exact 95 % interval of it.
fn share_text(hits: u64, of: u64) -> String {
    match share_interval(hits, of) {
        None => "-".into(),
        Some(i) => format!(
            "{hits} of {of}: {:.1} % [{:.1}, {:.1}]",
            i.value * 100.0,
            i.low * 100.0,
            i.high * 100.0
        ),
    }
}

fn print(counts: &BTreeMap<&str, Count>, found: &BTreeMap<&str, [u64; WAYS.len()]>, slowed: usize) {
    let mut table =
        TextTable::new(&["way", "false alarms", "measured again", "found", "another named"]);
    for (way, count) in counts {
        table.add_line(vec![
            (*way).to_owned(),
            share_text(count.alarms, count.comparisons),
            share_text(count.again, count.comparisons),
            share_text(count.hits, count.slowed),
            share_text(count.others, count.slowed),
        ]);
    }
    table.print("Runs of ten rows against a baseline; shares with exact 95 % intervals");
    let mut table = TextTable::new(&["slowed row", "cold", "warm", "tag", "of"]);
    for (at, row) in ROWS.iter().enumerate() {
        let Some(hits) = found.get(row) else {
            continue;
        };
        let of = slowed / ROWS.len() + usize::from(at < slowed % ROWS.len());
        let mut line = vec![(*row).to_owned()];
        line.extend(hits.iter().map(u64::to_string));
        line.push(of.to_string());
        table.add_line(line);
    }
    table.print("Found, by row");
}

/// The promise: warm and with a tag of several runs. Cold is shown too. Of few
/// runs (`short`) the lower end of each share counts.
fn bars(counts: &BTreeMap<&str, Count>, short: bool) -> Bars {
    let mut bars = Bars::new();
    for way in WAYS {
        let Some(count) = counts.get(way) else {
            continue;
        };
        let percent = |hits: u64, of: u64| {
            let share = share_interval(hits, of)?;
            Some(100.0 * if short { share.low } else { share.value })
        };
        if count.comparisons > 0 {
            let alarms = percent(count.alarms, count.comparisons);
            bars.at_most(&format!("{way}: false alarms"), alarms, 1.0, " %");
        }
        if count.slowed > 0 && way != "cold" {
            let missed = percent(count.slowed - count.hits, count.slowed);
            bars.at_most(&format!("{way}: slowed rows that are missed"), missed, 10.0, " %");
        }
    }
    bars
}
