//! The atlas over HTTP: one program, since linking it is what costs.

mod access;
mod anything;
mod common;
mod interface;
mod metrics;
mod openapi;
mod pages;
mod readers;
mod slow_senders;
mod sockets;
