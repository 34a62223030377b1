//! The atlas over HTTP: pages to look at, an interface for programs, upload of
//! run documents. A crate of its own, since the rest of `latlas` needs neither
//! a runtime nor the network.
//!
//! [`Served`] listens and answers until it is told to end.
//! A request goes through `guard` (who may ask), a route of `routes`, and
//! `app`, which asks the index in threads that may block. Nothing here deletes,
//! tags or changes what is kept; the one thing that can be added is a run.
#![forbid(unsafe_code)]

mod api;
mod app;
mod file_body;
mod guard;
mod listen;
mod metrics;
mod openapi;
mod pages;
mod problem;
mod questions;
mod received;
mod routes;
mod server;
mod strict;
mod token;
mod upload;
mod wire;

pub use listen::{ListenError, addresses};
pub use openapi::document as openapi;
pub use received::UploadLimits;
pub use routes::{Options, PATIENCE, now_unix_ms, router};
pub use server::{Ended, Limits, Served, Server};
pub use token::{Token, TokenError};
