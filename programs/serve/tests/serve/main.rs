//! The server as a library, most of it without a network (`common.rs`); real connections in `sockets.rs` and
//! `slow_uploads.rs`. One test program for all, since linking takes longest. The installed program is tested
//! in `tests/program`.
#![allow(clippy::disallowed_methods)]

mod access;
mod anything;
mod api;
mod common;
mod metrics;
mod pages;
mod slow_uploads;
mod sockets;
mod uploads;
