//! What single controls of noise did on this machine: a job with the control
//! on against the same job with it off, interleaved.
//!
//! The recording holds every run; [`judge::effects`] makes the effects of them.

pub mod advice;
pub mod figures;
pub mod judge;

use crate::compare::finding::Finding;
use figures::RunMedians;
use serde::{Deserialize, Serialize};

/// What `latlas noise ab` records.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effects {
    /// How it was done.
    pub how: How,
    /// Every control that was asked for, also those that are not available.
    pub controls: Vec<Control>,
    /// All runs, by job and load.
    pub blocks: Vec<Block>,
}

impl Effects {
    /// What each control did to each job under each load.
    pub fn effects(&self) -> Vec<Effect> {
        judge::effects(&self.controls, &self.blocks)
    }
}

/// How the experiment was done.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct How {
    /// Rounds of each block, at most.
    pub rounds: u32,
    /// Time that all blocks may take together, ms, where one was asked for.
    pub most_ms: Option<u64>,
    /// Seed of the order in the rounds.
    pub seed: u64,
    /// CPUs that jobs and loads may use.
    pub cpus: Vec<u32>,
    /// The CPU that pinned jobs are pinned to.
    pub pinned_to: Option<u32>,
    /// Busy processes of a load.
    pub busy: u32,
    /// How long a job was meant to take on a quiet CPU, ns.
    pub job_ns: u64,
    /// What each job does, found once and the same in all runs.
    pub work: Vec<Work>,
    /// What is not counted here, with the reason.
    pub not_counted: Vec<NotCounted>,
    /// The user's command in words, where that was the job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
}

/// What a job does.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Work {
    /// Which job.
    pub workload: Workload,
    /// How much of it.
    pub amount: u64,
    /// Memory that it works on, bytes; 0 where that is not the point.
    pub bytes: u64,
}

/// A figure that there is none of.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotCounted {
    /// Of what: `cycles`.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// One control.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Control {
    /// Its name on the command line: `pin+nice`.
    pub name: String,
    /// What it is with the control on, in words.
    pub on: String,
    /// And off.
    pub off: String,
    /// Name of the arm that has it on.
    pub on_arm: String,
    /// Name of the arm that it is set against.
    pub off_arm: String,
    /// What it needs, if anything: `root`.
    pub needs: Option<String>,
    /// How it is applied to what one measures.
    pub apply: String,
    /// Why it could not be tried here, if it could not.
    pub unavailable: Option<String>,
}

crate::words! {
    /// The jobs, as on the command line.
    #[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Workload: name {
        /// A chain of dependent operations in registers.
        Cpu = "cpu",
        /// A chase through more memory than the caches hold.
        Memory = "memory",
        /// A thread that sleeps and wakes up many times.
        Wakeup = "wakeup",
        /// Many small files that are looked for, opened and read.
        Files = "files",
        /// The user's own command.
        Command = "command",
    }
}

crate::words! {
    /// What loads the machine during the job, as on the command line.
    #[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Load: name {
        /// Nothing of ours.
        None = "none",
        /// Busy processes of the job's own session.
        SameSession = "same-session",
        /// Busy processes of another session.
        OtherSession = "other-session",
    }
}

impl Load {
    /// In a sentence, after the name of a job.
    pub fn in_words(self) -> &'static str {
        match self {
            Load::None => "with no load",
            Load::SameSession => "with a load in the same session",
            Load::OtherSession => "with a load in another session",
        }
    }
}

/// All runs of one job under one load.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Block {
    /// The job.
    pub workload: Workload,
    /// The load.
    pub load: Load,
    /// The states that were interleaved; the n-th run of each is of the
    /// n-th round.
    pub arms: Vec<EffectArm>,
}

impl Block {
    /// The arm of that name.
    pub fn arm(&self, name: &str) -> Option<&EffectArm> {
        self.arms.iter().find(|arm| arm.name == name)
    }
}

