//! Every kernel that ships, against plain Rust.

use ::kernels;

mod suite;
