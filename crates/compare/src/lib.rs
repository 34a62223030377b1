//! Two sides row by row: what they share, the ratio with its interval, and
//! what may be said of it. The statistics are `model::compare`; here documents
//! become their input, and their answers a [`Comparison`] to print.
//!
//! Everything is a pure function of the documents; nothing here reads files.
mod alike;
pub mod gate;
mod held_out;
pub mod history;
pub mod obstacle;
pub mod operand;
pub mod references;
pub(crate) mod row;
pub mod selftest;
pub(crate) mod shared;
#[cfg(any(test, feature = "synthetic"))]
pub mod synthetic;
pub mod tables;
#[cfg(test)]
mod tests;

pub use alike::{Difference, alike, files_alike};
pub use operand::{Operand, Source};
pub use row::{ComparedRow, Direction, Ends, Grown, RatioFigure, SideFigure};

use crate::row::{Basis, Kind, Row, Rule};
use crate::shared::{keys, of_runs, of_side};
use model::compare::between::{Dispersion, Scatter};
use model::compare::finding::{Finding, LEVEL, Tested, detectable_changes, findings, grown_beyond};
use model::compare::ratio::Ratio;
use model::run::Run;
use model::summary::Key;
use model::utc;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// What a memory row is set in relation to by default.
pub const MEMORY_REFERENCE: &str = "memory.latency/DRAM";

/// Rows are the same within this share of 1, unless somebody says otherwise.
pub const USUAL_MARGIN: f64 = 0.05;

/// How to compare.
#[derive(Clone, Debug)]
pub struct Options {
    /// *Same within noise* is what is not different and has its interval within
    /// this share of 1.
    pub margin: f64,
    /// The gate: rows whose time surely grew by more than this share.
    pub fail_above: Option<f64>,
    /// What machine drift is taken out by, if it is.
    pub normalize: Option<Normalize>,
}

/// By which workload, timed in both, the machine's drift is taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Normalize {
    /// Core-bound rows by the core's clock, memory's by [`MEMORY_REFERENCE`].
    Usual,
    /// Every row by this one.
    Row(String),
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum CompareError {
    /// The reference row of `--normalize` can't be one.
    #[error("can't normalize by {row:?}: {why}")]
    NoReference {
        /// Which.
        row: String,
        /// Why.
        why: String,
    },
    /// No row in common, or none of those asked for.
    #[error("{a} and {b} have no row in common{of}")]
    NothingShared {
        /// One side.
        a: String,
        /// The other.
        b: String,
        /// Of which rows, where only some were asked for.
        of: &'static str,
    },
}

/// B against A.
#[derive(Serialize, JsonSchema, Clone, Debug)]
pub struct Comparison {
    /// The baseline.
    pub a: SideFacts,
    /// What is set against it.
    pub b: SideFacts,
    /// What the two were measured differently in; empty against a published
    /// table.
    pub differences: Vec<Difference>,
    /// What neither side says of itself and may differ unseen.
    pub unknown_on_both: Vec<&'static str>,
    /// How it was compared.
    pub method: Method,
    /// Single figures, levels and modes, tested together.
    pub rows: Vec<ComparedRow>,
    /// Points of curves and maps, tested together, apart from the rows.
    pub points: Vec<ComparedRow>,
    /// Rows that only A has.
    pub only_in_a: Vec<String>,
    /// Rows that only B has.
    pub only_in_b: Vec<String>,
    /// Rows whose time surely grew beyond the gate.
    pub crossed: Vec<String>,
}

/// One side.
#[derive(Serialize, JsonSchema, Clone, Debug)]
pub struct SideFacts {
    /// As it was named.
    pub name: String,
    /// Its runs, the newest first; none for a published table.
    pub runs: Vec<RunFacts>,
    /// The published table's title and source, if it is one.
    pub published: Option<String>,
}

/// What must be known of a run beside its figures.
#[derive(Serialize, JsonSchema, Clone, Debug)]
pub struct RunFacts {
    /// Its UUID.
    pub id: String,
    /// When it began, ms since 1970 UTC; absent of an imported run.
    pub started_unix_ms: Option<u64>,
    /// When it was measured as its file says, and imported, in words.
    pub imported: Option<String>,
    /// Machine in a line.
    pub machine: String,
    /// Program with version, commit and profile.
    pub program: String,
    /// Median core clock, GHz.
    pub core_clock_ghz: Option<f64>,
    /// Load average over one minute before and after.
    pub load: Option<[f64; 2]>,
    /// What forbids to rely on it: emulated, partial, debug.
    pub warnings: Vec<String>,
}

