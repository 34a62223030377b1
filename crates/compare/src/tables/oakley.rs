//! Oakley's table with the results of `latlas qos` next to it. Codec, file and
//! machine differ: what may be compared is how many times as long a job takes as
//! alone.

mod ours;

pub use ours::OakleyHere;

use crate::references::{QosCase, QosMachine, QosReference};
use model::phrases::counted;
use model::qos::Qos;
use model::run::Run;
use serde::Serialize;

#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Oakley {
    /// Author and place of publication.
    pub source: String,
    /// What his job was.
    pub workload: String,
    /// What ours was; absent without a result.
    pub here: Option<String>,
    /// His machines.
    pub machines: Vec<OakleyMachine>,
    /// What he saw in addition.
    pub observations: Vec<String>,
}

/// The cases on one of his machines.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct OakleyMachine {
    pub title: String,
    pub rows: Vec<OakleyRow>,
}

/// A case, there and here.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct OakleyRow {
    /// His words.
    pub case: String,
    /// What to know with it.
    pub note: Option<String>,
    /// Whether it is of one job by itself, which has no ratio to that.
    pub is_alone: bool,
    /// His times, from and to, s; absent where he gives none.
    pub published_s: Option<[f64; 2]>,
    /// Over the same level's time alone, from and to; absent where he gives
    /// none.
    pub published_ratio: Option<[f64; 2]>,
    /// Ours.
    pub here: Option<OakleyHere>,
    /// Why there is none of ours in the result; absent without a result.
    pub reason: Option<String>,
}

/// Fills the table in.
pub fn oakley(reference: &QosReference, of: Option<(&Run, &Qos)>) -> Oakley {
    let qos = of.map(|(_, qos)| qos);
    Oakley {
        source: reference.source.clone(),
        workload: reference.workload.clone(),
        here: of.map(|(run, qos)| {
            let how = &qos.how;
            let partial = run.partial.as_ref().map(|why| format!("PARTIAL: {why}; "));
            format!(
                "{}{} compressed {} with {}, {} at once, median of {}, {}",
                partial.unwrap_or_default(),
                model::size::format_size(how.file_bytes),
                match how.passes {
                    1 => "once".to_owned(),
                    passes => format!("{passes} times"),
                },
                how.codec.name_and_level(),
                counted(how.operations as usize, "operation"),
                counted(how.rounds as usize, "round"),
                run.machine.one_line()
            )
        }),
        machines: reference
            .machines
            .iter()
            .map(|machine| OakleyMachine {
                title: machine.title.clone(),
                rows: machine.cases.iter().map(|case| oakley_row(machine, case, qos)).collect(),
            })
            .collect(),
        observations: reference.observations.iter().map(|sentence| sentence.text.clone()).collect(),
    }
}

fn oakley_row(machine: &QosMachine, case: &QosCase, qos: Option<&Qos>) -> OakleyRow {
    let (here, reason) = match qos.map(|qos| ours::oakley_here(case, qos)) {
        Some(Ok(here)) => (Some(here), None),
        Some(Err(reason)) => (None, Some(reason.to_string())),
        None => (None, None),
    };
    OakleyRow {
        case: case.case.clone(),
        note: case.note.clone(),
        is_alone: case.jobs.len() < 2,
        published_s: range(case),
        published_ratio: published_ratio(machine, case),
        here,
        reason,
    }
}

fn range(case: &QosCase) -> Option<[f64; 2]> {
    case.seconds.as_slice().try_into().ok()
}

