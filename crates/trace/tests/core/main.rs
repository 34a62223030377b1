//! From the bytes of rings to states of threads, without a kernel: `ring.rs` writes the bytes with the
//! tracepoint formats of `tests/formats`. The fuzz target `trace` also compiles `anything.rs` and `ring.rs`.
//! Recording on a real kernel is tested with the program, in `crates/latlas/tests/all/trace.rs`.

mod anything;
mod decode;
mod foreign;
mod invariants;
mod pages;
mod perfetto;
mod ring;
mod signposts;
mod stacks;
mod states;
