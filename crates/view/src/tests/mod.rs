//! From documents to pages: what is computed below, as a reader sees it.

mod comparison;
mod fleet;
mod gate;
mod history;
#[cfg(debug_assertions)]
mod linear;
mod paired;
mod tables;
