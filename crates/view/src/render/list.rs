//! The catalogue as a list.

use super::figures::counted;
use model::run::{Axis, Bound, Regime, Scale};
use model::story::{Block, Table, left};
use model::unit::Unit;
use serde::Serialize;

/// What the catalogue says of a probe. The program fills it from the probe
/// itself, so that drawing needs no meter.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct ProbeText {
    /// Public id of the probe.
    pub id: String,
    /// Ids of its rows.
    pub rows: Vec<String>,
    /// A few words.
    pub title: String,
    /// What one operation is.
    pub operation: String,
    /// How it is measured.
    pub method: String,
    /// Where the definition comes from.
    pub source: String,
    pub unit: Unit,
    /// What its time follows.
    pub bound: Bound,
    /// How it is sampled.
    pub regime: Regime,
    /// Points of its curve from here on are sampled as a distribution.
    pub long_from: Option<u64>,
    /// The smallest scale that runs it.
    pub since: Scale,
    /// What its points run over: none for a figure, one for a curve, two for
    /// a map (lines, then columns).
    pub axes: Vec<Axis>,
    /// Whether the levels found in its curve become rows `/L1`, `/L2` and so
    /// on.
    pub levels: bool,
    /// Rows that follow from points of its curve.
    pub points: Vec<String>,
}

impl ProbeText {
    /// What no other probe is called: the first of its rows. An id may be that of
    /// several probes.
    pub(crate) fn own_name(&self) -> &str {
        self.rows.first().unwrap_or(&self.id)
    }

    /// What it is listed as: its only row, else its id.
    pub(crate) fn title_id(&self) -> &str {
        match self.rows.as_slice() {
            [only] => only,
            _ => &self.id,
        }
    }

    fn form(&self) -> &'static str {
        match (self.axes.len(), self.levels) {
            (0, _) => "",
            (1, false) if !self.points.is_empty() => "curve and points of it",
            (1, false) => "curve",
            (1, true) => "curve and its levels",
            _ => "map",
        }
    }
}

/// The probe of a row: its own, or the one whose curve it follows from.
pub fn probe_of<'p>(probes: &'p [ProbeText], row: &str) -> Option<&'p ProbeText> {
    let own = |probe: &&ProbeText| probe.rows.iter().any(|id| id == row);
    let follows = |probe: &&ProbeText| {
        let level = row.strip_prefix(&probe.id).is_some_and(|rest| rest.starts_with('/'));
        (probe.levels && level) || probe.points.iter().any(|id| id == row)
    };
    let mut probes = probes.iter();
    probes.clone().find(own).or_else(|| probes.find(follows))
}

/// The first run that measures a row.
pub(super) fn since_text(since: Scale) -> &'static str {
    match since {
        Scale::Quick => "always",
        Scale::Default => "default",
        Scale::Full => "--full",
    }
}

#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct RowTitle<'a> {
    pub row: String,
    /// A few words.
    pub title: &'a str,
}

/// The rows of a group or level, one line each.
pub fn group(name: &str, rows: &[RowTitle]) -> Vec<Block> {
    let mut table = Table::new(["", ""].map(left));
    for RowTitle { row, title } in rows {
        table.row([row.as_str().into(), (*title).into()]);
    }
    let count = counted(rows.len(), "row");
    let text = format!("{name}: {count}; `latlas explain ROW` explains one");
    vec![Block::text(text), Block::empty_line(), Block::Table(table.wide())]
}

/// One line a row: id, unit, form, when it runs, title.
pub fn list(probes: &[ProbeText]) -> Vec<Block> {
    let mut table = Table::new(["row", "unit", "form", "runs", "title"].map(left));
    for probe in probes {
        for row in &probe.rows {
            table.row([
                row.as_str().into(),
                probe.unit.name().into(),
                probe.form().into(),
                since_text(probe.since).into(),
                probe.title.as_str().into(),
            ]);
        }
    }
    let legend = "runs: always; by default (not with --quick); only with --full";
    vec![Block::Table(table.wide()), Block::text(legend)]
}
