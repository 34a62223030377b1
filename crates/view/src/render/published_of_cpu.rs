//! What is published of a row for this CPU, and of many machines.

use model::figure::{number_of_digits, time, value_text};
use model::story::Block;
use model::unit::Unit;
use references::DamagedRecords;
use references::comparison::{
    PopulationName, PopulationPlace, PublishedFigure, PublishedOfCpu, PublishedPopulation,
    PublishedUnit, RowName,
};
use references::machine::MatchedBy;
use references::record::ComparisonRule;
use serde::Serialize;

/// The same for programs.
#[derive(Serialize, Debug)]
pub(super) struct CpuForPrograms {
    figures: Vec<CpuFigure>,
    populations: Vec<ManyMachines>,
}

#[derive(Serialize, Debug)]
struct CpuFigure {
    row: String,
    /// Median of the records, with the ends within which this machine's figure is expected.
    expected: model::stats::Interval,
    unit: PublishedUnit,
    records: usize,
    source: &'static str,
    matched_by: MatchedBy,
}

#[derive(Serialize, Debug)]
struct ManyMachines {
    row: String,
    population: String,
    machines: u64,
    rule: ComparisonRule,
    unit: PublishedUnit,
    /// 5 %, 50 % and 95 % of the machines take as long or less.
    quantiles: Option<[f64; 3]>,
}

pub(super) fn cpu_for_programs(of_cpu: &PublishedOfCpu) -> CpuForPrograms {
    let figures = of_cpu.figures.iter().map(|figure| CpuFigure {
        row: row_text(&figure.row),
        expected: figure.expected,
        unit: figure.unit,
        records: figure.records,
        source: figure.source.credit(),
        matched_by: figure.matched_by,
    });
    let populations = of_cpu.populations.iter().map(|population| ManyMachines {
        row: row_text(&population.row),
        population: machines_text(&population.name),
        machines: population.machines(),
        rule: population.rule,
        unit: population.unit,
        quantiles: population.cost_quantiles(),
    });
    CpuForPrograms { figures: figures.collect(), populations: populations.collect() }
}

/// Lines below the published tables of a row; none where there is nothing.
pub fn published_of_cpu(of_cpu: &Result<PublishedOfCpu, DamagedRecords>) -> Vec<Block> {
    let of_cpu = match of_cpu {
        Ok(of_cpu) => of_cpu,
        Err(damaged) => return vec![Block::text(damaged.to_string())],
    };
    let mut blocks = Vec::new();
    if !of_cpu.figures.is_empty() {
        blocks.extend([Block::empty_line(), Block::text("This CPU, published")]);
        blocks.extend(
            of_cpu.figures.iter().map(|figure| Block::labelled("    ", figure_text(figure))),
        );
    }
    if !of_cpu.populations.is_empty() {
        blocks.extend([Block::empty_line(), Block::text("Many machines")]);
        let texts = of_cpu.populations.iter().filter_map(population_text);
        blocks.extend(texts.map(|text| Block::labelled("    ", text)));
    }
    blocks
}

fn figure_text(figure: &PublishedFigure) -> String {
    let (cost, row) = (cost_in_unit(figure.unit, figure.expected.value), row_text(&figure.row));
    let [low, high] =
        [figure.expected.low, figure.expected.high].map(|end| cost_in_unit(figure.unit, end));
    let records = match figure.records {
        1 => "one record".to_owned(),
        count => format!("median of {count}"),
    };
    let (matched_by, credit) = (figure.matched_by.words(), figure.source.credit());
    // The unit stands once where it is that of both.
    let low = match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => number.to_owned(),
        _ => low,
    };
    format!("{row}: {cost} ({low} to {high} agree), {records}, {matched_by}; {credit}")
}

fn population_text(population: &PublishedPopulation) -> Option<String> {
    let [fast, half, slow] =
        population.cost_quantiles()?.map(|cost| cost_in_unit(population.unit, cost));
    let rule = rule_text(population.rule)?;
    let (machines, row) = (population.machines(), row_text(&population.row));
    let name = machines_text(&population.name);
    Some(format!("{row}: {half}, 90 % {fast} to {slow}, {machines} {name}; {rule}"))
}

/// What machines measured, in words; none where nothing may be said.
fn rule_text(rule: ComparisonRule) -> Option<&'static str> {
    match rule {
        ComparisonRule::Same => Some("the same operation"),
        ComparisonRule::Factor => Some("the same operation, converted"),
        ComparisonRule::Near => Some("the same job by other means"),
        ComparisonRule::Not => None,
    }
}

/// `1811 cloud types (Spare Cores); the same operation`.
pub(crate) fn machines_of(place: &PopulationPlace) -> String {
    let rule = rule_text(place.rule).unwrap_or_default();
    format!("{} {}; {rule}", place.machines, machines_text(&place.population))
}

fn row_text(row: &RowName) -> String {
    match row {
        RowName::Row(id) => id.clone(),
        RowName::LargestOf(curve) => format!("{curve}, largest working set"),
    }
}

fn machines_text(name: &PopulationName) -> String {
    match name {
        PopulationName::CloudTypes => "cloud types (Spare Cores)".into(),
        PopulationName::CpuSignatures => "CPU signatures (InstLatX64)".into(),
        PopulationName::TestResults(test) => format!("results of {test} (OpenBenchmarking.org)"),
    }
}

pub(crate) fn cost_in_unit(unit: PublishedUnit, cost: f64) -> String {
    match unit {
        PublishedUnit::Cycles => format!("{} cycles", number_of_digits(cost, 0.0)),
        PublishedUnit::Ns => time(cost),
        PublishedUnit::NsPerByte => value_text(&Unit::Bandwidth { bytes_per_op: 1.0 }, 1.0 / cost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::machine::{CpuSignature, Fact, Machine};
    use references::record::HybridCore;

    #[test]
    fn a_row_of_this_cpu_of_its_like_and_of_many_machines() {
        let mut machine = Machine::unknown("x86_64", "not read");
        machine.cpu_vendor = Fact::known("AuthenticAMD".into());
        machine.microarchitecture = Fact::known("Zen 4".into());
        machine.cpu_signature =
            Fact::known(CpuSignature::X86 { family: 25, model: 17, stepping: 1 });
        let text = |asked: &str| {
            let all = PublishedOfCpu::of_machine(&machine, HybridCore::Performance);
            crate::terminal::plain(&published_of_cpu(&all.map(|all| all.within(asked))))
        };
        let rows = ["memory.latency", "sync.atomic_add", "memory.copy", "sync.handoff/pipe"];
        insta::assert_snapshot!(rows.map(text).concat());
        assert_eq!(text("alloc.malloc_free/16B"), "", "no rule allows one");
    }
}
