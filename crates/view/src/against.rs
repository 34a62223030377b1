//! What a run's figures are set against on the ladder: published tables and other runs.

use crate::render::short_title;
use compare::references::Reference;
use model::estimate::Estimate;
use model::overview::{OverviewLine, overview_lines};
use model::run::{Row, Run};
use model::unit::Unit;

/// A published table, or another run under its name.
#[derive(Clone, Copy)]
pub(crate) enum Against<'a> {
    /// A table.
    Table(&'a Reference),
    /// A run.
    Run(&'a str, &'a Run),
}

impl<'a> Against<'a> {
    /// Its name in a legend.
    pub(crate) fn legend_name(&self) -> &'a str {
        match self {
            Against::Table(table) => short_title(&table.key),
            Against::Run(name, _) => name,
        }
    }

    /// Its figure that can be drawn on a row's line, in the row's unit.
    pub(crate) fn of_row(&self, row: &Row) -> Option<f64> {
        match self {
            Against::Table(table) => match row.unit {
                Unit::Time => table.comparable_ns(&row.id),
                Unit::Bandwidth { .. } => {
                    let theirs = table.counterpart(&row.id).filter(|theirs| theirs.comparable())?;
                    Some(theirs.row.mb_per_s? / 1000.0)
                }
                _ => None,
            },
            Against::Run(_, run) => Some(row.unit.of_ns(estimate_of(run, row)?.ns()?.value)),
        }
    }

    /// Its time that can be drawn on an operation's line.
    pub(crate) fn of_line(&self, line: &OverviewLine) -> Option<f64> {
        match self {
            Against::Table(_) => {
                let is_time = line.row.unit == Unit::Time && line.is_of_row();
                self.of_row(line.row).filter(|_| is_time)
            }
            Against::Run(_, run) => {
                let same = |other: &OverviewLine| {
                    other.operation == line.operation && other.mode == line.mode
                };
                overview_lines(run).into_iter().find(same)?.ns.map(|ns| ns.value)
            }
        }
    }
}

/// Another run's estimate of a row that is of the same kind, above resolution.
pub(crate) fn estimate_of<'r>(run: &'r Run, row: &Row) -> Option<&'r Estimate> {
    let theirs = run.row(&row.id)?;
    let alike = std::mem::discriminant(&theirs.unit) == std::mem::discriminant(&row.unit);
    theirs.estimate().filter(|estimate| alike && estimate.below_ns.is_none())
}
