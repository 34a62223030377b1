//! The protocol between latlas and a store helper: `--store SCHEME://...` runs the program
//! `latlas-store-SCHEME`, which answers requests on standard input with answers on standard output
//! (`docs/store-protocol.md`). A helper implements [`Shelf`] and calls [`serve`]; latlas writes
//! [`Request`]s and reads [`Answer`]s.
#![forbid(unsafe_code)]

mod answer;
mod failure;
mod request;
mod shelf;
mod stored;
pub mod url;
mod wire;

pub use answer::{Answer, End, Item};
pub use failure::{Failure, FailureKind};
pub use request::Request;
pub use shelf::{Shelf, serve};
pub use stored::{Document, Listed, Named, NewDocument};
pub use wire::{MOST_BYTES, MOST_NAMES};

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// The capability of a helper that keeps index entries next to documents.
pub const ENTRIES: &str = "entries";
