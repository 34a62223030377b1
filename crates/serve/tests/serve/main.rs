//! The server's tests: one program, since linking takes longest.

mod access;
mod anything;
mod api;
mod common;
mod metrics;
mod pages;
mod slow_uploads;
mod sockets;
mod uploads;
