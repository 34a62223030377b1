//! A run's figures as a column beside published ones: those of a phone, imported.

use super::tables::{Reference, ReferenceRow};
use crate::tables::{Here, here};
use model::estimate::Verdict;
use model::phrases::short_id;
use model::run::Run;
use model::utc;

impl Reference {
    /// The figures that a run has of these rows.
    pub fn of_run(run: &Run, ids: &[String]) -> Reference {
        let device = run.machine.device.get();
        let name = device.or(run.machine.hostname.get()).cloned();
        let key = name.unwrap_or_else(|| short_id(&run.id).to_owned());
        let remarks = run.conditions.remarks.join("; ");
        Reference {
            title: format!(
                "{}, run {} of {}{}{remarks}",
                run.machine.one_line(),
                short_id(&run.id),
                utc::readable_utc(run.started_unix_ms),
                if remarks.is_empty() { "" } else { "; " },
            ),
            key,
            year: None,
            source: format!("{} {}", run.program.name, run.program.version),
            method: None,
            note: None,
            rows: ids.iter().filter_map(|id| reference_row(run, id)).collect(),
        }
    }
}

/// A row with its figure, or why there is none.
fn reference_row(run: &Run, id: &str) -> Option<ReferenceRow> {
    let row = ReferenceRow { id: id.to_owned(), ..ReferenceRow::default() };
    match here(Some(run), id) {
        Here::Measured(measured) => {
            let verdict = measured.verdict;
            let why = || format!("{}: {}", verdict.text(), measured.reason);
            Some(ReferenceRow {
                ns: Some(measured.ns.value),
                note: (verdict != Verdict::Ok).then(why),
                ..row
            })
        }
        Here::Unavailable { reason } => Some(ReferenceRow { note: Some(reason), ..row }),
        Here::Invalid { .. } | Here::NotMeasured { .. } => None,
    }
}
