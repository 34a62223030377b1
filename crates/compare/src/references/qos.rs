//! Oakley's QoS measurements: how long one job took at which class, next to
//! which competitor.

use super::Sentence;
use serde::Deserialize;

/// What QoS classes did to a job, as one author published it.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub struct QosReference {
    /// Author and place of publication.
    pub source: String,
    /// What the job was.
    pub workload: String,
    /// One entry a machine.
    #[serde(rename = "machine")]
    pub machines: Vec<QosMachine>,
    /// What was seen in addition to the figures.
    #[serde(default, rename = "observation")]
    pub observations: Vec<Sentence>,
}

/// The cases on one machine.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub struct QosMachine {
    pub key: String,
    /// What a heading calls it.
    pub title: String,
    #[serde(rename = "row")]
    pub cases: Vec<QosCase>,
}

/// One job among others.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub struct QosCase {
    /// Which job next to which.
    pub case: String,
    /// Levels of its jobs, first the one whose time it is; none for any level
    /// alone.
    pub jobs: Vec<u32>,
    /// Whether it is the later of two jobs that are alike.
    #[serde(default)]
    pub second: bool,
    /// Range of its time in seconds; empty where only words were published.
    pub seconds: Vec<f64>,
    /// What to know with it.
    pub note: Option<String>,
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
        assert!(observed[0].text.contains("15 minutes"), "{observed:?}");
        assert!(all.qos[0].workload.contains("10 GB"));
        let m1 = &all.qos[0].machines[1];
        assert_eq!((m1.key.as_str(), m1.cases.len()), ("apple-m1", 8));
    }
}
