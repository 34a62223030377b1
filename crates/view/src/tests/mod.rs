//! From documents to text and pictures, through `compare`, `store` and this crate: what the layers below
//! compute, as a reader sees it. `linear.rs` checks that the work grows linearly with the number of rows.
//! Tests of one painter are with its code.

mod comparison;
mod gate;
mod history;
mod judged;
#[cfg(debug_assertions)]
mod linear;
mod paired;
mod tables;
