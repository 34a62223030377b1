//! Groups of hosts by a fact, and whether rows differ between them.

use super::FleetRow;
use super::facts::{FactKind, FactValue, FleetFact};
use super::ranks::RankTest;
use model::compare::finding::{self, Correction, LEVEL, SummarizedSamples, Verdict};
use model::stats::{self, Interval};
use serde::Serialize;

/// Groups that have a say of their own; a fact with more values groups nothing.
const MOST_GROUPS: usize = 12;

/// Facts that split the hosts alike, so that nothing can tell them apart, and what rows differ in.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Grouping {
    /// The facts.
    pub facts: Vec<FactKind>,
    /// The groups, the largest first; values of several facts stand together.
    pub groups: Vec<FactValue>,
    /// Each row of each further group against the largest.
    pub tests: Vec<GroupTest>,
}

impl Grouping {
    /// The names of the facts.
    pub fn fact_names(&self) -> String {
        let names: Vec<&str> = self.facts.iter().map(|fact| fact.text()).collect();
        names.join(" and ")
    }

    /// The tests with this finding.
    pub fn tests_with(&self, finding: Verdict) -> impl Iterator<Item = &GroupTest> {
        self.tests.iter().filter(move |test| test.finding == finding)
    }
}

/// A row of one group against that of the largest.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct GroupTest {
    /// Place of the row.
    pub row: usize,
    /// Place of the group, from 1.
    pub group: usize,
    /// Hosts with a figure in the group and in the largest.
    pub hosts: [usize; 2],
    /// Medians of the group and of the largest, ns.
    pub medians_ns: [f64; 2],
    /// The group's median over that of the largest, with an interval where both have at least six hosts.
    pub ratio: f64,
    /// 95 % interval of that, from the intervals of both medians.
    pub interval: Option<Interval>,
    /// Of Mann and Whitney's test.
    pub p_value: f64,
    /// Whether so few hosts could have shown anything.
    pub too_few: bool,
    /// What may be said, together with all other rows and groups.
    pub finding: Verdict,
}

/// The groupings of a fleet, each fact that has several values.
pub(super) fn groupings(facts: &[FleetFact], rows: &[FleetRow], margin: f64) -> Vec<Grouping> {
    let mut all: Vec<Grouping> = Vec::new();
    for fact in facts.iter().filter(|f| (2..=MOST_GROUPS).contains(&f.values.len())) {
        let alike = |grouping: &&mut Grouping| {
            let same = |(a, b): (&FactValue, &FactValue)| a.hosts == b.hosts;
            grouping.groups.len() == fact.values.len()
                && fact.values.iter().zip(&grouping.groups).all(same)
        };
        match all.iter_mut().find(alike) {
            Some(known) => {
                known.facts.push(fact.fact);
                for (group, value) in known.groups.iter_mut().zip(&fact.values) {
                    group.value = format!("{}, {}", group.value, value.value);
                }
            }
            None => all.push(Grouping {
                facts: vec![fact.fact],
                groups: fact.values.clone(),
                tests: Vec::new(),
            }),
        }
    }
    let mut test = RankTest::default();
    for grouping in &mut all {
        let of_row = |(place, row)| tests(grouping, place, row, &mut test);
        grouping.tests = rows.iter().enumerate().flat_map(of_row).collect();
    }
    judge_groups(&mut all, margin);
    all
}

fn tests(grouping: &Grouping, place: usize, row: &FleetRow, test: &mut RankTest) -> Vec<GroupTest> {
    // Sorted, since the figures are.
    let of = |group: &FactValue| -> Vec<f64> {
        let own = row.figures.iter().filter(|f| group.hosts.binary_search(&f.host).is_ok());
        own.map(|figure| figure.value_ns).collect()
    };
    let largest = of(&grouping.groups[0]);
    let groups = grouping.groups.iter().enumerate().skip(1);
    groups
        .filter_map(|(at, group)| {
            let own = of(group);
            let medians = [&own, &largest].map(|side| stats::quantile_sorted(side, 0.5));
            let medians_ns = [medians[0]?, medians[1]?];
            let [a, b] = [&own, &largest].map(|side| stats::quantile_interval_sorted(side, 0.5));
            (medians_ns.iter().all(|median| *median > 0.0)).then(|| GroupTest {
                row: place,
                group: at,
                hosts: [own.len(), largest.len()],
                medians_ns,
                ratio: medians_ns[0] / medians_ns[1],
                interval: a.zip(b).and_then(|(a, b)| a.over(&b)),
                p_value: test.p_value(&own, &largest),
                too_few: false,
                finding: Verdict::CannotTell,
            })
        })
        .collect()
}

/// All rows of all groups together: where none differs, any is called different in at most [`LEVEL`] of fleets.
fn judge_groups(all: &mut [Grouping], margin: f64) {
    let tests = all.iter().flat_map(|grouping| &grouping.tests);
    let known: Vec<SummarizedSamples> =
        tests.map(|test| SummarizedSamples(Some(test.p_value), test.interval)).collect();
    let found = finding::judge(&known, Correction::Holm(LEVEL), Some(margin));
    let level = LEVEL / known.len().max(1) as f64;
    let tests = all.iter_mut().flat_map(|grouping| &mut grouping.tests);
    for (test, found) in tests.zip(found) {
        let [own, largest] = test.hosts;
        test.too_few = RankTest::least(own, largest) > level;
        test.finding = found.verdict;
    }
}
