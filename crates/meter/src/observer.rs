//! How a run goes, as its program shows it.

use crate::plan::Plan;
use crate::run_remark::RunRemark;
use model::estimate::Estimate;
use model::summary::Key;
use model::unit::Unit;
use std::time::Duration;

/// Hears how the run goes, between samples.
pub trait Observer {
    /// The plan is about to be carried out.
    fn started(&mut self, _plan: &Plan) {}
    /// Some visits were made.
    fn progress(&mut self, _progress: &Progress) {}
    /// Something that the user should know at once.
    fn warning(&mut self, _remark: &RunRemark) {}
}

/// An observer that hears nothing.
pub struct Silent;
impl Observer for Silent {}

/// How far the run is.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Round, from 1.
    pub round: u32,
    /// Rounds planned.
    pub rounds: u32,
    /// Time since the beginning.
    pub elapsed: Duration,
    /// Time that the rest should take.
    pub remaining: Duration,
    /// Visits made.
    pub visits_done: u64,
    /// Visits planned.
    pub visits_planned: u64,
    /// Figures so far, renewed after each round.
    pub latest: &'a [Latest],
}

/// A figure of a run under way.
#[derive(Clone, Debug)]
pub struct Latest {
    /// What it is of.
    pub key: Key,
    /// The figure so far.
    pub estimate: Estimate,
    /// Unit that it is shown in.
    pub unit: Unit,
}
