//! What is kept, by machine, run and row: the questions that a look at many
//! runs asks. The documents of [`crate`] are the truth; everything here
//! can be made from them again, and is, by itself, where the index is missing,
//! old or broken. Where it can't be written the documents answer.

mod agree;
mod change;
mod fault;
mod file;
mod fill;
mod handle;
mod lookup;
mod open;
mod questions;
mod quiet;
mod reading;
mod results;
mod schema;
mod standing;
mod verify;

#[cfg(test)]
mod tests;

pub use change::{Deleted, Rebuilt, keep};
pub use handle::Index;
pub use quiet::kept_quiet_ratio;
pub use reading::{Reading, watch_reading};
pub use results::results;
pub use standing::{MachineStanding, Percentile, Quantile, RowStanding, quantile};
pub use verify::{Damage, Verified};
