//! How every figure of two sides is compared.

use crate::row::{Basis, FigureClass, RowPair, Rule};
use crate::shared;
use model::compare::between::{Dispersion, Scatter};
use model::summary::Key;
use std::collections::HashMap;

/// How every figure is compared, and what is known of each kind of them.
pub(super) struct Bases {
    pub(super) by_key: Vec<Basis>,
    /// Points of curves are a kind of their own.
    kinds: HashMap<(bool, FigureClass), Dispersion>,
}

impl Bases {
    pub(super) fn from_sides(keys: &[Key], sides: &[Vec<shared::Has>; 2], rule: &Rule) -> Bases {
        let places = 0..keys.len();
        let of = |at: usize| Basis::from_side(at, &sides[0][at], &sides[1][at], rule);
        let by_key: Vec<Basis> = places.map(of).collect();
        let mut scatters: HashMap<_, Vec<Scatter>> = HashMap::new();
        for (key, basis) in keys.iter().zip(&by_key) {
            let kind = (key.at.is_empty(), basis.kind());
            scatters.entry(kind).or_default().push(basis.scatter);
        }
        let learned = |(kind, rows): ((bool, FigureClass), Vec<Scatter>)| {
            (kind, Dispersion::learned(kind.1.0, &rows))
        };
        Bases { by_key, kinds: scatters.into_iter().map(learned).collect() }
    }

    /// The row at this place among the keys, if both sides have it.
    pub(super) fn row_pair(
        &self,
        key: &Key,
        at: usize,
        sides: &[Vec<shared::Has>; 2],
    ) -> Option<RowPair> {
        let basis = &self.by_key[at];
        let prior = self.kinds.get(&(key.at.is_empty(), basis.kind()))?;
        RowPair::from_sides(key, [&sides[0][at], &sides[1][at]], basis, *prior)
    }
}

/// Which rows, by id, a reference workload is taken out of.
pub(super) type Applies = fn(&str) -> bool;
