//! The tables of `latlas qos`.

use model::estimate::Estimate;
use model::qos::figures::{SharePair, of_job, slowdown, where_it_ran};
use model::qos::{Case, CaseRuns, Level, Outcome, Qos};
use model::shown::number_of_digits;
use model::story::{Cell, Table, Tone, left, right};
use model::unit::Unit;

pub(super) fn levels(document: &Qos) -> Table {
    let columns = [
        left("level"),
        right("value"),
        left("set for the job"),
        left("outcome"),
    ];
    let mut table = Table::new(columns);
    let mut all: Vec<_> = document.levels.iter().collect();
    all.sort_by_key(|here| here.level);
    for here in all {
        let level = here.level;
        let name = [Cell::from(level.name()), level.number().to_string().into()];
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
                Outcome::Effective => ("effective".into(), Tone::Good),
                Outcome::Refused(why) => (format!("refused: {why}"), Tone::Bad),
                Outcome::Differs(what) => (format!("differs: {what}"), Tone::Bad),
            };
            let rest = [
                Cell::from(part.setting.text()),
                Cell::from(text).toned(tone),
            ];
            table.row(first.into_iter().chain(rest));
        }
    }
    table
}

pub(super) fn times(document: &Qos) -> Table {
    let columns = [
        left("job"),
        right("time"),
        right("x alone"),
        right("GB/s").of_unit("GB/s"),
    ];
    let mut table = Table::new(columns);
    for (runs, job) in jobs(document) {
        let of = of_job(runs, job);
        let ratio = match runs.case {
            Case::Pair { .. } | Case::Same { .. } => Cell::number(slowdown(document, runs, job)),
            Case::Alone { .. } | Case::Operations { .. } | Case::Long { .. } => "".into(),
        };
        table.row([
            name(runs, job),
            Cell::estimate(&of.wall, &Unit::Time),
            ratio,
            Cell::estimate(&of.throughput, &of.throughput_unit()),
        ]);
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
            name(runs, job),
            Cell::estimate(&of.cpu, &Unit::Time),
            estimate(of.run_delay, &Unit::Time),
            estimate(of.switches, &Unit::Count),
            estimate(of.migrations, &Unit::Count),
        ]);
    }
    table
}

/// Each job of each case that was measured.
fn jobs(document: &Qos) -> impl Iterator<Item = (&CaseRuns, usize)> {
    let measured = document.cases.iter().filter(|runs| !runs.runs.is_empty());
    measured.flat_map(|runs| (0..runs.case.levels().len()).map(move |job| (runs, job)))
}

fn name(runs: &CaseRuns, job: usize) -> Cell {
    let name = match (job, runs.case) {
        (0, Case::Pair { high, .. }) => high.name(),
        (0, Case::Same { level }) => level.name(),
        (0, case) => case.name(),
        (_, case) => {
            let level = case.levels().get(job).copied();
            format!("  + {}", level.map(Level::name).unwrap_or_default())
        }
    };
    name.into()
}

/// A share in percent.
fn percent(share: f64, half: f64) -> String {
    format!("{} %", number_of_digits(share * 100.0, half * 100.0))
}

pub(super) fn shares(shares: &[SharePair]) -> Table {
    let columns = [
        left("jobs"),
        right("predicted %"),
        right("measured %"),
        right("points apart"),
        left(""),
    ];
    let mut table = Table::new(columns);
    for pair in shares {
        let percent = |share: f64| number_of_digits(share * 100.0, 0.0);
        let apart = pair
            .points_apart()
            .map(|points| number_of_digits(points, 0.1));
        let dash = |text: Option<String>| Cell::from(text.unwrap_or_else(|| "-".into()));
        let measured = match pair.interval {
            Some(share) => Cell::number(Some(share.scaled(100.0))),
            None => dash(pair.measured.map(percent)),
        };
        let word = match (&pair.reason, pair.points_apart()) {
            (Some(reason), _) => Cell::from(reason.to_string()).toned(Tone::Doubtful),
            (None, Some(_)) => Cell::from("agree").toned(Tone::Good),
            (None, None) => "".into(),
        };
        table.row([
            Cell::from(pair.case.name()),
            dash(pair.predicted.map(percent)),
            measured,
            dash(apart),
            word,
        ]);
    }
    table
}

/// CPUs that a table has room for.
const MOST_CPUS: usize = 32;

pub(super) fn places(document: &Qos) -> Option<Table> {
    let alone: Vec<(Level, Vec<_>)> = document
        .cases
        .iter()
        .filter_map(|runs| match runs.case {
            Case::Alone { level } if !runs.runs.is_empty() => {
                Some((level, where_it_ran(runs, 0).0))
            }
            _ => None,
        })
        .collect();
    let mut cpus: Vec<u32> = alone
        .iter()
        .flat_map(|(_, parts)| parts.iter().map(|part| part.cpu))
        .collect();
    cpus.sort_unstable();
    cpus.dedup();
    if alone.is_empty() || cpus.is_empty() || cpus.len() > MOST_CPUS {
        return None;
    }
    let levels = alone.iter().map(|(level, _)| right(level.name()));
    let mut table = Table::new([left("CPU")].into_iter().chain(levels));
    for cpu in cpus {
        let cells = alone.iter().map(|(_, parts)| {
            let part = parts.iter().find(|part| part.cpu == cpu);
            part.map_or("-".into(), |part| {
                Cell::from(format!(
                    "{} {}/s",
                    percent(part.share, 0.005),
                    number_of_digits(part.blocks_per_cpu_second, 0.0)
                ))
            })
        });
        table.row([Cell::from(cpu.to_string())].into_iter().chain(cells));
    }
    Some(table)
}
