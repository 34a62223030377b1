//! Runs and results as columns of tables.

use model::estimate::Verdict;
use model::run::Bound;
use model::stats::Interval;
use model::summary::{KeptResult, KeptRun};
use model::unit::Unit;
use std::path::Path;

/// Why columns hold nothing that this program wrote.
pub(crate) type Wrong = Box<dyn std::error::Error + Send + Sync>;

/// What makes figures of one row the same quantity: what its time follows, its
/// unit, whether they are quiet ones, and of which mode.
pub(crate) type Form = (Bound, Unit, bool, Option<String>);

pub(crate) fn form(result: &KeptResult) -> Form {
    (result.bound, result.unit, result.quiet, result.mode.clone())
}

pub(crate) fn form_text(form: &Form) -> Result<String, Wrong> {
    Ok(serde_json::to_string(form)?)
}

/// The mode that figures of a form are of.
pub(crate) fn mode_of(form_text: &str) -> Result<Option<String>, Wrong> {
    let (_, _, _, mode): Form = serde_json::from_str(form_text)?;
    Ok(mode)
}

pub(crate) fn at_text(at: &[u64]) -> String {
    let numbers: Vec<String> = at.iter().map(u64::to_string).collect();
    numbers.join(",")
}

pub(crate) fn at_of(text: &str) -> Result<Vec<u64>, Wrong> {
    let numbers = text.split(',').filter(|number| !number.is_empty());
    numbers.map(|number| Ok(number.parse()?)).collect()
}

/// Verdicts by number; their order is that of the index for good.
const VERDICTS: [Verdict; 6] = [
    Verdict::Ok,
    Verdict::Noisy,
    Verdict::TwoStates,
    Verdict::CannotTell,
    Verdict::Invalid,
    Verdict::Biased,
];

pub(crate) fn number_of(verdict: Verdict) -> i16 {
    match verdict {
        Verdict::Ok => 0,
        Verdict::Noisy => 1,
        Verdict::TwoStates => 2,
        Verdict::CannotTell => 3,
        Verdict::Invalid => 4,
        Verdict::Biased => 5,
    }
}

pub(crate) struct Columns {
    pub(crate) row: String,
    pub(crate) at: String,
    pub(crate) form: String,
    pub(crate) verdict: Option<i16>,
    pub(crate) value: [Option<f64>; 3],
    pub(crate) cycles: [Option<f64>; 3],
    pub(crate) below_ns: Option<f64>,
    pub(crate) reason: Option<String>,
}

impl Columns {
    pub(crate) fn result(self) -> Result<KeptResult, Wrong> {
        let (bound, unit, quiet, mode): Form = serde_json::from_str(&self.form)?;
        let verdict = |number: i16| usize::try_from(number).ok().and_then(|n| VERDICTS.get(n));
        let verdict = match self.verdict.map(verdict) {
            Some(None) => return Err("no such verdict".into()),
            known => known.flatten().copied(),
        };
        Ok(KeptResult {
            row: self.row,
            at: at_of(&self.at)?,
            bound,
            unit,
            value_ns: stored_interval(self.value),
            quiet,
            mode,
            cycles: stored_interval(self.cycles),
            below_ns: self.below_ns,
            verdict,
            reason: self.reason.unwrap_or_default(),
        })
    }
}

fn stored_interval(ends: [Option<f64>; 3]) -> Option<Interval> {
    match ends {
        [Some(value), Some(low), Some(high)] => Some(Interval { value, low, high }),
        _ => None,
    }
}

/// A run from its line, where its document lies in `runs`.
pub(crate) fn run_from_line(line: &str, runs: &Path) -> Result<KeptRun, Wrong> {
    let mut kept: KeptRun = serde_json::from_str(line)?;
    kept.path = runs.join(&kept.path);
    Ok(kept)
}
