//! From bytes of rings to states of threads, without a kernel.

mod anything;
mod decode;
mod invariants;
mod perfetto;
mod ring;
mod signposts;
mod stacks;
mod states;
