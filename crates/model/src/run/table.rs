//! A run as a plain table, for programs that measure with the library and have no painter.

use super::{Outcome, Row, Run};
use crate::shown::{Shown, shown_figure};
use std::fmt;

/// A line for each row: what `latlas show` prints of it, without columns that depend on a screen.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.id.chars().count()).max().unwrap_or(0);
        for row in &self.rows {
            write!(f, "{:width$}  {}", row.id, result_text(row))?;
            let reason = row.estimate().map(|estimate| &*estimate.reason).unwrap_or_default();
            match reason {
                "" => writeln!(f)?,
                reason => writeln!(f, ": {reason}")?,
            }
        }
        match &self.partial {
            Some(why) => writeln!(f, "PARTIAL: {why}"),
            None => Ok(()),
        }
    }
}

/// Its figure with the verdict, or why there is none.
fn result_text(row: &Row) -> String {
    let Some(estimate) = row.estimate() else {
        return match &row.outcome {
            Outcome::Unavailable { reason } => format!("not available here: {reason}"),
            _ => format!("{} points", row.figures().len()),
        };
    };
    let figure = match shown_figure(estimate, &row.unit) {
        Shown::Figure(figure) => {
            format!("{} ±{} {}", figure.value, figure.half_width, figure.unit)
        }
        Shown::Below(text) => text,
        Shown::Nothing => "-".into(),
    };
    format!("{:<20} {}", figure.trim_end(), estimate.verdict.text())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_row_has_a_line_with_its_figure_and_verdict() {
        let run = crate::synthetic::run();
        let table = run.to_string();
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), run.rows.len() + usize::from(run.partial.is_some()), "{table}");
        for (row, line) in run.rows.iter().zip(&lines) {
            assert!(line.starts_with(&row.id), "{line}");
            if let Some(estimate) = row.estimate() {
                assert!(line.contains(estimate.verdict.text()), "{line}");
            }
        }
        assert!(table.contains('±'), "{table}");
    }
}
