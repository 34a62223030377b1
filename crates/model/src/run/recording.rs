//! What a run holds beyond rows of samples.

use super::{Program, Run};
use crate::cpu_history::CpuHistory;
use crate::judged::Judged;
use crate::machine::Machine;
use crate::noise::effect::Effects;
use crate::noise::osnoise::Interruptions;
use crate::qos::Qos;
use crate::qos::knobs::Knobs;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};

/// A part of a run, by kind.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Recording {
    /// What took the CPU from threads that only spin.
    Interruptions(Interruptions),
    /// What each CPU did over time.
    CpuHistory(CpuHistory),
    /// A job with and without each control of noise.
    Effects(Effects),
    /// A job at each level of quality of service, alone and competing.
    Qos(Qos),
    /// Shares and wake-ups of threads with each control of the scheduler.
    Knobs(Knobs),
    /// The same rows again and again: a machine against itself.
    Sets(Sets),
    /// What threads did, and when.
    Trace(Box<Trace>),
    /// Two builds of a benchmark suite.
    Judged(Box<Judged>),
}

/// What a run says of itself before anything was measured.
#[derive(Clone, Debug)]
pub struct About {
    /// UUID (version 4 or 8) of the run.
    pub id: String,
    /// When it began, ms since 1970 UTC.
    pub started_unix_ms: u64,
    /// How long it took, ms.
    pub wall_ms: u64,
    /// What measured.
    pub program: Program,
    /// On what.
    pub machine: Machine,
}

/// What `latlas selftest` records.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sets {
    /// Change that counts as none, as a share.
    pub margin: f64,
    /// The sets in the order in which they were measured.
    pub sets: Vec<Set>,
}

/// One of them.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Set {
    /// Its arm.
    pub arm: char,
    /// Its run, without samples but for which worker took them.
    pub run: Run,
}

impl Recording {
    /// The trace, if it is one.
    pub fn trace(&self) -> Option<&Trace> {
        match self {
            Recording::Trace(trace) => Some(trace),
            _ => None,
        }
    }

    /// The experiment of a judged suite, if it is one.
    pub fn judged_suite(&self) -> Option<&Judged> {
        match self {
            Recording::Judged(judged) => Some(judged),
            _ => None,
        }
    }

    /// What was recorded, in a word or two.
    pub fn name(&self) -> &'static str {
        match self {
            Recording::Interruptions(_) => "OS noise",
            Recording::CpuHistory(_) => "CPU history",
            Recording::Effects(_) => "effects of controls",
            Recording::Qos(_) => "quality of service",
            Recording::Knobs(_) => "scheduler controls",
            Recording::Sets(_) => "A/A test",
            Recording::Trace(_) => "trace",
            Recording::Judged(_) => "benchmark suite of two builds",
        }
    }
}
