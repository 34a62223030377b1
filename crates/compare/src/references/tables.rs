//! A table of published figures.

use serde::{Deserialize, Serialize};

/// One published table: a machine, a phone, or the 2012 list.
#[derive(Deserialize, Clone, Debug, PartialEq)]
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
    /// What the iPhone article prints of the 2012 list.
    pub article_ns: Option<f64>,
    /// The portable row that does the same job through other code: shown
    /// next to it, without a ratio.
    pub like: Option<String>,
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

/// A published figure found for one of our rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counterpart<'a> {
    /// The figure.
    pub row: &'a ReferenceRow,
    /// Whether it is of the same operation, not only of the same job through
    /// other code.
    pub same_operation: bool,
}

impl ReferenceRow {
    /// Whether the publication gives a figure: it may describe a row without.
    pub fn has_figure(&self) -> bool {
        self.ns.is_some() || self.mb_per_s.is_some()
    }

    /// Whether a ratio between this figure and one of the same operation would
    /// mean anything.
    pub fn comparable(&self) -> bool {
        self.doubtful.is_none() && !self.reference_only
    }
}

impl Counterpart<'_> {
    /// Whether a ratio between the two figures would mean anything.
    pub fn comparable(&self) -> bool {
        self.same_operation && self.row.comparable()
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
            Some(row) => Some(Counterpart { row, same_operation: true }),
            None => alike().map(|row| Counterpart { row, same_operation: false }),
        }
    }
}
