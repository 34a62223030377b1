//! The reference workload of `--normalize`, taken out as drift of the machine.

use crate::bases::{Applies, Bases};
use crate::no_reference::NoReference;
use crate::options::{CompareError, MEMORY_REFERENCE, Normalize, Options};
use crate::row::{RowPair, Rule};
use crate::{held_out, shared};
use model::compare::ratio::Ratio;
use model::summary::Key;

/// The reference workload, found in both sides.
pub(super) struct Reference {
    /// Its row, its ratio, and which rows it is taken out of.
    ratio: Option<(String, Ratio, Applies)>,
    /// What is done, in words.
    pub(super) words: Vec<String>,
}

impl Reference {
    pub(super) fn from_options(
        options: &Options,
        keys: &[Key],
        sides: &[Vec<shared::Has>; 2],
        rule: &Rule,
        bases: &Bases,
    ) -> Result<Reference, CompareError> {
        let (id, applies): (&str, Applies) = match &options.normalize {
            None => {
                return Ok(Reference { ratio: None, words: Vec::new() });
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
                let i = ratio.interval_or_value();
                words.push(format!(
                    "{which}: divided by {id}, whose time is {:.3} [{:.3}, {:.3}] of A's; its \
                     doubt is in their intervals",
                    i.value, i.low, i.high
                ));
                Ok(Reference { ratio: Some((id.to_owned(), ratio, applies)), words })
            }
            (Err(why), Some(Normalize::Row(_))) => {
                Err(CompareError::NoReference { row: id.to_owned(), why })
            }
            (Err(why), _) => {
                words.push(format!("memory rows: not normalized by {id}: {why}"));
                Ok(Reference { ratio: None, words })
            }
        }
    }

    pub(super) fn applied(&self, row: RowPair) -> RowPair {
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
) -> Result<(usize, Ratio), NoReference> {
    let at = keys
        .iter()
        .position(|key| key.id == id && key.at.is_empty() && key.mode.is_none())
        .ok_or(NoReference::NoRow)?;
    let row = bases.row_pair(&keys[at], at, sides).ok_or(NoReference::OneSide)?;
    if !row.is_time() {
        return Err(NoReference::Counts);
    }
    let ratio = row.reliable_ratio();
    ratio.map(|ratio| (at, ratio)).ok_or(NoReference::Unreliable)
}
