//! Programs with signposts, and what they leave in the shared memory.
#![allow(clippy::disallowed_methods)]
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

mod c;
#[cfg(feature = "tracing")]
mod layer;
mod memory;
mod rust;