/// How it was compared.
#[derive(Serialize, JsonSchema, Clone, Debug)]
pub struct Method {
    /// How far from 1 the interval of a row that is the same may reach, as a
    /// share.
    pub margin: f64,
    /// Of rows called different, at most this share is expected to be wrong;
    /// the chance of a wrong crossing of the gate.
    pub level: f64,
    /// Whether core-bound rows are compared in cycles, and why or why not.
    pub cycles: String,
    /// How many runs beside (or of a side with several) hold rows that are
    /// compared and so say what runs differ by, by group; of a single row there
    /// may be fewer.
    pub kept_runs: Vec<usize>,
    /// What was taken out as drift, in words; empty without `--normalize`.
    pub normalized: Vec<String>,
    /// The gate, as a share.
    pub fail_above: Option<f64>,
}

impl Comparison {
    /// How many rows have this finding.
    pub fn count(&self, finding: Finding) -> usize {
        self.rows.iter().filter(|r| r.finding == finding).count()
    }

    /// Whether anything can be told of any row or point.
    pub fn has_findings(&self) -> bool {
        let mut all = self.rows.iter().chain(&self.points);
        all.any(|row| row.finding != Finding::CannotTell)
    }
}

/// Compares B with the baseline A. `kept` are groups of other runs, alike
/// within each group, that say what runs differ by; `wanted` picks rows by id.
pub fn compare(
    a: &Operand,
    b: &Operand,
    kept: &[Vec<Run>],
    wanted: &dyn Fn(&str) -> bool,
    options: &Options,
) -> Result<Comparison, CompareError> {
    let all_keys = keys(&[a, b]);
    let cycles = in_cycles(a, b, options);
    let sides = [of_side(a, &all_keys), of_side(b, &all_keys)];
    let in_both = |at: usize| {
        let has = |side: &Vec<shared::Has>| !matches!(side[at], shared::Has::Nothing);
        wanted(&all_keys[at].id) && sides.iter().all(has)
    };
    let own = [a, b].map(Operand::runs);
    let mut groups_of_runs = groups(own.into_iter(), &all_keys, &in_both);
    let own = groups_of_runs.len();
    groups_of_runs.extend(groups(kept.iter().map(Vec::as_slice), &all_keys, &in_both));
    let rule = Rule {
        cores_alike: cycles.is_ok(),
        kept: groups_of_runs,
        own,
    };
    let bases = Bases::of(&all_keys, &sides, &rule);
    let reference = Reference::of(options, &all_keys, &sides, &rule, &bases)?;

    let (mut rows, mut points) = (Vec::new(), Vec::new());
    let (mut only_in_a, mut only_in_b) = (Vec::new(), Vec::new());
    // A row's modes follow it, and are figures of their own where it has two
    // states: else they would be the same test twice.
    let mut in_modes = false;
    for (at, key) in all_keys.iter().enumerate().filter(|(_, k)| wanted(&k.id)) {
        let in_a = &sides[0][at];
        let row = bases.row(key, at, &sides);
        if key.mode.is_none() {
            in_modes = row.as_ref().is_some_and(Row::is_in_modes);
        } else if !in_modes {
            continue;
        }
        match row {
            Some(row) if key.at.is_empty() => rows.push(reference.applied(row)),
            Some(row) => points.push(reference.applied(row)),
            None => note_missing(key, in_a, &mut only_in_a, &mut only_in_b),
        }
    }
    if rows.is_empty() && points.is_empty() {
        let some = all_keys.iter().any(|key| !wanted(&key.id));
        return Err(CompareError::NothingShared {
            a: a.name.clone(),
            b: b.name.clone(),
            of: if some { " among those asked for" } else { "" },
        });
    }
    let crossed = crossed(&rows, options);
    Ok(Comparison {
        a: SideFacts::of(a),
        b: SideFacts::of(b),
        differences: of_latest(a, b, alike::differences),
        unknown_on_both: of_latest(a, b, alike::unknown_on_both),
        method: Method {
            margin: options.margin,
            level: LEVEL,
            cycles: cycles.unwrap_or_else(|why| why),
            kept_runs: rule.kept.iter().map(|(count, _)| *count).collect(),
            normalized: reference.words,
            fail_above: options.fail_above,
        },
        rows: found(rows, options),
        points: found(points, options),
        only_in_a,
        only_in_b,
        crossed,
    })
}

/// How every figure is compared, and what is known of each kind of them.
struct Bases {
    by_key: Vec<Basis>,
    /// Points of curves are a kind of their own.
    kinds: HashMap<(bool, Kind), Dispersion>,
}

impl Bases {
    fn of(keys: &[Key], sides: &[Vec<shared::Has>; 2], rule: &Rule) -> Bases {
        let places = 0..keys.len();
        let of = |at: usize| Basis::of(at, &sides[0][at], &sides[1][at], rule);
        let by_key: Vec<Basis> = places.map(of).collect();
        let mut scatters: HashMap<_, Vec<Scatter>> = HashMap::new();
        for (key, basis) in keys.iter().zip(&by_key) {
            let kind = (key.at.is_empty(), basis.kind());
            scatters.entry(kind).or_default().push(basis.scatter);
        }
        let learned = |(kind, rows): ((bool, Kind), Vec<Scatter>)| {
            (kind, Dispersion::learned(kind.1.0, &rows))
        };
        Bases {
            by_key,
            kinds: scatters.into_iter().map(learned).collect(),
        }
    }

