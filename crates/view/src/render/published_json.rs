//! What is published of a run's rows, for programs.

use model::run::Run;
use references::DamagedRecords;
use references::comparison::{
    Agreement, PopulationName, PublishedUnit, RowAgainstPublished, published_of_run,
};
use references::machine::MatchedBy;
use references::record::ComparisonRule;
use serde::Serialize;

/// What stands in the object of a row, by the same words as on the first screen; what is null is left out there.
#[derive(Serialize, Debug, Default, PartialEq)]
pub struct PublishedFields {
    /// The run's figure over the published one, with its interval.
    published_ratio: Option<f64>,
    published_ratio_low: Option<f64>,
    published_ratio_high: Option<f64>,
    /// Whether the two agree.
    published_verdict: Option<Agreement>,
    /// The published figure, in its unit.
    published_cycles: Option<f64>,
    published_ns: Option<f64>,
    published_ns_per_byte: Option<f64>,
    /// Records that it is the median of, how they were found, and whose they are.
    published_records: Option<usize>,
    published_matched_by: Option<MatchedBy>,
    published_source: Option<&'static str>,
    /// Share of a population that is slower, with the ends of its interval.
    slower_machines_share: Option<f64>,
    slower_machines_share_low: Option<f64>,
    slower_machines_share_high: Option<f64>,
    /// The population: how many, which, and whether they measured the same.
    machines: Option<u64>,
    population: Option<String>,
    population_rule: Option<ComparisonRule>,
}

/// What is published of each of a run's rows, by the row.
pub fn published_fields(run: &Run) -> Result<Vec<(String, PublishedFields)>, DamagedRecords> {
    let rows = published_of_run(run)?;
    Ok(rows.iter().map(|row| (row.row.clone(), fields_of_row(row))).collect())
}

fn fields_of_row(row: &RowAgainstPublished) -> PublishedFields {
    let ratio = row.ratio.as_ref();
    let published = ratio.map(|ratio| &ratio.published);
    let in_unit =
        |unit| published.filter(|figure| figure.unit == unit).map(|figure| figure.expected.value);
    let place = row.places.first();
    PublishedFields {
        published_ratio: ratio.map(|ratio| ratio.ratio.value),
        published_ratio_low: ratio.map(|ratio| ratio.ratio.low),
        published_ratio_high: ratio.map(|ratio| ratio.ratio.high),
        published_verdict: ratio.map(|ratio| ratio.agreement),
        published_cycles: in_unit(PublishedUnit::Cycles),
        published_ns: in_unit(PublishedUnit::Ns),
        published_ns_per_byte: in_unit(PublishedUnit::NsPerByte),
        published_records: published.map(|figure| figure.records),
        published_matched_by: published.map(|figure| figure.matched_by),
        published_source: published.map(|figure| figure.source.credit()),
        slower_machines_share: place.map(|place| place.slower.value),
        slower_machines_share_low: place.map(|place| place.slower.low),
        slower_machines_share_high: place.map(|place| place.slower.high),
        machines: place.map(|place| place.machines),
        population: place.map(|place| match &place.population {
            PopulationName::CloudTypes => "cloud types".to_owned(),
            PopulationName::CpuSignatures => "CPU signatures".to_owned(),
            PopulationName::TestResults(test) => format!("results of {test}"),
        }),
        population_rule: place.map(|place| place.rule),
    }
}
