//! The atlas over HTTP: pages, an API for programs, and upload of run
//! documents. A crate of its own, since nothing else in `latlas` needs a
//! runtime or the network.
//!
//! A request passes `guard` (who may send it), a route of `routes`, and `app`,
//! which queries the index in threads that may block. Nothing here deletes,
//! tags or changes what is stored; the one thing that can be added is a run.
#![forbid(unsafe_code)]

mod api;
mod app;
mod cached;
mod guard;
mod listen;
mod metrics;
#[cfg(test)]
mod openapi;
#[cfg(test)]
mod operation;
mod pages;
mod params;
mod problem;
mod queries;
mod routes;
mod server;
mod share;
mod token;
mod upload;
mod wire;

pub use app::{Options, TIMEOUT, now_unix_ms};
pub use listen::{ListenError, addresses};
pub use routes::{OPENAPI, router};
pub use server::{ClientTimeouts, Server, ServerEnd, serve};
pub use token::{Token, TokenError};
pub use upload::UploadLimits;
