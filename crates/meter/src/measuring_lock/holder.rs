//! What stands in the file of the lock.

use model::phrases::{rounded, rounded_up};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;
use sys::ancestors;
use sys::filesystem::Signer;

/// Characters of what is measured; a command line may be of any length.
const LONGEST: usize = 100;

/// A process that measures, as it describes itself in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Holder {
    pub(super) pid: u32,
    /// What it measures: `latlas run memory`.
    measures: String,
    /// When it got the lock.
    since_unix_ms: u64,
    /// How long it planned to measure.
    planned_ms: Option<u64>,
}

impl Holder {
    /// This process, which will measure for a time, where it is known.
    pub fn this_process(measures: &str, takes: Option<Duration>) -> Holder {
        Holder {
            pid: std::process::id(),
            measures: measures.to_owned(),
            since_unix_ms: 0,
            planned_ms: takes.map(|takes| takes.as_millis() as u64),
        }
    }

    /// The same, from now on.
    pub(super) fn starting_now(&self) -> Holder {
        Holder { since_unix_ms: sys::clock::realtime_unix_ms(), ..self.clone() }
    }
}

/// The process that holds the lock, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldBy {
    /// What it says of itself.
    pub(super) holder: Option<Holder>,
    /// Which it is, by the kernel: what stands in the file is not believed.
    pub(super) signer: Option<Signer>,
    /// Whether it is stopped.
    pub(super) stopped: bool,
    pub(super) now_unix_ms: u64,
}

impl HeldBy {
    /// Whether this process, or one that it started, started us, so that it waits for us.
    pub(super) fn is_ancestor(&self) -> bool {
        matches!(self.signer, Some(Signer::Process(pid)) if ancestors::is_ancestor(pid))
    }
}

/// `latlas run memory (process 1234, for 35 s, about 40 s left)`. Any user may write the file.
impl fmt::Display for HeldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stopped = if self.stopped { ", stopped" } else { "" };
        let Some(holder) = &self.holder else {
            return match self.signer {
                Some(Signer::Process(pid)) => write!(f, "process {pid}{stopped}"),
                _ => write!(f, "an unknown process"),
            };
        };
        let measures: String = holder.measures.chars().take(LONGEST).collect();
        let since_ms = self.now_unix_ms.saturating_sub(holder.since_unix_ms);
        write!(
            f,
            "{} (process {}{stopped}, for {}",
            model::printable::visible(&measures),
            holder.pid,
            rounded(since_ms)
        )?;
        let left_ms = holder.planned_ms.map(|planned| planned.checked_sub(since_ms));
        match left_ms {
            Some(Some(left_ms)) => write!(f, ", about {} left)", rounded_up(left_ms)),
            Some(None) => write!(f, ", longer than planned)"),
            None => write!(f, ")"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_by(holder: Option<Holder>, stopped: bool, now_unix_ms: u64) -> HeldBy {
        HeldBy { holder, signer: Some(Signer::Process(1234)), stopped, now_unix_ms }
    }

    fn holder(planned_ms: Option<u64>) -> Option<Holder> {
        Some(Holder {
            pid: 1234,
            measures: "latlas run \u{1b}[2Jcpu".into(),
            since_unix_ms: 5_000,
            planned_ms,
        })
    }

    fn held(planned_ms: Option<u64>, now_unix_ms: u64) -> String {
        held_by(holder(planned_ms), false, now_unix_ms).to_string()
    }

    #[test]
    fn a_holder_is_described_with_what_is_known() {
        let who = r"latlas run \u{1b}[2Jcpu (process 1234, for";
        assert_eq!(held(None, 40_000), format!("{who} 35 s)"));
        let left = held(Some(75_000), 40_000);
        assert_eq!(left, format!("{who} 35 s, about 40 s left)"));
        let over = held(Some(1_000), 605_000);
        assert_eq!(over, format!("{who} 10 min, longer than planned)"));
        assert_eq!(held(None, 0), format!("{who} 0 s)"), "a clock set back");
        let stopped = held_by(holder(None), true, 40_000).to_string();
        assert_eq!(stopped, who.replace("1234,", "1234, stopped,") + " 35 s)");
        assert_eq!(held_by(None, true, 0).to_string(), "process 1234, stopped");
        let unknown = HeldBy { signer: None, ..held_by(None, false, 0) };
        assert_eq!(unknown.to_string(), "an unknown process");
        assert!(!unknown.is_ancestor());
    }
}
