//! The short look before and after a run, on the CPU that it measures on.

use super::{Request, measure};
use model::conditions::Conditions;
use model::noise::gaps::{Gaps, GapsAround};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock::{Calibration, Counter};

/// Length of one look: some forty ticks of a usual kernel, and short beside
/// what a run takes.
pub const SHORT: Duration = Duration::from_millis(150);

/// Stretches that it is told in.
const STRETCHES: usize = 20;

/// One short look. Nothing in it may fail a run: the reason is told instead.
///
/// # Errors
/// Why there is none, in words.
pub fn short_look(
    cpu: Option<u32>,
    not_pinned: Option<&str>,
    counter: Counter,
    calibration: &Calibration,
    stop: &AtomicBool,
) -> Result<Gaps, String> {
    let request = Request {
        cpu,
        span: SHORT,
        stretches: STRETCHES,
    };
    match measure(&request, counter, calibration, stop) {
        Ok((_, true)) => Err("interrupted".into()),
        Ok((mut gaps, false)) => {
            gaps.not_pinned = match cpu {
                Some(_) => None,
                None => Some(not_pinned.unwrap_or("it was not asked for").into()),
            };
            Ok(gaps)
        }
        Err(why) => Err(why.to_string()),
    }
}

/// Puts the two looks into the conditions; a missing one says why. Without a
/// second, the run was interrupted.
pub fn record(
    conditions: &mut Conditions,
    before: Result<Gaps, String>,
    after: Option<Result<Gaps, String>>,
) {
    let mut missed = |why: String| {
        conditions.remarks.push(format!(
            "what a spinning thread loses was not measured: {why}"
        ));
    };
    match before {
        Ok(before) => {
            let after = after.and_then(|after| after.map_err(&mut missed).ok());
            conditions.gaps = Some(GapsAround { before, after });
        }
        Err(why) => missed(why),
    }
}
