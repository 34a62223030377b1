//! A publication's table with this machine's figures in it: which row has
//! which figure, what may be set in a ratio, what is missing and why.

mod choose;
mod claims;
mod counted;
mod here;
mod names;
mod oakley;
#[cfg(test)]
mod tests;

pub use choose::{fullest, is_of, rows_held};
pub use claims::{JudgedClaim, JudgedRatio, Judgement, RatioObstacle};
pub use counted::{TimedOperations, counted};
pub use here::{Here, Measured, here};
pub use oakley::{Oakley, OakleyHere, OakleyMachine, OakleyRow, oakley};

use crate::references::{
    ClaimRatio, Counterpart, Form, PartRow, Published, Reference, ReferenceRow, References,
    TableSection,
};
use model::filesystem::Filesystem;
use model::run::{Program, Run};
use model::unit::Unit;
use serde::Serialize;

/// A published table, filled in.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct PublishedTable {
    /// What `latlas table` calls it.
    pub key: String,
    /// Who published it, and under what name.
    pub title: String,
    /// Which columns it has.
    #[serde(skip)]
    pub form: Form,
    /// The tables of published figures beside ours.
    pub columns: Vec<Column>,
    /// The run that ours are from; none where there is none.
    pub run: Option<RunFacts>,
    pub parts: Vec<TablePart>,
    /// What the publication concludes, judged by the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<JudgedClaim>,
}

/// What must be known of a run beside its figures.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct RunFacts {
    pub id: String,
    /// When it began, ms since 1970 UTC.
    pub started_unix_ms: u64,
    pub program: Program,
    /// The CPU, where it is known.
    pub cpu_model: Option<String>,
    /// What must be known of how quiet the machine was; empty when there is
    /// nothing to say.
    pub quiet: String,
    /// The file system that its rows of files ran on, if it has any.
    pub files_on: Option<Filesystem>,
    /// Why the run is not whole, if it is not.
    pub partial: Option<String>,
}

impl From<&Run> for RunFacts {
    fn from(run: &Run) -> RunFacts {
        RunFacts {
            id: run.id.clone(),
            started_unix_ms: run.started_unix_ms,
            program: run.program.clone(),
            cpu_model: run.machine.cpu_model.get().cloned(),
            quiet: run.gate.reason.clone(),
            files_on: run.files_on.clone(),
            partial: run.partial.clone(),
        }
    }
}

/// Where the figures of a column come from.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Column {
    /// Key of the table of figures.
    pub key: String,
    pub title: String,
    /// Who published it and where.
    pub source: String,
    /// How it was measured, as far as that is known.
    pub method: Option<String>,
}

/// Rows that stand together.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct TablePart {
    /// Heading; empty where it is the whole table.
    pub title: String,
    /// Places of the table's columns that it shows.
    pub columns: Vec<usize>,
    pub rows: Vec<TableRow>,
}

#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct TableRow {
    /// Public name of our row.
    pub id: String,
    /// What the publication calls it.
    pub name: String,
    /// What is known of it on this machine.
    pub here: Here,
    /// The rows that do the same job through other code, the nearest first: by GNUstep where the
    /// run has a result of that, then the portable one.
    pub likes: Vec<Like>,
    /// Whose code the figure shown is of, where that is not the publication's: `GNUstep`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<&'static str>,
    /// Why one machine alone can't measure it.
    pub reference_only: Option<String>,
    /// Published figures, one entry a column.
    pub published: Vec<Option<PublishedFigure>>,
}

/// A row that does the same job through other code: never in a ratio.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Like {
    /// Public name.
    pub id: String,
    /// What is known of it on this machine.
    pub here: Here,
}

/// A published figure, and what it may be used for.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct PublishedFigure {
    /// As published.
    #[serde(flatten)]
    pub figure: PublishedNumbers,
    /// Our time over theirs; none where that would mean nothing.
    pub ratio: Option<f64>,
    /// Why the figure can't be right, or can't be right here.
    pub doubtful: Option<String>,
    /// What to know beside it.
    pub note: Option<String>,
    #[serde(skip)]
    row: ReferenceRow,
}

/// The numbers of a published figure.
#[derive(Serialize, Clone, Debug, Default, PartialEq)]
pub struct PublishedNumbers {
    /// ns an operation.
    pub ns: Option<f64>,
    /// MB/s, where the publication gives a speed instead.
    pub mb_per_s: Option<f64>,
    /// Clock cycles, where it gives these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<f64>,
    /// ns an element, where both are given.
    pub ns_per_element: Option<f64>,
    /// Operations of the published run.
    pub iterations: Option<u64>,
    /// Seconds of the published run.
    pub total_s: Option<f64>,
}

