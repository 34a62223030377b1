//! What each CPU did, as shares of time.

use super::RecordingRows;
use super::shares::ShareSample;
use crate::cpu_history::{CpuHistory, CpuStrip, Ticks};

/// Shares of each CPU's time.
pub(super) fn cpu_history_rows(of: &CpuHistory) -> RecordingRows {
    let mut rows = RecordingRows::default();
    for (place, name) in ["user", "system", "steal", "idle"].into_iter().enumerate() {
        let cpus = of.cpus.iter().map(|strip| (Some(strip.cpu), parts(of, strip, place)));
        rows.add_shares(&format!("cpus.{name}"), cpus.collect());
    }
    rows
}

/// One of the four shares of a CPU in each interval that is known.
fn parts(of: &CpuHistory, strip: &CpuStrip, place: usize) -> Vec<ShareSample> {
    let begins = std::iter::once(0).chain(of.ends_ns.iter().copied());
    let known = begins.zip(&strip.ticks).filter_map(|(at_ns, ticks)| Some((at_ns, (*ticks)?)));
    let part = |(at_ns, ticks): (u64, Ticks)| ShareSample {
        at_ms: at_ns / 1_000_000,
        part: <[u32; 4]>::from(ticks)[place].into(),
        whole: ticks.total(),
    };
    known.map(part).collect()
}
