//! What latlas says while others use the machine: no row may be both unflagged
//! and wrong, and an idle machine must not be cried over.

use crate::bars::Bars;
use crate::busy::Busy;
use crate::ours::{self, Task};
use crate::spread::{self, median};
use crate::table::{Table, figure, percent};
use anyhow::bail;
use model::estimate::{Estimate, Verdict};
use model::run::{Bound, Run, Scale};
use std::collections::BTreeMap;

#[derive(clap::Args)]
pub struct Arguments {
    /// Idle and busy runs, of each
    #[arg(long, default_value_t = 5)]
    runs: u32,
    /// Budget of a run, s; what latlas itself takes if absent
    #[arg(long)]
    seconds: Option<f64>,
    /// The quick scale
    #[arg(long)]
    quick: bool,
    /// The CPU to measure on; chosen anew by each run if absent
    #[arg(long)]
    cpu: Option<u32>,
    /// Rows: ids, or patterns that end in *; the default set if none
    rows: Vec<String>,
}

/// Off by more than this is wrong.
const OFF: f64 = 0.05;

/// One estimate, boiled down.
#[derive(Clone)]
struct Seen {
    ok: bool,
    bound: Bound,
    ns: Option<f64>,
    cycles: Option<f64>,
    nothing: bool,
    why: String,
}

impl Seen {
    fn new(estimate: &Estimate, bound: Bound) -> Seen {
        Seen {
            ok: estimate.verdict == Verdict::Ok,
            bound,
            ns: estimate.ns().map(|i| i.value),
            cycles: estimate.quiet.and_then(|q| Some(q.cycles?.value)),
            nothing: estimate.below_ns.is_some(),
            why: format!("{} {}", estimate.verdict.text(), estimate.reason),
        }
    }
}

type Rows = BTreeMap<String, Seen>;

fn seen(run: &Run) -> Rows {
    let machine_shape = meter::machine_shape::MachineShape::of(&run.machine, vec![0], None);
    let paced = meter::plan::paced_by_core(&machine_shape);
    ours::estimates(run)
        .into_iter()
        .map(|(name, bound, estimate)| {
            // Beyond what the core paces a point follows memory, whatever its
            // row says.
            let point: Option<u64> =
                name.split_once('@').and_then(|(_, at)| at.split(',').next()?.parse().ok());
            let bound = match point {
                Some(bytes) if bytes > paced => Bound::Memory,
                _ => bound,
            };
            let seen = Seen::new(&estimate, bound);
            (name, seen)
        })
        .collect()
}

/// The idle machine's value of a row.
struct Reference {
    ns: f64,
    cycles: Option<f64>,
}

fn references(idle: &[Rows]) -> BTreeMap<String, Reference> {
    let mut references = BTreeMap::new();
    let names: Vec<&String> = idle.iter().flat_map(BTreeMap::keys).collect();
    for name in names {
        let ok: Vec<&Seen> = idle
            .iter()
            .filter_map(|rows| rows.get(name))
            .filter(|seen| seen.ok && !seen.nothing)
            .collect();
        // What the idle machine could not measure is no reference.
        if ok.len() * 2 <= idle.len() {
            continue;
        }
        let ns: Vec<f64> = ok.iter().filter_map(|seen| seen.ns).collect();
        let cycles: Vec<f64> = ok.iter().filter_map(|seen| seen.cycles).collect();
        if let Some(ns) = median(&ns) {
            let cycles = median(&cycles);
            references.insert(name.clone(), Reference { ns, cycles });
        }
    }
    references
}

#[derive(Clone, Copy)]
struct Deviation {
    ns: Option<f64>,
    cycles: Option<f64>,
    /// The one that the row answers for: cycles where the core sets the pace
    /// (the core's clock is not the row's to hold), else ns.
    own: Option<f64>,
}

fn deviation(seen: &Seen, reference: &Reference) -> Deviation {
    let ns = seen.ns.map(|ns| ns / reference.ns - 1.0);
    let cycles = seen.cycles.zip(reference.cycles).map(|(now, then)| now / then - 1.0);
    let own = match (seen.bound, cycles) {
        (Bound::Core, Some(cycles)) => Some(cycles),
        _ => ns,
    };
    Deviation { ns, cycles, own }
}

fn is_off(deviation: Option<f64>) -> bool {
    deviation.is_some_and(|d| d.abs() > OFF)
}

