//! Clocks of hosts that are off.

use super::Evidence;
use super::documents::Own;
use super::records::KnownRecord;

/// Clocks may differ by so much, with the time from Slurm's start of a job to ours.
pub const CLOCK_OFF_MS: i64 = 120_000;

/// By how much the host's clock is ahead, if that is too much. A record has both clocks; a document
/// can't begin before it was submitted, nor end later than now.
pub(super) fn clock_off_ms(
    evidence: &Evidence,
    documents: &[Own],
    records: &[KnownRecord],
) -> Option<i64> {
    let compared = records.iter().rev().find_map(|record| record.ahead_ms);
    let is_off = |ms: &i64| ms.abs() > CLOCK_OFF_MS;
    if compared.is_some() {
        return compared.filter(is_off);
    }
    let difference = |later: u64, earlier: u64| later as i64 - earlier as i64;
    let submitted = evidence.expected.submission.submitted_unix_ms;
    documents.iter().find_map(|document| {
        let end = document.started_unix_ms.saturating_add(document.wall_ms);
        let before = difference(document.started_unix_ms, submitted).min(0);
        let ahead = difference(end, evidence.now_unix_ms).max(0);
        [before, ahead].into_iter().find(is_off)
    })
}