impl PublishedFigure {
    /// The row of the references that it was made from.
    pub fn reference_row(&self) -> &ReferenceRow {
        &self.row
    }
}

impl TableRow {
    /// The figure that the row shows of this machine: its own, else that of
    /// the row that does the same job.
    pub fn shown(&self) -> Option<&Measured> {
        self.here.measured().or_else(|| self.shown_like()?.here.measured())
    }

    /// The row that does the same job, where the figure shown is its.
    pub fn shown_like(&self) -> Option<&Like> {
        let mut likes = self.likes.iter().filter(|_| self.here.measured().is_none());
        likes.find(|like| like.here.measured().is_some())
    }
}

impl PublishedTable {
    pub fn rows(&self) -> impl Iterator<Item = &TableRow> {
        self.parts.iter().flat_map(|part| &part.rows)
    }

    /// The file system under the table's rows of files, where one of them has a
    /// figure of this machine.
    pub fn files_on(&self) -> Option<&Filesystem> {
        let shown = |row: &TableRow| match (&row.here, row.shown_like()) {
            (Here::Measured(_), _) => is_of_files(&row.id),
            (_, like) => like.is_some_and(|like| is_of_files(&like.id)),
        };
        let files_on = self.run.as_ref()?.files_on.as_ref();
        files_on.filter(|_| self.rows().any(shown))
    }

    /// Whether any figure of this machine in it can be relied on.
    pub fn any_ok(&self) -> bool {
        self.rows()
            .filter_map(TableRow::shown)
            .any(|measured| measured.verdict == model::estimate::Verdict::Ok)
    }

    /// Rows that measuring could add to the run, in order and each once.
    pub fn missing_rows(&self) -> Vec<&str> {
        self.ids(|here| matches!(here, Here::NotMeasured { measurable: true, .. }))
    }

    /// Rows whose result in the run is invalid, in order and each once.
    pub fn invalid(&self) -> Vec<&str> {
        self.ids(|here| matches!(here, Here::Invalid { .. }))
    }

