//! A table of published figures.

use serde::{Deserialize, Serialize};

/// Whether a published figure is one of a row.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonRule {
    /// The same operation: a ratio means what it says.
    #[default]
    Same,
    /// The same operation after the arithmetic that the figure names: it was done.
    Factor,
    /// The same job by other means: a place among machines or just the figure, never a ratio.
    Near,
    /// Nothing may be said.
    Not,
}

impl ComparisonRule {
    /// Whether a ratio of two figures would mean anything.
    pub fn allows_ratio(self) -> bool {
        matches!(self, ComparisonRule::Same | ComparisonRule::Factor)
    }

    #[cfg(test)]
    fn is_same(&self) -> bool {
        *self == ComparisonRule::Same
    }
}

/// One reference: a published table of a machine, a phone, or the 2012 list; what is recorded of a machine.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// What `--vs` calls it.
    pub key: String,
    /// What a heading calls it.
    pub title: String,
    /// When it was measured or published.
    pub year: Option<u32>,
    /// Author and place of publication: one for all tables of a file.
    #[serde(default)]
    pub source: String,
    /// How it was measured, as far as that is known.
    pub method: Option<String>,
    /// Anything else that holds for the whole table.
    pub note: Option<String>,
    /// Its figures.
    #[serde(rename = "row")]
    pub rows: Vec<ReferenceRow>,
}

/// One published figure.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ReferenceRow {
    /// Public name of the row it belongs to.
    pub id: String,
    /// What the publication calls it.
    pub name: Option<String>,
    /// Nanoseconds an operation.
    pub ns: Option<f64>,
    /// MB/s, where the publication gives a speed instead.
    pub mb_per_s: Option<f64>,
    /// Clock cycles an operation, where the publication counts them: compared with cycles, whatever the clock.
    pub cycles: Option<f64>,
    /// Half of the interval that a machine's own figure is expected in, as a logarithm; 0 where none is published.
    #[serde(default)]
    #[cfg_attr(test, serde(skip_serializing_if = "none_published"))]
    pub error_ln: f64,
    /// Of handing over between CPUs: share of the pairs and median, ns, of each group, fast ones first.
    #[serde(default)]
    #[cfg_attr(test, serde(skip_serializing_if = "Vec::is_empty"))]
    pub pair_groups: Vec<[f64; 2]>,
    /// Whether it is of the row's own operation.
    #[serde(default)]
    #[cfg_attr(test, serde(skip_serializing_if = "ComparisonRule::is_same"))]
    pub rule: ComparisonRule,
    /// What the iPhone article prints of the 2012 list.
    pub article_ns: Option<f64>,
    /// The portable row that does the same job through other code: shown
    /// next to it, without a ratio.
    pub like: Option<String>,
    /// The pack's row that does it by GNUstep, where that is not the same operation: stands in
    /// its place there, without a ratio.
    pub gnustep: Option<String>,
    /// Why the figure can't be right, if it can't.
    pub doubtful: Option<String>,
    /// What to know with it.
    pub note: Option<String>,
    /// One machine alone can't measure it.
    #[serde(default)]
    pub reference_only: bool,
    /// Why it can't.
    pub reason: Option<String>,
    /// The same figure as time of one element, where the publication gives
    /// both, ns.
    pub ns_per_element: Option<f64>,
    /// Operations of the published run.
    pub iterations: Option<u64>,
    /// Seconds of the published run.
    pub total_s: Option<f64>,
}

/// Whether an error is none.
#[cfg(test)]
fn none_published(error_ln: &f64) -> bool {
    *error_ln == 0.0
}

/// A published figure found for one of our rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counterpart<'a> {
    /// The figure.
    pub row: &'a ReferenceRow,
    /// Whether it is of the same operation, or only of the same job by other means or through other code.
    pub rule: ComparisonRule,
}

impl ReferenceRow {
    /// Whether the publication gives a figure: it may describe a row without.
    pub fn has_figure(&self) -> bool {
        self.ns.is_some() || self.mb_per_s.is_some() || self.cycles.is_some()
    }

    /// Whether it may be set against a figure of its own row.
    pub fn own_rule(&self) -> ComparisonRule {
        match self.doubtful.is_some() || self.reference_only {
            true => ComparisonRule::Not,
            false => self.rule,
        }
    }

    /// Whether a ratio between this figure and one of its own row would mean anything.
    pub fn comparable(&self) -> bool {
        self.own_rule().allows_ratio()
    }
}

impl Counterpart<'_> {
    /// Whether a ratio between the two figures would mean anything.
    pub fn comparable(&self) -> bool {
        self.rule.allows_ratio()
    }
}

impl Reference {
    /// The table's own row of this id.
    pub fn row(&self, id: &str) -> Option<&ReferenceRow> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// A published time of a row that can be drawn beside ours, ns.
    pub fn comparable_ns(&self, id: &str) -> Option<f64> {
        let counterpart = self.counterpart(id)?;
        counterpart.row.ns.filter(|_| counterpart.comparable())
    }

    /// The figure to show next to a row: of the row itself, else of one that
    /// does the same job.
    pub fn counterpart(&self, id: &str) -> Option<Counterpart<'_>> {
        let mut rows = self.rows.iter().filter(|row| row.has_figure());
        let mut alike = || rows.find(|row| row.like.as_deref() == Some(id));
        match self.row(id).filter(|row| row.has_figure()) {
            Some(row) => Some(Counterpart { row, rule: row.own_rule() }),
            None => alike().map(|row| {
                let rule =
                    if row.comparable() { ComparisonRule::Near } else { ComparisonRule::Not };
                Counterpart { row, rule }
            }),
        }
    }
}
