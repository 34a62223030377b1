//! What a change of time comes from.

use serde::{Deserialize, Serialize};

/// Counts that differ by so little, a share, are the same work: glibc's choices, hash seeds and layouts move them.
const SAME_WORK: f64 = 0.005;
/// How many times what equal runs differ by a difference must be.
const TIMES_SPREAD: f64 = 3.0;
/// More system calls of an operation are work of the kernel, which no instruction of the program shows.
const SYSTEM_CALLS: f64 = 1.0;

/// Work of one operation.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArmCounts {
    /// Instructions.
    pub instructions: f64,
    /// System calls, without reads of the clock.
    pub system_calls: f64,
    /// Largest less smallest count of instructions of equal runs, as a share of their median.
    pub spread: f64,
}

/// What speaks for a change.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum ChangeEvidence {
    /// More or less of it is done.
    Work {
        /// Instructions, head over base.
        instructions: f64,
        /// System calls of an operation, head less base.
        system_calls: f64,
    },
    /// The same instructions take another time: data, branches, waiting.
    SameInstructions,
    /// What differs between the base and itself is as large.
    Machine,
    /// It takes another time, and nothing was counted.
    Time,
}

impl ChangeEvidence {
    /// What the work of an operation in base and head says of a change of time.
    pub fn from_counts(counts: &[ArmCounts; 2]) -> ChangeEvidence {
        let [base, head] = counts;
        let instructions = head.instructions / base.instructions;
        let system_calls = head.system_calls - base.system_calls;
        let same = SAME_WORK.max(TIMES_SPREAD * base.spread.max(head.spread));
        let differs = instructions.is_finite() && (instructions - 1.0).abs() > same;
        match differs || system_calls.abs() >= SYSTEM_CALLS {
            true => ChangeEvidence::Work { instructions, system_calls },
            false => ChangeEvidence::SameInstructions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten changes that were made to a benchmark on purpose, with what was counted of them.
    #[test]
    fn injected_changes_are_attributed() {
        for (change, instructions, system_calls, is_work) in [
            ("+5 % iterations", 0.05, 0.0, true),
            ("20 getppid", 0.0004, 20.0, true),
            ("sleep", 0.0008, 1.0, true),
            ("ten blocks of 200 kB", 0.037, 0.0, true),
            ("not inlined", 0.65, 0.0, true),
            ("stable sort", 0.24, 0.0, true),
            ("less work", -0.05, 0.0, true),
            ("random order of data", 0.00002, 0.0, false),
            ("shuffled branches", 0.0, 0.0, false),
            ("padding", 0.00007, 0.0, false),
            ("relinked", 0.0013, 0.0, false),
        ] {
            let base = ArmCounts { instructions: 98_090.0, system_calls: 0.0, spread: 1e-6 };
            let head =
                ArmCounts { instructions: 98_090.0 * (1.0 + instructions), system_calls, ..base };
            let evidence = ChangeEvidence::from_counts(&[base, head]);
            assert_eq!(matches!(evidence, ChangeEvidence::Work { .. }), is_work, "{change}");
            assert_eq!(evidence == ChangeEvidence::SameInstructions, !is_work, "{change}");
        }
    }

    #[test]
    fn counts_that_wander_are_no_work() {
        let base = ArmCounts { instructions: 1000.0, system_calls: 0.0, spread: 0.004 };
        let head = ArmCounts { instructions: 1011.0, ..base };
        let of = |counts| ChangeEvidence::from_counts(&counts);
        assert_eq!(of([base, head]), ChangeEvidence::SameInstructions, "1.1 % of 3 x 0.4");
        let [sure, head] = [base, head].map(|counts| ArmCounts { spread: 0.0, ..counts });
        let work = ChangeEvidence::Work { instructions: 1.011, system_calls: 0.0 };
        assert_eq!(of([sure, head]), work);
        let none = ArmCounts { instructions: 0.0, ..sure };
        assert_eq!(of([none, none]), ChangeEvidence::SameInstructions, "nothing to divide by");
    }
}