    fn ids(&self, is_meant: impl Fn(&Here) -> bool) -> Vec<&str> {
        let of_row = |row: &'_ TableRow| row.reference_only.is_none();
        let mut ids: Vec<&str> = Vec::new();
        for row in self.rows() {
            let own = Some((row.id.as_str(), &row.here)).filter(|_| of_row(row));
            let likes = row.likes.iter().map(|like| (like.id.as_str(), &like.here));
            for (id, _) in own.into_iter().chain(likes).filter(|(_, here)| is_meant(here)) {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        ids
    }
}

/// Whether a row's operation is one on files.
pub fn is_of_files(id: &str) -> bool {
    ["file.", "disk.", "objc.data_"].iter().any(|group| id.starts_with(group))
}

/// Our rows that a table has places for: each row's own, and those that do
/// the same job. In order, each once.
pub fn row_ids(layout: &Published, references: &References) -> Vec<String> {
    let columns = columns(layout, references, false);
    let mut ids: Vec<String> = Vec::new();
    for row in layout.whole_parts(references).iter().flat_map(|part| &part.rows) {
        let figures: Vec<&ReferenceRow> = columns.iter().filter_map(|c| c.row(&row.id)).collect();
        let own = Some(row.id.clone()).filter(|_| !figures.iter().any(|f| f.reference_only));
        let gnustep = figures.iter().find_map(|f| f.gnustep.clone());
        let like = figures.iter().find_map(|f| f.like.clone());
        for id in own.into_iter().chain(gnustep).chain(like) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    ids
}

/// What the claims of a publication need besides: rows, levels and points of curves, each once.
pub fn claim_ids(layout: &Published) -> Vec<String> {
    let ratios = layout.claims.iter().flat_map(|claim| &claim.ratios);
    let mut ids: Vec<String> = Vec::new();
    for id in ratios.flat_map(ClaimRatio::needs) {
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
    ids
}

/// Fills a table in: with the figures of a run, or with none. `earlier` adds
/// the columns that recall earlier figures.
pub fn fill_in(
    layout: &Published,
    references: &References,
    run: Option<&Run>,
    earlier: bool,
) -> PublishedTable {
    fill_in_beside(layout, references, run, earlier, &[])
}

/// The same, with other references (a run's figures, the records of a machine) in columns behind the published ones.
pub fn fill_in_beside(
    layout: &Published,
    references: &References,
    run: Option<&Run>,
    earlier: bool,
    others: &[Reference],
) -> PublishedTable {
    let mut columns = columns(layout, references, earlier);
    let claims = claims::judged(&layout.claims, &columns, run);
    columns.extend(others);
    let part = |part: &TableSection| {
        let row = |row: &PartRow| table_row(&row.id, row.name.as_deref(), &columns, run);
        TablePart {
            title: part.title.clone(),
            columns: columns_of(part, layout, &columns),
            rows: part.rows.iter().map(row).collect(),
        }
    };
    PublishedTable {
        key: layout.key.clone(),
        title: layout.title.clone(),
        form: layout.form,
        parts: layout.whole_parts(references).iter().map(part).collect(),
        claims,
        run: run.map(RunFacts::from),
        columns: columns.into_iter().map(Column::from).collect(),
    }
}

/// Places of the columns that a part shows: its own, and those of runs.
fn columns_of(part: &TableSection, layout: &Published, columns: &[&Reference]) -> Vec<usize> {
    let is_published = |key| layout.columns.contains(key) || layout.earlier.contains(key);
    let is_shown =
        |key| part.columns.is_empty() || part.columns.contains(key) || !is_published(key);
    (0..columns.len()).filter(|&at| is_shown(&columns[at].key)).collect()
}

impl From<&Reference> for Column {
    fn from(table: &Reference) -> Column {
        Column {
            key: table.key.clone(),
            title: table.title.clone(),
            source: table.source.clone(),
            method: table.method.clone(),
        }
    }
}

fn columns<'a>(
    layout: &Published,
    references: &'a References,
    earlier: bool,
) -> Vec<&'a Reference> {
    let earlier = layout.earlier.iter().filter(|_| earlier);
    let keys = layout.columns.iter().chain(earlier);
    keys.filter_map(|key| references.find(key)).collect()
}

fn table_row(id: &str, name: Option<&str>, columns: &[&Reference], run: Option<&Run>) -> TableRow {
    let figures: Vec<Option<&ReferenceRow>> = columns.iter().map(|c| c.row(id)).collect();
    let known = || figures.iter().flatten();
    let own = here(run, id);
    let like = |id: &String| Like { here: here(run, id), id: id.clone() };
    let gnustep = known().find_map(|f| f.gnustep.as_ref()).map(like);
    // Without a result of it the row itself says why.
    let has_result = |like: &Like| matches!(like.here, Here::Measured(_) | Here::Invalid { .. });
    let portable = known().find_map(|f| f.like.as_ref()).map(like);
    let likes: Vec<Like> = gnustep.filter(has_result).into_iter().chain(portable).collect();
    let published_names = known().filter_map(|f| f.name.as_deref());
    let mut row = TableRow {
        name: match name {
            Some(name) => name.to_owned(),
            None => names::joined(published_names).unwrap_or_else(|| id.to_owned()),
        },
        reference_only: known().find_map(|f| f.reason.clone()),
        published: figures
            .iter()
            .map(|figure| figure.map(|row| published_figure(row, &own)))
            .collect(),
        id: id.to_owned(),
        here: own,
        likes,
        library: None,
    };
    row.library = run.and_then(|run| library(run, &row));
    row
}

/// Whose code a table row's figure is of, where that is not Apple's under the same calls.
fn library(run: &Run, row: &TableRow) -> Option<&'static str> {
    let shown = row.shown_like().map_or(row.id.as_str(), |like| like.id.as_str());
    stand_in(run, shown).filter(|_| row.shown().is_some())
}

/// Whose code a row of this run is, where Apple's would be under the same calls.
pub fn stand_in(run: &Run, row: &str) -> Option<&'static str> {
    let calls_foundation = ["objc.", "ui.", "event_loop."].iter().any(|g| row.starts_with(g));
    (calls_foundation && !run.program.is_for_apple()).then_some("GNUstep")
}

/// A published figure with the ratio of this machine's to it, where there is one.
pub fn published_figure(row: &ReferenceRow, here: &Here) -> PublishedFigure {
    let counterpart = Counterpart { row, rule: row.own_rule() };
    let ratio = |measured: &Measured| {
        // A time beside a speed: the row says how many bytes it reads.
        let unit = match (row.mb_per_s, measured.bytes) {
            (Some(_), Some(bytes)) => Unit::Bandwidth { bytes_per_op: bytes as f64 },
            _ => measured.unit,
        };
        counterpart.ratio(&measured.estimate, &unit)
    };
    PublishedFigure {
        figure: PublishedNumbers {
            ns: row.ns,
            mb_per_s: row.mb_per_s,
            cycles: row.cycles,
            ns_per_element: row.ns_per_element,
            iterations: row.iterations,
            total_s: row.total_s,
        },
        ratio: here.measured().and_then(ratio),
        doubtful: row.doubtful.clone(),
        note: row.note.clone(),
        row: row.clone(),
    }
}