pub fn claim(arguments: &Arguments) -> anyhow::Result<Bars> {
    let cpus = sys::affinity::allowed_cpus()?;
    let (mut idle, mut busy) = (Vec::new(), Vec::new());
    for number in 0..arguments.runs {
        let task = Task {
            rows: arguments.rows.clone(),
            scale: if arguments.quick { Scale::Quick } else { Scale::Default },
            budget_s: arguments.seconds,
            seed: u64::from(number) + 1,
            pin: arguments.cpu,
            ..Task::of(&[])
        };
        eprintln!("idle run {} of {}", number + 1, arguments.runs);
        idle.push(seen(&ours::measure(&task)?));
        eprintln!("busy run {} of {}", number + 1, arguments.runs);
        let _loops = Busy::on(&cpus)?;
        busy.push(seen(&ours::measure(&task)?));
    }
    let references = references(&idle);
    if references.is_empty() {
        bail!("the machine was never idle enough for a reference");
    }
    print_table(&references, &busy);
    Ok(judge(&references, &idle, &busy))
}

fn print_table(references: &BTreeMap<String, Reference>, busy: &[Rows]) {
    let mut table = Table::new(&[
        "row",
        "idle ns",
        "idle cycles",
        "flagged of busy runs",
        "largest deviation, ns",
        "largest deviation, cycles",
    ]);
    for (name, reference) in references.iter().filter(|(name, _)| !name.contains('@')) {
        let runs: Vec<&Seen> = busy.iter().filter_map(|rows| rows.get(name)).collect();
        let largest = |pick: fn(&Deviation) -> Option<f64>| {
            runs.iter()
                .filter_map(|seen| pick(&deviation(seen, reference)))
                .max_by(|a, b| a.abs().total_cmp(&b.abs()))
        };
        let flagged = runs.iter().filter(|seen| !seen.ok).count();
        table.line(vec![
            name.clone(),
            figure(Some(reference.ns)),
            figure(reference.cycles),
            format!("{flagged} of {}", runs.len()),
            percent(largest(|d| d.ns)),
            percent(largest(|d| d.cycles)),
        ]);
    }
    table.print("Rows with busy loops on every CPU (points of curves are judged, not shown)");
}

fn judge(references: &BTreeMap<String, Reference>, idle: &[Rows], busy: &[Rows]) -> Bars {
    let (mut wrong, mut wrong_ns, mut wrong_cycles) = (Vec::new(), Vec::new(), Vec::new());
    let mut right_cpu_rows = Vec::new();
    println!();
    for (number, rows) in busy.iter().enumerate() {
        let (mut own, mut in_ns, mut in_cycles) = (0, 0, 0);
        let (mut cpu_rows, mut right) = (0, 0);
        for (name, seen) in rows {
            let Some(reference) = references.get(name) else {
                continue;
            };
            let deviation = deviation(seen, reference);
            if seen.ok && !seen.nothing {
                in_ns += u32::from(is_off(deviation.ns));
                in_cycles += u32::from(is_off(deviation.cycles));
                if is_off(deviation.own) {
                    own += 1;
                    println!(
                        "busy run {}: {name} is unflagged and off by {} (in ns {})",
                        number + 1,
                        percent(deviation.own),
                        percent(deviation.ns)
                    );
                }
            }
            if name.starts_with("cpu.") {
                cpu_rows += 1;
                right += u32::from(seen.ok && !is_off(deviation.own));
            }
        }
        wrong.push(f64::from(own));
        wrong_ns.push(f64::from(in_ns));
        wrong_cycles.push(f64::from(in_cycles));
        if cpu_rows > 0 {
            right_cpu_rows.push(f64::from(right) / f64::from(cpu_rows) * 100.0);
        }
    }
    println!(
        "unflagged and off by more than 5 % a busy run, each in its own unit: {wrong:?}; all in ns: {wrong_ns:?}; all in cycles: {wrong_cycles:?}"
    );

    let mut idle_flagged = Vec::new();
    for (number, rows) in idle.iter().enumerate() {
        let whole: Vec<(&String, &Seen)> =
            rows.iter().filter(|(name, _)| !name.contains('@')).collect();
        let flagged: Vec<&(&String, &Seen)> = whole.iter().filter(|(_, seen)| !seen.ok).collect();
        for (name, seen) in &flagged {
            println!("idle run {}: {name} flagged: {}", number + 1, seen.why);
        }
        idle_flagged.push(flagged.len() as f64 / whole.len().max(1) as f64 * 100.0);
    }
    println!(
        "cpu rows ok and right, % a busy run: {right_cpu_rows:.1?}; rows flagged, % an idle run: {idle_flagged:.1?}"
    );

    let mut bars = Bars::new();
    let most = spread::median_and_worst(&wrong).1;
    bars.at_most("unflagged and off in a busy run, most", most, 0.0, " rows");
    if let Some(right) = median(&right_cpu_rows) {
        bars.hold(
            right >= 80.0,
            format!("cpu rows ok and right in a busy run, median: {right:.1} % (at least 80 %)"),
        );
    }
    bars.at_most("rows flagged in an idle run, median", median(&idle_flagged), 10.0, " %");
    bars
}
