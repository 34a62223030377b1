//! Loops that are stated once for both assembly languages.

pub(crate) mod canary;
pub(crate) mod chase;
