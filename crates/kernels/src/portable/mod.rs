//! The loops for any other architecture, in plain Rust: they do what the
//! others do and keep the crate building, but an optimiser has had its way
//! with them, so their times are not for publication.

#[macro_use]
mod lines;

pub(crate) mod ash;
pub(crate) mod branch;
pub(crate) mod call;
pub(crate) mod canary;
pub(crate) mod chase;
pub(crate) mod pages;
pub(crate) mod stream;

/// Nothing: portable code cannot set its alignment.
pub(crate) fn aligned() {}

/// The same two words, of which the optimiser no longer knows anything.
pub(crate) fn hidden(words: [*const (); 2]) -> [*const (); 2] {
    core::hint::black_box(words)
}