    /// The row at this place among the keys, if both sides have it.
    fn row(&self, key: &Key, at: usize, sides: &[Vec<shared::Has>; 2]) -> Option<Row> {
        let basis = &self.by_key[at];
        let prior = self.kinds.get(&(key.at.is_empty(), basis.kind()))?;
        Row::of(key, [&sides[0][at], &sides[1][at]], basis, *prior)
    }
}

/// What two sides of runs are in relation to each other, by their latest ones.
fn of_latest<T>(a: &Operand, b: &Operand, of: fn(&Run, &Run) -> Vec<T>) -> Vec<T> {
    match (a.runs().first(), b.runs().first()) {
        (Some(a), Some(b)) => of(a, b),
        _ => Vec::new(),
    }
}

/// Whether core-bound rows are compared in cycles: why so, or why not.
fn in_cycles(a: &Operand, b: &Operand, options: &Options) -> Result<String, String> {
    let (Some(of_a), Some(of_b)) = (a.runs().first(), b.runs().first()) else {
        return Err("in ns: published figures are".into());
    };
    match &options.normalize {
        Some(Normalize::Row(row)) => Err(format!("in ns, over {row}")),
        Some(Normalize::Usual) => Ok("in cycles: normalized by the core's clock".into()),
        None => match alike::cores_alike(of_a, of_b) {
            Ok(()) => Ok("in cycles: both CPUs are of one model, and their clocks wander".into()),
            Err(why) => Err(format!("in ns: {why}")),
        },
    }
}

/// The groups that say what runs differ by: those with several runs. A run
/// without any row that is compared is not counted.
fn groups<'r>(
    runs: impl Iterator<Item = &'r [Run]>,
    keys: &[Key],
    compared: &dyn Fn(usize) -> bool,
) -> Vec<(usize, Vec<Vec<shared::Figure>>)> {
    let group = |runs: &[Run]| {
        let all = of_runs(runs, keys);
        let figures = all.iter().enumerate().filter(|(at, _)| compared(*at));
        let with_any: HashSet<usize> = figures
            .flat_map(|(_, own)| own.iter().map(|figure| figure.run))
            .collect();
        (with_any.len(), all)
    };
    runs.map(group).filter(|&(count, _)| count >= 2).collect()
}

/// A side that was not measured is no row of the other's alone, and a mode or
/// a point no row of its own.
fn note_missing(key: &Key, in_a: &shared::Has, a: &mut Vec<String>, b: &mut Vec<String>) {
    let list = match in_a {
        shared::Has::Nothing => b,
        _ => a,
    };
    if key.mode.is_none() && list.last() != Some(&key.id) && !list.contains(&key.id) {
        list.push(key.id.clone());
    }
}

fn tested(rows: &[Row]) -> Vec<Tested<'_>> {
    rows.iter().filter_map(Row::tested).collect()
}

/// The rows with their findings. Those without a ratio were no test.
fn found(rows: Vec<Row>, options: &Options) -> Vec<ComparedRow> {
    let tests = tested(&rows);
    let findings = findings(&tests, options.margin);
    let mut answers = findings.into_iter().zip(detectable_changes(&tests));
    let by_row: Vec<(Finding, Option<f64>)> = rows
        .iter()
        .map(|row| {
            let own = row.tested().and_then(|_| answers.next());
            own.unwrap_or((Finding::CannotTell, None))
        })
        .collect();
    rows.into_iter()
        .zip(by_row)
        .map(|(row, (finding, detectable))| row.answered(finding, detectable, options.fail_above))
        .collect()
}

fn crossed(rows: &[Row], options: &Options) -> Vec<String> {
    let Some(share) = options.fail_above else {
        return Vec::new();
    };
    // More events are no longer time.
    let times = rows.iter().filter(|row| row.is_time());
    let (names, tests): (Vec<String>, Vec<Tested>) = times
        .filter_map(|row| Some((row.name(), row.tested()?)))
        .unzip();
    grown_beyond(&tests, 1.0 + share)
        .into_iter()
        .zip(names)
        .filter_map(|(grown, name)| grown.then_some(name))
        .collect()
}

/// Which rows, by id, a reference workload is taken out of.
type Applies = fn(&str) -> bool;

/// The reference workload, found in both sides.
struct Reference {
    /// Its row, its ratio, and which rows it is taken out of.
    ratio: Option<(String, Ratio, Applies)>,
    /// What is done, in words.
    words: Vec<String>,
}