/// One state and its runs.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EffectArm {
    /// Its name, mostly that of the control that is on; `none`.
    pub name: String,
    /// Its runs, in order.
    pub runs: Vec<OneRun>,
}

/// One run of a job, as a process of its own. Times in ns.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneRun {
    /// When it began, ms since the beginning of the experiment.
    pub at_ms: u64,
    /// From just before its process is made until it has been waited for: how
    /// late the waiting process came to see its end is part of that.
    pub wall_ns: u64,
    /// From its first instruction of work to its last, as it saw it itself.
    pub took_ns: u64,
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in kernel mode.
    pub system_ns: u64,
    /// Times it gave up its CPU.
    pub voluntary: u64,
    /// Times its CPU was taken from it.
    pub involuntary: u64,
    /// Times it went on on another CPU.
    pub migrations: Option<u64>,
    /// Clock cycles.
    pub cycles: Option<u64>,
    /// How late it woke up; of the job that sleeps.
    pub wakeups: Option<Wakeups>,
}

impl OneRun {
    /// The figure that a control is judged by: for the job that sleeps how
    /// late it woke up in the mean, for the others the time their work took.
    /// Not the time until its end was seen: a control may keep its CPU from
    /// the task that waits.
    pub fn judged_ns(&self, workload: Workload) -> f64 {
        match (workload, &self.wakeups) {
            (Workload::Wakeup, Some(wakeups)) => wakeups.mean_ns,
            _ => self.took_ns as f64,
        }
    }
}

/// How late a thread woke up, from its timer's time to its next instruction.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wakeups {
    /// How often it woke up.
    pub count: u64,
    /// Mean, ns.
    pub mean_ns: f64,
    /// Median, ns.
    pub p50_ns: f64,
    /// 99 % of them were earlier, ns.
    pub p99_ns: f64,
    /// The latest, ns.
    pub max_ns: f64,
}

/// What one control did to one job under one load.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Name of the control.
    pub control: String,
    /// The job.
    pub workload: Workload,
    /// The load.
    pub load: Load,
    /// Whole rounds behind it.
    pub rounds: u32,
    /// With the control.
    pub on: RunMedians,
    /// Without.
    pub off: RunMedians,
    /// How much longer the job took: on over off.
    pub time: Change,
    /// How much more its times spread: on over off.
    pub spread: Change,
    /// How much more often its CPU was given up or taken away.
    pub switches: Option<Change>,
    /// How much more often it went on on another CPU; absent where that is not
    /// counted.
    pub migrations: Option<Change>,
}

/// What a control changed, and what may be said of it: less is better. Of times and of their spread it is on over
/// off, of counts on less off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// What may be said, with an interval as wide as the number of questions asks for.
    pub found: Finding,
    /// Means of a count, off and on.
    pub counts: Option<[Option<f64>; 2]>,
}

impl Change {
    /// The smallest effect that this many rounds could have shown under this noise: the distance from the farther
    /// end of its interval, of a ratio as a share.
    pub fn smallest(&self) -> Option<f64> {
        let found = self.found.ratio?;
        Some(match self.counts {
            None => (found.value / found.low).max(found.high / found.value) - 1.0,
            Some(_) => (found.value - found.low).max(found.high - found.value),
        })
    }

    /// Whether less of it was shown, or more; `None` where neither was.
    pub fn is_less(&self) -> Option<bool> {
        let unchanged = if self.counts.is_some() { 0.0 } else { 1.0 };
        let is_less = || self.found.ratio.is_some_and(|found| found.value < unchanged);
        self.found.is_different().then(is_less)
    }

    /// As printed.
    pub fn word(&self) -> &'static str {
        match (self.is_less(), self.found.ratio) {
            (Some(true), _) => "better",
            (Some(false), _) => "worse",
            (None, Some(_)) => "no effect shown",
            (None, None) => "inconclusive",
        }
    }
}
