//! Oakley's table with the results of `latlas qos` next to it. Codec, file and
//! machine differ: what may be compared is how many times as long a job takes as
//! alone.

use crate::references::{QosCase, QosMachine, QosReference};
use model::qos::figures::{of_job, slowdown};
use model::qos::{Case, CaseRuns, Level, Qos};
use model::run::Run;
use model::stats::Interval;
use model::text::counted;
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
    /// His times, from and to, s; absent where he gives none.
    pub published_s: Option<[f64; 2]>,
    /// Over the same level's time alone, from and to; absent where he gives
    /// none.
    pub published_ratio: Option<[f64; 2]>,
    /// Our times, ns: the lowest and the highest median of the levels that it is
    /// about.
    pub here_ns: Option<[f64; 2]>,
    /// Ours over the same level's time alone.
    pub here_ratio: Option<Interval>,
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
                model::size::text(how.file_bytes),
                match how.passes {
                    1 => "once".to_owned(),
                    passes => format!("{passes} times"),
                },
                how.codec.text(),
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
                rows: machine.cases.iter().map(|case| row(machine, case, qos)).collect(),
            })
            .collect(),
        observations: reference.observations.iter().map(|sentence| sentence.text.clone()).collect(),
    }
}

fn row(machine: &QosMachine, case: &QosCase, qos: Option<&Qos>) -> OakleyRow {
    let ours = qos.map(|qos| here(case, qos)).unwrap_or_default();
    OakleyRow {
        case: case.case.clone(),
        note: case.note.clone(),
        published_s: range(case),
        published_ratio: published_ratio(machine, case),
        here_ns: ours.0,
        here_ratio: ours.1,
    }
}

fn range(case: &QosCase) -> Option<[f64; 2]> {
    case.seconds.as_slice().try_into().ok()
}

/// His time over that of the same level alone on the same machine.
fn published_ratio(machine: &QosMachine, case: &QosCase) -> Option<[f64; 2]> {
    let jobs = case.jobs.as_deref().filter(|jobs| jobs.len() == 2)?;
    let is_alone = |other: &&QosCase| match other.jobs.as_deref() {
        Some([]) => true,
        Some([level]) => *level == jobs[0],
        _ => false,
    };
    let alone = range(machine.cases.iter().find(is_alone)?)?;
    let own = range(case)?;
    Some([own[0] / alone[1], own[1] / alone[0]])
}

/// Our times of a case, and over those alone.
fn here(case: &QosCase, qos: &Qos) -> (Option<[f64; 2]>, Option<Interval>) {
    let level = |number: u32| Level::from(number);
    let wanted = match case.jobs.as_deref() {
        None => return (None, None),
        Some([]) => return (alone(qos), None),
        Some(&[one]) => Case::Alone { level: level(one) },
        Some(&[one, other]) if one == other => Case::Same { level: level(one) },
        Some(&[one, other, ..]) => {
            Case::Pair { high: level(one.max(other)), low: level(one.min(other)) }
        }
    };
    let Some(runs) = qos.case(wanted).filter(|runs| !runs.runs.is_empty()) else {
        return (None, None);
    };
    let job = match wanted {
        Case::Pair { low, .. } => {
            let first = case.jobs.iter().flatten().next();
            usize::from(first == Some(&low.number()))
        }
        Case::Same { .. } => later(runs, case.second),
        _ => 0,
    };
    let ns = of_job(runs, job).wall.ns().map(|ns| [ns.value; 2]);
    let ratio = match wanted {
        Case::Alone { .. } => None,
        _ => slowdown(qos, runs, job),
    };
    (ns, ratio)
}

/// Of two jobs that are alike, the one that took longer in the median, or the
/// other.
fn later(runs: &CaseRuns, second: bool) -> usize {
    let median = |job| of_job(runs, job).wall.ns().map_or(0.0, |ns| ns.value);
    usize::from((median(1) >= median(0)) == second)
}

/// The range of all levels alone.
fn alone(qos: &Qos) -> Option<[f64; 2]> {
    let alone = qos
        .cases
        .iter()
        .filter(|runs| matches!(runs.case, Case::Alone { .. }) && !runs.runs.is_empty());
    let medians = alone.filter_map(|runs| Some(of_job(runs, 0).wall.ns()?.value));
    medians.fold(None, |range, ns| match range {
        None => Some([ns, ns]),
        Some([low, high]) => Some([ns.min(low), ns.max(high)]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::references::References;

    #[test]
    fn figures_stand_next_to_his() {
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
        assert!(xeon.rows.iter().all(|row| row.here_ns.is_none()));

        let mut qos = model::synthetic::qos::document();
        for runs in &mut qos.cases {
            if let Case::Pair { high, low } = &mut runs.case {
                (*high, *low) = (Level::USER_INTERACTIVE, *low);
            }
        }
        let run = model::synthetic::qos::run(qos.clone());
        let filled = oakley(&all.qos[0], Some((&run, &qos)));
        let rows = &filled.machines[0].rows;
        let [low, high] = rows[0].here_ns.expect("alone");
        assert!(low >= 2e9 && high < 2.1e9, "{low} {high}");
        let times = |row: &OakleyRow| row.here_ratio.expect("eight rounds").value;
        assert!(times(&rows[1]) < 1.1, "the high one");
        assert!(times(&rows[2]) > 2.0, "the low one");
        let two = &filled.machines[1].rows;
        assert!(times(&two[1]) < times(&two[2]), "the first and the second");
    }
}
