//! The server's tests: one program, since linking takes longest.
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
