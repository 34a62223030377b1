//! The loops for any other architecture, in plain Rust: they do what the
//! others do and keep the crate building, but an optimiser has had its way
//! with them, so their times are not for publication.

pub(crate) mod branch;
pub(crate) mod call;
pub(crate) mod canary;
pub(crate) mod chase;
pub(crate) mod cpu;
pub(crate) mod pages;
pub(crate) mod stream;
