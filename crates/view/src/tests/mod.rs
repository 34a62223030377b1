//! From documents to pages: what is computed below, as a reader sees it.

mod comparison;
mod gate;
mod history;
mod paired;
mod tables;
