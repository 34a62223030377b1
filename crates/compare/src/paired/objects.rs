//! What a paired gate says as JSON: an object for each time of a command, names of fields ending in their unit.

use super::{PairedGate, PairedRow};
use serde::Serialize;

/// A time of a command in both builds.
#[derive(Serialize, Debug)]
pub struct PairedObject<'r> {
    command: &'r str,
    row: &'static str,
    base_ns: f64,
    base_low_ns: f64,
    base_high_ns: f64,
    head_ns: f64,
    head_low_ns: f64,
    head_high_ns: f64,
    rounds: usize,
    /// Head over base.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    low_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high_ratio: Option<f64>,
    fail_above: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    detectable: Option<f64>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'r str>,
}

impl PairedGate {
    /// An object for each row.
    pub fn objects(&self) -> impl Iterator<Item = PairedObject<'_>> {
        self.rows.iter().map(|row| object(row, self.fail_above))
    }
}

fn object(row: &PairedRow, fail_above: f64) -> PairedObject<'_> {
    let ratio = row.ratio.filter(|_| row.why.is_none());
    PairedObject {
        command: &row.command,
        row: row.row,
        base_ns: row.base_ns.value,
        base_low_ns: row.base_ns.low,
        base_high_ns: row.base_ns.high,
        head_ns: row.head_ns.value,
        head_low_ns: row.head_ns.low,
        head_high_ns: row.head_ns.high,
        rounds: row.rounds,
        ratio: ratio.map(|r| r.value),
        low_ratio: ratio.map(|r| r.low),
        high_ratio: ratio.map(|r| r.high),
        fail_above,
        detectable: row.detectable,
        verdict: row.answer_text(),
        reason: row.why.as_deref(),
    }
}
