//! How every figure of two sides is compared.

use crate::row::{Basis, Kind, Row, Rule};
use crate::shared;
use model::compare::between::{Dispersion, Scatter};
use model::summary::Key;
use std::collections::HashMap;

/// How every figure is compared, and what is known of each kind of them.
pub(super) struct Bases {
    pub(super) by_key: Vec<Basis>,
    /// Points of curves are a kind of their own.
    kinds: HashMap<(bool, Kind), Dispersion>,
}

impl Bases {
    pub(super) fn of(keys: &[Key], sides: &[Vec<shared::Has>; 2], rule: &Rule) -> Bases {
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
        Bases { by_key, kinds: scatters.into_iter().map(learned).collect() }
    }

    /// The row at this place among the keys, if both sides have it.
    pub(super) fn row(&self, key: &Key, at: usize, sides: &[Vec<shared::Has>; 2]) -> Option<Row> {
        let basis = &self.by_key[at];
        let prior = self.kinds.get(&(key.at.is_empty(), basis.kind()))?;
        Row::of(key, [&sides[0][at], &sides[1][at]], basis, *prior)
    }
}

/// Which rows, by id, a reference workload is taken out of.
pub(super) type Applies = fn(&str) -> bool;
