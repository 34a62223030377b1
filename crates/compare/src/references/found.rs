//! What controls of noise did in an earlier experiment like `latlas noise ab`.

use serde::Deserialize;

/// One experiment.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub struct FoundControls {
    /// Author or place, ready to stand in a sentence.
    pub source: String,
    /// One entry a control; `none` is without any.
    pub found: Vec<FoundControl>,
}

/// Times of a job with one control; those that were not taken are absent.
#[derive(Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub struct FoundControl {
    /// Name of the control in `latlas noise ab`.
    pub control: String,
    /// How it differs from ours.
    pub note: Option<String>,
    /// A job bound by the core, alone.
    pub cpu_none: Option<FoundTime>,
    /// Under a load of the same session.
    pub cpu_same_session: Option<FoundTime>,
    /// Under a load of another one.
    pub cpu_other_session: Option<FoundTime>,
    /// A job bound by memory, under a load.
    pub memory_load: Option<FoundTime>,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(deny_unknown_fields)]
pub struct FoundTime {
    /// Mean, ms.
    pub ms: f64,
    /// Coefficient of variation, percent.
    pub cv: f64,
}

#[cfg(test)]
mod tests {
    use crate::references::References;

    #[test]
    fn the_table_is_the_one_that_was_found() {
        let all = References::embedded().expect("references");
        let table = &all.found_controls[0];
        assert!(table.source.contains("two shared Zen 3 cores"));
        let of = |name: &str| {
            let found = table.found.iter().find(|f| f.control == name);
            found.unwrap_or_else(|| panic!("no {name}"))
        };
        assert_eq!(of("none").cpu_none.expect("taken").ms, 80.7);
        assert_eq!(of("pin+nice").cpu_same_session.expect("taken").cv, 61.0);
        assert_eq!(of("fifo").memory_load.expect("taken").ms, 206.0);
        let autogroup = of("autogroup+pin+nice");
        assert_eq!(autogroup.cpu_other_session.expect("taken").ms, 75.2);
        assert_eq!(autogroup.cpu_none, None);
        assert!(of("shield").note.is_some());
    }
}
