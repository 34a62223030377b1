//! The atlas over HTTP: one program, since linking it is what costs.

mod access;
mod anything;
mod common;
mod interface;
mod metrics;
mod pages;
mod readers;
mod sockets;
