//! Where rows of files put theirs: which directory, and its life.
//!
//! A run has one directory of its own, `latlas-scratch-<uid>/run-<uuid>` (mode
//! 0700; the number is the user's, since a place may be shared), made when a planned row wants it and removed by whatever way the run ends.
//! Beside it lies `run-<uuid>.lock`, whose lock (`flock(2)`) the run holds: the
//! system lets go of it when a run is killed, and the next run in that place
//! removes what has no lock. The lock's file is there before the directory and
//! goes after it, so that a directory without one is nobody's. In it stands on
//! which host its run is: of what other hosts may share, only this host's
//! leftovers are removed.

mod choice;
mod dir;
mod error;
mod life;

pub(crate) use choice::nearest;
pub use choice::{by_default, scratch_in};
pub use dir::ScratchDir;
pub use error::{ScratchError, Unusable};
pub use life::{Scratch, sweep};
