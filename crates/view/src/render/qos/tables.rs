//! The tables of `latlas qos`.

use super::oakley::seen_ratio;
use model::compare::finding::Verdict;
use model::estimate::{self, Estimate};
use model::figure::number_of_digits;
use model::qos::figures::{
    job_residency as places_of, of_job, slowdown, slowdown_seen, wait_for_others,
};
use model::qos::shares::{SharePair, seen_to_act, weighs};
use model::qos::{Case, CaseRuns, Level, Outcome, Qos, Setting};
use model::residency::{Residency, Work};
use model::share::percent;
use model::stats::middle;
use model::story::{Cell, Table, Tone, left, right};
use model::unit::Unit;
use std::collections::BTreeMap;

pub(super) fn levels(document: &Qos) -> Table {
    let columns = [left("level"), right("value"), left("set for the job"), left("outcome")];
    let mut table = Table::new(columns);
    let mut all: Vec<_> = document.levels.iter().collect();
    all.sort_by_key(|here| here.level);
    for here in all {
        let level = here.level;
        let name = [Cell::from(level.label()), level.number().to_string().into()];
        if here.parts.is_empty() {
            let what = match level.is_known() {
                true => "nothing",
                false => "nothing: not a known level",
            };
            table.row(name.into_iter().chain([what.into()]));
            continue;
        }
        let mut name = Some(name);
        for part in &here.parts {
            let first = name.take().unwrap_or_else(|| ["".into(), "".into()]);
            let (text, tone) = match &part.outcome {
                Outcome::Applied => ("applied (can't be read back)".into(), Tone::Doubtful),
                Outcome::ReadBack if seen_to_act(document, level, &part.setting) => {
                    ("effective".into(), Tone::Good)
                }
                Outcome::ReadBack => (read_back(document, &part.setting).into(), Tone::Good),
                Outcome::Refused(why) => (format!("refused: {why}"), Tone::Bad),
                Outcome::Differs(what) => (format!("differs: {what}"), Tone::Bad),
            };
            let rest = [Cell::from(part.setting.label()), Cell::from(text).toned(tone)];
            table.row(first.into_iter().chain(rest));
        }
    }
    table
}

/// What to say of a part that was read back, and was not seen to act.
fn read_back(document: &Qos, setting: &Setting) -> &'static str {
    match setting {
        Setting::Nice(_) if !weighs(document, setting) => "applied (within its session)",
        _ => "applied (read back)",
    }
}

pub(super) fn times_table(document: &Qos) -> Table {
    let columns = [left("job"), right("time"), right("x alone"), right("GB/s").of_unit("GB/s")];
    let mut table = Table::new(columns);
    for (runs, job) in jobs(document) {
        let of = of_job(runs, job);
        let ratio = match runs.case {
            Case::Pair { .. } | Case::Same { .. } => match slowdown(document, runs, job) {
                None => slowdown_seen(document, runs, job)
                    .map_or("-".into(), |seen| seen_ratio(seen, runs.runs.len())),
                ratio => Cell::number(ratio),
            },
            Case::Alone { .. } | Case::Operations { .. } | Case::Long { .. } => "".into(),
        };
        let wait = wait_for_others(document, runs);
        let marked = |cell: Cell| match wait {
            Some(_) => cell.marked(estimate::Verdict::CannotTell),
            None => cell,
        };
        table.row([
            job_name_cell(runs, job),
            marked(Cell::estimate(&of.wall, &Unit::Time)),
            ratio,
            marked(Cell::estimate(&of.throughput, &of.throughput_unit())),
        ]);
        if let Some(wait) = wait {
            table.note("    ", format!("inconclusive: {wait}"));
        }
    }
    table
}

