//! What priority does to real work: one compression job at each
//! quality-of-service level, alone and competing.
//!
//! A job is a process of its own ([`job`]) in a session that holds nothing but
//! its threads; the controller ([`running`], [`conduct`]) stays in another one.
//! What the runs say is concluded in [`model::qos`].
// Threads of tests may panic where there are none.
#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![forbid(unsafe_code)]

pub mod clock;
pub mod codec;
pub mod conditions;
pub mod conduct;
pub mod file;
pub mod job;
pub mod knobs;
pub mod levels;
pub mod plan;
pub mod report;
pub mod running;

mod queue;
mod records;
