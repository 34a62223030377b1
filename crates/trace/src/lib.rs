//! The system trace: what each thread of a program did, and when.
//!
//! The way of one event: a tracepoint or a record of a thread in a ring of the
//! kernel (`sys::perf`) → [`event::Event`] ([`decode`], by the kernel's own
//! [`format`] files) → states of threads ([`states`], with the test of the
//! chain of switches) → [`model::trace::Trace`], the part of a run that is kept,
//! shown, and converted for Perfetto ([`perfetto`]).
//!
//! Everything from the ring's bytes on is plain arithmetic. [`mod@record`] is what
//! talks to the kernel.
#![forbid(unsafe_code)]

pub mod decode;
pub mod endian;
pub mod event;
pub mod foreign;
pub mod format;
mod ids;
mod lost;
pub mod perfetto;
mod protobuf;
pub mod record;
pub mod ring_page;
pub mod signposts;
pub mod stacks;
pub mod states;
pub mod usdt;