/// What the scheduler did to the jobs.
pub(super) fn scheduling(document: &Qos) -> Table {
    let columns = [
        left("job"),
        right("CPU time"),
        right("run delay"),
        right("switches"),
        right("migrations"),
    ];
    let mut table = Table::new(columns);
    let estimate = |estimate: Option<Estimate>, unit: &Unit| {
        estimate.map_or("-".into(), |of| Cell::estimate(&of, unit))
    };
    for (runs, job) in jobs(document) {
        let of = of_job(runs, job);
        table.row([
            job_name_cell(runs, job),
            Cell::estimate(&of.cpu, &Unit::Time),
            estimate(of.run_delay, &Unit::Time),
            estimate(of.switches, &Unit::Count),
            estimate(of.migrations, &Unit::Count),
        ]);
    }
    table
}

/// Whether the system counts how long threads wait for a CPU.
pub(super) fn counts_run_delay(document: &Qos) -> bool {
    jobs(document).all(|(runs, job)| of_job(runs, job).run_delay.is_some())
}

/// Each job of each case that was measured.
fn jobs(document: &Qos) -> impl Iterator<Item = (&CaseRuns, usize)> {
    let measured = document.cases.iter().filter(|runs| !runs.runs.is_empty());
    measured.flat_map(|runs| (0..runs.case.levels().len()).map(move |job| (runs, job)))
}

fn job_name_cell(runs: &CaseRuns, job: usize) -> Cell {
    let name = match (job, runs.case) {
        (0, Case::Pair { high, .. }) => high.label(),
        (0, Case::Same { level }) => level.label(),
        (0, case) => case.label(),
        (_, case) => {
            let level = case.levels().get(job).copied();
            format!("  + {}", level.map(Level::label).unwrap_or_default())
        }
    };
    name.into()
}

pub(super) fn shares_table(shares: &[SharePair]) -> Table {
    let columns = [
        left("jobs"),
        right("predicted %"),
        right("measured %"),
        right("points"),
        right("x"),
        left(""),
    ];
    let mut table = Table::new(columns);
    for pair in shares {
        let percent = |share: f64| number_of_digits(share * 100.0, 0.0);
        let apart = pair.points_apart().map(|points| number_of_digits(points, 0.1));
        let dash = |text: Option<String>| Cell::from(text.unwrap_or_else(|| "-".into()));
        let measured = match pair.interval {
            Some(share) => Cell::number(Some(share.scaled(100.0))),
            None => dash(pair.measured.map(percent)),
        };
        let ratio = match (pair.interval, pair.predicted) {
            (Some(share), Some(predicted)) if predicted > 0.0 => {
                Cell::number(Some(share.scaled(1.0 / predicted)))
            }
            _ => dash(pair.ratio().map(|ratio| number_of_digits(ratio, 0.0))),
        };
        let word = pair.word().map_or("".into(), |word| {
            let tone = match pair.agreement {
                Some(Verdict::SameWithinNoise) => Tone::Good,
                _ => Tone::Doubtful,
            };
            Cell::from(word).toned(tone)
        });
        table.row([
            Cell::from(pair.case.label()),
            dash(pair.predicted.map(percent)),
            measured,
            dash(apart),
            ratio,
            word,
        ]);
        if let Some(why) = pair.reason() {
            table.note("    ", why);
        }
    }
    table
}

/// CPUs that are columns of a table; more are its rows, for the jobs that ran alone.
const MOST_COLUMNS: usize = 4;
/// CPUs that a table has room for.
const MOST_CPUS: usize = 32;

/// By kind of cores, where there are several, and by CPU.
pub(super) fn places(document: &Qos) -> Vec<Table> {
    let all: Vec<_> =
        jobs(document).filter_map(|(runs, job)| Some((runs, job, places_of(runs, job)?))).collect();
    let Some((.., first)) = all.first() else {
        return Vec::new();
    };
    let mut tables = Vec::new();
    if first.kinds.len() > 1 {
        tables.push(by_kind(&all, first));
    }
    let mut cpus: Vec<u32> =
        all.iter().flat_map(|(.., places)| places.cpus.iter().map(|of| of.cpu)).collect();
    cpus.sort_unstable();
    cpus.dedup();
    match cpus.len() {
        0 => {}
        1..=MOST_COLUMNS => tables.push(by_cpu(&all, &cpus)),
        5..=MOST_CPUS => tables.extend(alone_by_cpu(&all, &cpus)),
        _ => {}
    }
    tables
}

