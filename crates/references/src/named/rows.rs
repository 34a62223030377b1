//! From the records of a machine to a reference: the rows that its figures belong to, each with its rule.

use super::near::{near_rows, published_digits, rows_of_other_types};
use super::search::NamedRecords;
use crate::comparison::{PublishedFigure, PublishedUnit, RowName, published_figures};
use crate::machine::MachineRecords;
use crate::record::HybridCore;
use crate::source::Source;
use compare::references::{LARGEST_POINT, Reference, ReferenceRow};
use model::phrases::counted;
use model::story::core_to_core;

const ONE_HOST: &str = "a cloud type is one host of one day: measured again, half differed by more than 4 %, one in five \
                        by more than 20 %";

/// The records as a table that stands beside a run as the published ones do.
pub(super) fn reference_of(named: &NamedRecords) -> Reference {
    let records = &named.records;
    let mut figures = published_figures(records, HybridCore::Performance);
    figures.sort_by_key(|figure| figure.certainty);
    let mut rows: Vec<ReferenceRow> = Vec::new();
    let own = figures.iter().map(row_of_figure).chain(near_rows(records));
    let of_others = named.with_its_cpu.iter().flat_map(rows_of_other_types);
    let mut others = 0;
    for (row, is_own) in own.map(|row| (row, true)).chain(of_others.map(|row| (row, false))) {
        if !rows.iter().any(|known| known.id == row.id) {
            rows.push(row);
            others += usize::from(!is_own);
        }
    }
    let of_others = named.with_its_cpu.as_ref().filter(|_| others > 0).map(|group| {
        let types = counted(group.records.len(), "cloud type");
        format!("figures that it lacks (~) are medians of {types} with its CPU signature")
    });
    let one_host = records.cloud.is_some().then(|| ONE_HOST.to_owned());
    let notes: Vec<String> = one_host.into_iter().chain(of_others).collect();
    let matrices = records.matrices.iter().flat_map(|group| &group.records);
    let with_groups = matrices.filter(|one| !one.groups.is_empty());
    rows.extend(with_groups.map(|one| ReferenceRow {
        id: core_to_core::PROBE.to_owned(),
        pair_groups: one.groups.clone(),
        ..ReferenceRow::default()
    }));
    let credits: Vec<&str> = sources(records).into_iter().map(Source::credit).collect();
    Reference {
        key: named.key.clone(),
        title: named.title.clone(),
        year: None,
        source: credits.join("; "),
        method: None,
        note: (!notes.is_empty()).then(|| notes.join("; ")),
        rows,
    }
}

fn sources(records: &MachineRecords) -> Vec<Source> {
    let there = [
        records.instructions.is_some(),
        records.cloud.is_some(),
        records.boards.is_some(),
        records.matrices.is_some(),
    ];
    MachineRecords::SOURCES
        .into_iter()
        .zip(there)
        .filter(|(_, there)| *there)
        .map(|(of, _)| of)
        .collect()
}

/// A figure whose rule allows a ratio, in the unit that it is compared in.
fn row_of_figure(figure: &PublishedFigure) -> ReferenceRow {
    let id = match &figure.row {
        RowName::Row(id) => id.clone(),
        RowName::LargestOf(curve) => format!("{curve}/{LARGEST_POINT}"),
    };
    let value = figure.expected.value;
    let ends = [value / figure.expected.low, figure.expected.high / value].map(f64::ln);
    let row = ReferenceRow { id, error_ln: ends[0].max(ends[1]), ..ReferenceRow::default() };
    match figure.unit {
        PublishedUnit::Cycles => ReferenceRow { cycles: Some(published_digits(value)), ..row },
        PublishedUnit::Ns => ReferenceRow { ns: Some(published_digits(value)), ..row },
        PublishedUnit::NsPerByte => {
            ReferenceRow { mb_per_s: Some(published_digits(1000.0 / value)), ..row }
        }
    }
}
