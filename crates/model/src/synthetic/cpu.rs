//! Rows of the CPU: every verdict.

use super::estimates::{CYCLE_NS, estimate, judged, ok_outcome, row_of_times};
use crate::estimate::{Estimate, Verdict};
use crate::run::{Outcome, Row};
use crate::unit::Unit;

pub(super) fn cpu_rows() -> Vec<Row> {
    let two = "3.30 ns in 62 % of the samples, 6.60 ns in 38 %";
    let few = "5 undisturbed samples, 12 needed";
    let below = Estimate { below_ns: Some(0.0083), ..estimate(0.0003, 0.008) };
    let never_quiet = Estimate {
        quiet: None,
        tail: None,
        modes: Vec::new(),
        quiet_share: Some(0.01),
        ..judged(25_300.0, 900.0, Verdict::CannotTell, few)
    };
    let faulted = "page faults inside most samples: the working set does not stay in memory, and \
                   so the time is that of the kernel which brings the pages back again and again";
    let mut rows = vec![
        row_of_times("cpu.add_i32", ok_outcome(0.33, 0.001)),
        row_of_times("cpu.add_i32/throughput", ok_outcome(0.0831, 0.0004)),
        row_of_times(
            "cpu.div_i32",
            Outcome::Figure(judged(3.3, 0.3, Verdict::Noisy, "worker processes disagree by ±9 %")),
        ),
        row_of_times("cpu.div_f64_as_ash", ok_outcome(1.32, 0.01)),
        row_of_times(
            "cpu.div_f64_from_int_as_ash",
            Outcome::Figure(judged(4.0, 0.1, Verdict::TwoStates, two)),
        ),
        row_of_times("cpu.memcpy/16B", Outcome::Figure(below)),
        row_of_times("cpu.memcpy/1MiB", Outcome::Figure(never_quiet)),
        row_of_times(
            "cpu.branch_mispredict",
            Outcome::Figure(judged(5.2, 0.1, Verdict::Invalid, faulted)),
        ),
        Row { unit: Unit::Frequency, ..row_of_times("cpu.frequency", ok_outcome(CYCLE_NS, 0.002)) },
        row_of_times(
            "cpu.timer/counter",
            Outcome::Unavailable {
                reason:
                    "the kernel keeps the counter from user programs (CNTKCTL_EL1), so that it \
                         can't be read without a trap"
                        .into(),
            },
        ),
    ];
    rows[3].notes = vec!["The divisor is loaded from memory each time.".into()];
    rows
}