/// His time over that of the same level alone on the same machine.
fn published_ratio(machine: &QosMachine, case: &QosCase) -> Option<[f64; 2]> {
    let [level, _] = case.jobs[..] else {
        return None;
    };
    let is_alone = |other: &&QosCase| other.jobs.is_empty() || other.jobs == [level];
    let alone = range(machine.cases.iter().find(is_alone)?)?;
    let own = range(case)?;
    Some([own[0] / alone[1], own[1] / alone[0]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::references::References;
    use model::qos::{Case, CaseRuns, Level};

    fn filled(qos: &Qos) -> Oakley {
        let all = References::embedded().expect("references");
        let run = model::synthetic::qos::qos_run(qos.clone());
        oakley(&all.qos[0], Some((&run, qos)))
    }

    /// Its pairs are of the highest level.
    fn recording() -> Qos {
        let mut qos = model::synthetic::qos::qos_recording();
        for runs in &mut qos.cases {
            if let Case::Pair { high, .. } = &mut runs.case {
                *high = Level::USER_INTERACTIVE;
            }
        }
        qos
    }

    fn here(row: &OakleyRow) -> &OakleyHere {
        row.here.as_ref().unwrap_or_else(|| panic!("{row:?}"))
    }

    #[test]
    fn his_ratios_are_those_of_his_times() {
        let all = References::embedded().expect("references");
        let table = oakley(&all.qos[0], None);
        let [xeon, m1] = table.machines.as_slice() else {
            panic!("two machines");
        };
        let ratio = xeon.rows[2].published_ratio.expect("24 s against 5.6 to 6.6");
        assert!((ratio[0] - 3.64).abs() < 0.01 && (ratio[1] - 4.29).abs() < 0.01);
        let second = m1.rows[2].published_ratio.expect("77 s against 38 to 43");
        assert!((second[0] - 1.79).abs() < 0.01, "{second:?}");
        assert_eq!(m1.rows[3].published_ratio, None, "no time of QoS 17 alone");
        let rows = || table.machines.iter().flat_map(|machine| &machine.rows);
        assert!(rows().all(|row| row.here.is_none() && row.reason.is_none()));
    }

    #[test]
    fn figures_stand_next_to_his_with_the_cores_that_did_the_work() {
        let table = filled(&recording());
        let rows = &table.machines[0].rows;
        let alone = here(&rows[0]);
        assert!(alone.ns.low >= 2e9 && alone.ns.high < 2.1e9 && alone.is_range, "{alone:?}");
        let times = |row: &OakleyRow| here(row).ratio.expect("eight rounds").value;
        assert!(times(&rows[1]) < 1.1, "the high one");
        assert!(times(&rows[2]) > 2.0, "the low one");
        assert!(!here(&rows[2]).is_range);
        assert_eq!(here(&rows[2]).cores.as_deref(), Some("CPU 0 50 %, CPU 1 48 %, moved 2.5 %"));
        let two = &table.machines[1].rows;
        assert!(times(&two[1]) < times(&two[2]), "the first and the second");
    }

    #[test]
    fn few_rounds_have_ratios_with_their_range() {
        let mut qos = recording();
        qos.cases.iter_mut().for_each(|runs| runs.runs.truncate(3));
        let table = filled(&qos);
        let low = here(&table.machines[0].rows[2]);
        let ratio = low.ratio.expect("three rounds");
        assert!(low.is_range && low.rounds == 3);
        assert!((2.0..2.05).contains(&ratio.low) && ratio.low <= ratio.value, "{ratio:?}");
        assert!(low.ns.low < low.ns.value && low.ns.value < low.ns.high, "{low:?}");
    }

    #[test]
    fn what_was_not_measured_says_why() {
        let mut qos = recording();
        let reason = |table: &Oakley, case: &str| {
            let rows = table.machines.iter().flat_map(|machine| &machine.rows);
            let row = rows.into_iter().find(|row| row.case.starts_with(case)).expect("the row");
            row.reason.clone().expect("a reason")
        };
        let table = filled(&qos);
        assert_eq!(
            reason(&table, "several jobs of high QoS"),
            "not in this run: latlas qos --cases highest --levels user-interactive"
        );
        assert_eq!(
            reason(&table, "QoS 25 alone"),
            "not in this run: latlas qos --cases alone --levels user-initiated"
        );
        assert_eq!(
            reason(&table, "high and lower QoS"),
            "not in this run: latlas qos --cases pairs --levels utility,user-interactive"
        );
        let case = Case::Same { level: Level::USER_INTERACTIVE };
        let left_out = Some("a job was killed".to_owned());
        qos.cases.push(CaseRuns { case, runs: Vec::new(), left_out, history: None });
        let table = filled(&qos);
        assert_eq!(reason(&table, "several jobs of high QoS"), "left out: a job was killed");
    }
}
