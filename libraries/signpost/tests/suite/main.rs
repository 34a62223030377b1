//! Programs that use signposts, and what they leave in the shared memory: Rust's macros (`rust.rs`), the
//! layer for `tracing` (`layer.rs`), the header for C (`c.rs`, with the two C files). `memory.rs` plays
//! latlas's side. How latlas reads the memory is tested in `crates/trace`.
#![allow(clippy::disallowed_methods)]
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

mod c;
#[cfg(feature = "tracing")]
mod layer;
mod memory;
mod rust;