type Places<'a> = (&'a CaseRuns, usize, Residency);

fn by_kind(all: &[Places], first: &Residency) -> Table {
    let kinds = first.kinds.iter().map(|kind| right(kind.name.clone()));
    let columns = [left("job")].into_iter().chain(kinds);
    let mut table = Table::new(columns.chain([right("moved")]));
    for (runs, job, places) in all {
        let kinds = places.kinds.iter().map(|kind| work(kind.work, places));
        let moved = [work_share(places.unknown(), places).into()];
        table.row([job_name_cell(runs, *job)].into_iter().chain(kinds).chain(moved));
    }
    table
}

fn by_cpu(all: &[Places], cpus: &[u32]) -> Table {
    let columns = cpus.iter().map(|cpu| right(format!("CPU {cpu}")));
    let columns = [left("job")].into_iter().chain(columns);
    let mut table = Table::new(columns.chain([right("moved")]));
    for (runs, job, places) in all {
        let on = cpus.iter().map(|&cpu| on_cpu(places, cpu));
        let on_any = places.cpus.iter().map(|of| of.work.cpu_ns).sum();
        let moved = Work { cpu_ns: places.all.cpu_ns.saturating_sub(on_any), ..Work::default() };
        let moved = [work_share(moved, places).into()];
        table.row([job_name_cell(runs, *job)].into_iter().chain(on).chain(moved));
    }
    table
}

fn alone_by_cpu(all: &[Places], cpus: &[u32]) -> Option<Table> {
    let alone: Vec<(Level, &Residency)> = all
        .iter()
        .filter_map(|(runs, _, places)| match runs.case {
            Case::Alone { level } => Some((level, places)),
            _ => None,
        })
        .collect();
    let levels = alone.iter().map(|(level, _)| right(level.label()));
    let mut table = Table::new([left("CPU")].into_iter().chain(levels));
    for &cpu in cpus {
        let cells = alone.iter().map(|(_, places)| on_cpu(places, cpu));
        table.row([Cell::from(cpu.to_string())].into_iter().chain(cells));
    }
    (!alone.is_empty()).then_some(table)
}

fn on_cpu(places: &Residency, cpu: u32) -> Cell {
    let on = places.cpus.iter().find(|of| of.cpu == cpu);
    on.map_or("-".into(), |of| work(of.work, places))
}

/// `CPU 0 4.12 GHz (4.05 to 4.13), ...`: the median over the jobs and the range; `None` where it was not
/// measured.
pub(super) fn clocks(document: &Qos) -> Option<String> {
    let mut by_cpu: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for places in jobs(document).filter_map(|(runs, job)| places_of(runs, job)) {
        for on in &places.cpus {
            by_cpu.entry(on.cpu).or_default().extend(on.clock_hz);
        }
    }
    let ghz = |hz: u64| number_of_digits(hz as f64 / 1e9, 0.0);
    let mut each = Vec::new();
    for (cpu, clocks) in by_cpu.into_iter().take(MOST_CPUS) {
        let range = clocks.iter().min().zip(clocks.iter().max());
        if let (Some((&low, &high)), Some(median)) = (range, middle(clocks.clone())) {
            let [low, median, high] = [low, median, high].map(ghz);
            each.push(format!("CPU {cpu} {median} GHz ({low} to {high})"));
        }
    }
    let is_known = !each.is_empty();
    is_known.then(|| format!("{}; the median over the jobs and their range", each.join(", ")))
}

/// `47.5 % 789/s`.
fn work(work: Work, places: &Residency) -> Cell {
    match work.blocks_per_cpu_second() {
        Some(rate) => {
            Cell::from(format!("{} {}/s", work_share(work, places), number_of_digits(rate, 0.0)))
        }
        None => "-".into(),
    }
}

/// The share of a job's CPU time.
fn work_share(work: Work, places: &Residency) -> String {
    match places.all.cpu_ns {
        0 => "-".into(),
        all_ns => percent(work.cpu_ns as f64 / all_ns as f64),
    }
}
