//! What a page is made of.

use crate::chart::{Chart, LeftOut, Picture, Section, forest};
use crate::render::{ProbeText, probe_of};
use compare::Comparison;
use compare::references::References;
use model::run::Run;
use std::collections::HashMap;

/// Pictures of times on one axis, which the page has as lists.
const LISTS: [&str; 2] = ["overview", "ladder"];

/// A run under the name it was asked for.
#[derive(Clone, Copy, Debug)]
pub struct TitledRun<'a> {
    /// As it was named: a file, `last`, a tag.
    pub name: &'a str,
    pub run: &'a Run,
}

/// A file that lies beside the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// Its name, which the link leads to.
    pub file: String,
    pub what: String,
    pub bytes: u64,
}

/// Where the page will be, for those who link to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its address.
    pub page: String,
    /// That of a picture that stands for it.
    pub image: Option<String>,
}

/// Everything that a page shows.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// The run that is shown.
    pub shown: TitledRun<'a>,
    /// Those set beside it.
    pub others: &'a [TitledRun<'a>],
    /// The published tables.
    pub references: &'a References,
    /// What the catalogue says of each probe.
    pub probes: &'a [ProbeText],
    /// The pictures, each with the rows that it shows.
    pub pictures: &'a [Picture],
    /// Pictures that this run has nothing for.
    pub left_out: &'a [LeftOut],
    /// The shown run set against each of the others, which are the baselines.
    pub comparisons: &'a [Comparison],
    /// The documents beside the page.
    pub offered: &'a [Offered],
    /// Where it will be, if that is known.
    pub link: Option<&'a Link>,
    /// Where the list of all runs is, if the page is served with one.
    pub all_runs: Option<&'a str>,
}

impl<'a> Content<'a> {
    /// The run that is shown.
    pub(super) fn first(&self) -> TitledRun<'a> {
        self.shown
    }

    /// The pictures that the page draws: what is a list of its own is not drawn twice, nor what a recording opens on.
    pub(super) fn charts(&self) -> impl Iterator<Item = &'a Chart> + use<'a> {
        let opens = |chart: &Chart| chart.section == Section::Noise && forest::is_forest(chart);
        let charts = self.pictures.iter().map(|picture| &picture.chart);
        charts.filter(move |chart| !LISTS.contains(&chart.id.as_str()) && !opens(chart))
    }

    /// The first picture that shows each row.
    pub(super) fn picture_of(&self) -> HashMap<&'a str, &'a str> {
        let drawn = |picture: &&Picture| !LISTS.contains(&picture.chart.id.as_str());
        let pictures = self.pictures.iter().filter(drawn);
        let pairs = pictures.flat_map(|picture| {
            let rows = picture.rows.iter();
            rows.map(|row| (row.as_str(), picture.chart.id.as_str()))
        });
        let mut picture_of = HashMap::new();
        pairs.for_each(|(row, id)| _ = picture_of.entry(row).or_insert(id));
        picture_of
    }

    /// What the catalogue says of a row's probe.
    pub(super) fn probe_of(&self, row: &str) -> Option<&'a ProbeText> {
        probe_of(self.probes, row)
    }
}