impl Reference {
    fn of(
        options: &Options,
        keys: &[Key],
        sides: &[Vec<shared::Has>; 2],
        rule: &Rule,
        bases: &Bases,
    ) -> Result<Reference, CompareError> {
        let (id, applies): (&str, Applies) = match &options.normalize {
            None => {
                return Ok(Reference {
                    ratio: None,
                    words: Vec::new(),
                });
            }
            Some(Normalize::Row(row)) => (row, |_| true),
            Some(Normalize::Usual) => (MEMORY_REFERENCE, |id| id.starts_with("memory.")),
        };
        let mut words = Vec::new();
        if options.normalize == Some(Normalize::Usual) {
            words.push("core-bound rows: in cycles of each sample's own clock".to_owned());
        }
        let ratio = reference_ratio(id, keys, sides, bases).and_then(|(at, ratio)| {
            held_out::takes_error_out(at, keys, rule, bases, applies)?;
            Ok(ratio)
        });
        match (ratio, &options.normalize) {
            (Ok(ratio), _) => {
                let which = match options.normalize {
                    Some(Normalize::Usual) => "memory rows in ns",
                    _ => "all rows, in ns",
                };
                let i = ratio.interval(0.95).unwrap_or(model::stats::Interval {
                    value: ratio.value(),
                    low: ratio.value(),
                    high: ratio.value(),
                });
                words.push(format!(
                    "{which}: divided by {id}, whose time is {:.3} [{:.3}, {:.3}] of A's; its \
                     doubt is in their intervals",
                    i.value, i.low, i.high
                ));
                Ok(Reference {
                    ratio: Some((id.to_owned(), ratio, applies)),
                    words,
                })
            }
            (Err(why), Some(Normalize::Row(_))) => Err(CompareError::NoReference {
                row: id.to_owned(),
                why,
            }),
            (Err(why), _) => {
                words.push(format!("memory rows: not normalized by {id}: {why}"));
                Ok(Reference { ratio: None, words })
            }
        }
    }

    fn applied(&self, row: Row) -> Row {
        match &self.ratio {
            Some((id, ratio, applies)) if row.name() != *id && applies(row.id()) => {
                row.normalized(ratio)
            }
            _ => row,
        }
    }
}

/// The reference row's place among the keys and its ratio, if both sides have it
/// with an interval that can be relied on.
fn reference_ratio(
    id: &str,
    keys: &[Key],
    sides: &[Vec<shared::Has>; 2],
    bases: &Bases,
) -> Result<(usize, Ratio), String> {
    let at = keys
        .iter()
        .position(|key| key.id == id && key.at.is_empty() && key.mode.is_none())
        .ok_or("neither side has such a row with a single figure")?;
    let row = bases
        .row(&keys[at], at, sides)
        .ok_or("only one side has it")?;
    if !row.is_time() {
        return Err("it counts, and does not time anything".into());
    }
    let ratio = row.reliable_ratio();
    ratio
        .map(|ratio| (at, ratio))
        .ok_or_else(|| "in one of them it is no figure to rely on".to_owned())
}

impl SideFacts {
    fn of(operand: &Operand) -> SideFacts {
        SideFacts {
            name: operand.name.clone(),
            runs: operand.runs().iter().map(RunFacts::of).collect(),
            published: match &operand.source {
                Source::Published(table) => Some(format!("{} ({})", table.title, table.source)),
                Source::Runs(_) => None,
            },
        }
    }
}

impl RunFacts {
    fn of(run: &Run) -> RunFacts {
        let load = |moment: &model::conditions::Moment| moment.load_average.map(|load| load[0]);
        let mut warnings = Vec::new();
        if let Some(by) = run.emulator() {
            warnings.push(format!("EMULATED under {by}: it says nothing of hardware"));
        }
        if let Some(why) = &run.partial {
            warnings.push(format!("PARTIAL: {why}"));
        }
        // What built another program is not known.
        if run.program.profile != "release" && run.imported.is_none() {
            warnings.push(format!("built as {}, not release", run.program.profile));
        }
        RunFacts {
            id: run.id.clone(),
            started_unix_ms: run.imported.is_none().then_some(run.started_unix_ms),
            imported: run.imported.as_ref().map(|imported| {
                let when = match &imported.measured_at {
                    Some(when) => format!("measured {when}, "),
                    None => String::new(),
                };
                format!("{when}imported {}", utc::text(run.started_unix_ms))
            }),
            machine: run.machine.one_line(),
            program: alike::program(run),
            core_clock_ghz: run.core_clock.as_ref().map(|c| 1.0 / c.cycle_ns.value),
            load: load(&run.conditions.before)
                .zip(load(&run.conditions.after))
                .map(|(before, after)| [before, after]),
            warnings,
        }
    }
}
