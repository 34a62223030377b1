//! What took the CPU, as shares of time.

use super::RecordingRows;
use super::shares::ShareSample;
use crate::estimate::Verdict;
use crate::noise::osnoise::{Cause, Interruptions, Osnoise, Stretch};
use crate::run::Row;

/// Lost time as a share of the watched time: all, and by cause.
pub(super) fn interruptions_rows(of: &Interruptions) -> RecordingRows {
    let mut rows = RecordingRows::default();
    let parts_of = |lost: &dyn Fn(&Stretch) -> u64| {
        of.cpus.iter().map(|one| (one.cpu, parts(one, lost))).collect::<Vec<_>>()
    };
    rows.add_shares("osnoise.lost", parts_of(&|stretch| stretch.lost_ns.iter().sum()));
    for (place, cause) in Cause::ALL.into_iter().enumerate() {
        if of.cpus.iter().any(|one| one.cause_total(cause).is_some()) {
            let lost = |stretch: &Stretch| stretch.lost_ns.get(place).copied().unwrap_or(0);
            rows.add_shares(
                &format!("osnoise.{}", cause.words().replace(' ', "_")),
                parts_of(&lost),
            );
        }
    }
    if !of.cpus.iter().all(Osnoise::has_cause) {
        for estimate in rows.rows.iter_mut().flat_map(Row::estimates_mut) {
            estimate.verdict = Verdict::CannotTell;
            estimate.reason = "no source of causes could be read".into();
        }
    }
    rows
}

fn parts(one: &Osnoise, lost: impl Fn(&Stretch) -> u64) -> Vec<ShareSample> {
    let each_ns = one.span_ns as f64 / one.stretches.len().max(1) as f64;
    let stretches = one.stretches.iter().enumerate();
    let part = |(place, stretch): (usize, &Stretch)| ShareSample {
        at_ms: (each_ns * place as f64 / 1e6) as u64,
        part: lost(stretch),
        whole: stretch.watched_ns,
    };
    stretches.map(part).collect()
}
