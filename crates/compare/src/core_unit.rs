//! Whether core-bound rows are compared in cycles or in ns, and why.

use crate::alike;
use crate::operand::{FigureSource, Operand};
use crate::options::{Normalize, Options};

#[derive(thiserror::Error, Clone, Debug, PartialEq)]
pub(crate) enum CoreUnit {
    #[error("in cycles (same CPU model, clock frequency varies)")]
    SameModel,
    #[error("in cycles: normalized by the core's clock")]
    NormalizedByClock,
    #[error("in ns, over {0}")]
    NormalizedByRow(String),
    #[error("in ns: published figures are")]
    Published,
    #[error("in cycles where the published figures are, else in ns")]
    PublishedCycles,
    #[error("in ns: {0}")]
    CoresDiffer(&'static str),
}

impl CoreUnit {
    pub(crate) fn choose(a: &Operand, b: &Operand, options: &Options) -> CoreUnit {
        let (Some(of_a), Some(of_b)) = (a.runs().first(), b.runs().first()) else {
            let in_cycles = [a, b].iter().any(|side| match &side.source {
                FigureSource::Published(of) => of.rows.iter().any(|row| row.cycles.is_some()),
                FigureSource::Runs(_) => false,
            });
            return if in_cycles { CoreUnit::PublishedCycles } else { CoreUnit::Published };
        };
        match &options.normalize {
            Some(Normalize::Row(row)) => CoreUnit::NormalizedByRow(row.clone()),
            Some(Normalize::Usual) => CoreUnit::NormalizedByClock,
            None => match alike::cores_alike(of_a, of_b) {
                Ok(()) => CoreUnit::SameModel,
                Err(why) => CoreUnit::CoresDiffer(why),
            },
        }
    }

    pub(crate) fn is_cycles(&self) -> bool {
        matches!(self, CoreUnit::SameModel | CoreUnit::NormalizedByClock)
    }
}
