//! A comparison as the document holds it.

use crate::alike;
use crate::alike::Difference;
use crate::operand::{FigureSource, Operand};
use crate::row::ComparedRow;
use model::compare::finding::Verdict;
use model::run::Run;
use model::utc;
use serde::Serialize;

/// B against A.
#[derive(Serialize, Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl Comparison {
    /// How many rows have this finding.
    pub fn count_findings(&self, finding: Verdict) -> usize {
        self.rows.iter().filter(|r| r.finding == finding).count()
    }

    /// Whether any row or point has a finding.
    pub fn has_findings(&self) -> bool {
        let mut all = self.rows.iter().chain(&self.points);
        all.any(|row| row.finding != Verdict::CannotTell)
    }
}

/// One side.
#[derive(Serialize, Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideFacts {
    /// As it was named.
    pub name: String,
    /// Its runs, the newest first; none for a published table.
    pub runs: Vec<RunFacts>,
    /// The published table's title and source, if it is one.
    pub published: Option<String>,
}

impl SideFacts {
    pub(super) fn from_operand(operand: &Operand) -> SideFacts {
        SideFacts {
            name: operand.name.clone(),
            runs: operand.runs().iter().map(RunFacts::from_run).collect(),
            published: match &operand.source {
                FigureSource::Published(table) => {
                    Some(format!("{} ({})", table.title, table.source))
                }
                FigureSource::Runs(_) => None,
            },
        }
    }
}

/// What must be known of a run apart from its figures.
#[derive(Serialize, Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl RunFacts {
    pub(super) fn from_run(run: &Run) -> RunFacts {
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
                format!("{when}imported {}", utc::readable_utc(run.started_unix_ms))
            }),
            machine: run.machine.one_line(),
            program: alike::program_facts(run),
            core_clock_ghz: run.core_clock.as_ref().map(|c| 1.0 / c.cycle_ns.value),
            load: load(&run.conditions.before)
                .zip(load(&run.conditions.after))
                .map(|(before, after)| [before, after]),
            warnings,
        }
    }
}

/// How it was compared.
#[derive(Serialize, Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Method {
    /// How far from 1 the interval of a row that is the same may reach, as a
    /// share.
    pub margin: f64,
    /// Of rows called different, at most this share is expected to be wrong;
    /// the chance of a wrong crossing of the gate.
    pub level: f64,
    /// Whether core-bound rows are compared in cycles, and why or why not.
    pub cycles: String,
    /// How many other runs (or runs of a side with several) hold rows that are
    /// compared and so say what runs differ by, by group; of a single row there
    /// may be fewer.
    pub kept_runs: Vec<usize>,
    /// What was taken out as drift, in words; empty without `--normalize`.
    pub normalized: Vec<String>,
    /// The gate, as a share.
    pub fail_above: Option<f64>,
}
