//! The catalogue as a list.

use super::figures::counted;
use model::run::{Axis, Bound, Regime, Scale};
use model::story::Block;
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
    /// Whether what others share decides its figures, so that stored runs count.
    pub by_shared_part: bool,
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
    let count = counted(rows.len(), "row");
    let text = format!("{name}: {count}; `latlas explain ROW` explains one");
    let width = rows.iter().map(|row| row.row.len()).max().unwrap_or(0).min(MOST_COLUMNS);
    let listed = rows
        .iter()
        .map(|RowTitle { row, title }| Block::labelled(format!("{row:width$}  "), *title));
    [Block::text(text), Block::empty_line()].into_iter().chain(listed).collect()
}

/// Columns of a row's id in the list; a longer one moves its own line.
const ID_COLUMNS: usize = 31;
/// The same where the title has the rest of the line.
const MOST_COLUMNS: usize = 40;

/// Each row with its unit, and once for the rows of a probe its title and the runs that have it.
pub fn probe_list(probes: &[ProbeText]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for probe in probes {
        for (at, row) in probe.rows.iter().enumerate() {
            let text = match (at, probe.since) {
                (0, Scale::Quick) => probe.title.clone(),
                (0, Scale::Default) => format!("{} (not with --quick)", probe.title),
                (0, Scale::Full) => format!("{} (--full)", probe.title),
                _ => String::new(),
            };
            let (name, unit) = (format!("{row:ID_COLUMNS$}  "), probe.unit.name());
            blocks.push(match text.is_empty() {
                true => Block::labelled(name, unit),
                false => Block::labelled(format!("{name}{unit:4}  "), text),
            });
        }
    }
    blocks
}
