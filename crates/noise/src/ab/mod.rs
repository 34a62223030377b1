//! What each control of noise is worth on this machine: a job with it on
//! against the same job with it off, interleaved (perf-book, appendix A, does so
//! with one control after the other).
//!
//! [`control`] says which controls there are, [`plan`] which job runs under which
//! load, [`conduct`] goes through it round by round on a [`conduct::Stage`],
//! which [`stage`] is for real: every run of a [`job`] is a process of its own,
//! and so is every part of a [`load`]. The arithmetic is in
//! [`model::noise::effect`].

pub mod available;
pub mod calibrate;
pub mod conduct;
pub mod control;
pub mod document;
pub mod duration;
pub mod job;
pub mod load;
pub mod plan;
pub mod planned;
pub mod stage;
pub mod system;
pub mod toggle;
