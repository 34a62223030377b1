//! Oakley's QoS measurements: how long one job took at which class, beside
//! which competitor.

use super::Sentence;
use serde::Deserialize;

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QosFile {
    source: String,
    workload: String,
    machine: Vec<MachineTable>,
    #[serde(default)]
    observation: Vec<Sentence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineTable {
    key: String,
    title: String,
    row: Vec<QosCase>,
}

/// What QoS classes did to a job, as one author published it.
#[derive(Clone, Debug, PartialEq)]
pub struct QosReference {
    /// Who published it and where.
    pub source: String,
    /// What the job was.
    pub workload: String,
    /// One entry a machine.
    pub machines: Vec<QosMachine>,
    /// What was seen beside the figures.
    pub observations: Vec<String>,
}

/// The cases on one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct QosMachine {
    /// Its key.
    pub key: String,
    /// What a heading calls it.
    pub title: String,
    /// The cases.
    pub cases: Vec<QosCase>,
}

/// One job among others.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct QosCase {
    /// Which job beside which.
    pub case: String,
    /// Range of its time in seconds; empty where only words were published.
    pub seconds: Vec<f64>,
    /// What to know beside it.
    pub note: Option<String>,
}

impl From<QosFile> for QosReference {
    fn from(file: QosFile) -> Self {
        QosReference {
            source: file.source,
            workload: file.workload,
            machines: file
                .machine
                .into_iter()
                .map(|machine| QosMachine {
                    key: machine.key,
                    title: machine.title,
                    cases: machine.row,
                })
                .collect(),
            observations: file.observation.into_iter().map(|o| o.text).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::references::References;

    #[test]
    fn times_are_ranges_of_seconds() {
        let all = References::embedded().expect("references parse");
        let cases = all.qos[0].machines.iter().flat_map(|m| &m.cases);
        for case in cases {
            assert!(matches!(case.seconds.len(), 0 | 2), "{}", case.case);
            assert!(case.seconds.is_sorted(), "{}", case.case);
            assert!(case.seconds.iter().all(|&s| s > 0.0), "{}", case.case);
        }
        let observed = &all.qos[0].observations;
        assert_eq!(observed.len(), 2);
        assert!(observed[0].contains("15 minutes"), "{}", observed[0]);
        assert!(all.qos[0].workload.contains("10 GB"));
        let m1 = &all.qos[0].machines[1];
        assert_eq!((m1.key.as_str(), m1.cases.len()), ("apple-m1", 6));
    }
}
