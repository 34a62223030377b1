//! What is kept, by machine, run and row: the questions that a look at many
//! runs asks. The documents of [`crate`] are the truth; everything here
//! can be made from them again, and is, by itself, where the index is missing,
//! old or broken. Where it can't be written the documents answer.

mod agree;
mod change;
mod columns;
mod earlier;
pub(crate) mod entry;
mod fault;
mod file;
mod handle;
mod lookup;
mod open;
pub(crate) mod percentiles;
mod questions;
mod reading;
mod results;
pub(crate) mod schema;
mod verify;

#[cfg(test)]
pub(crate) mod tests;

pub use change::{Deleted, Rebuilt, keep};
pub use earlier::{Earlier, earlier};
pub(crate) use entry::IndexEntry;
pub use entry::NotRead;
pub(crate) use entry::check_fits;
pub use handle::Index;
pub use percentiles::{MachineStanding, Percentile, Quantile, RowStanding, quantile};
pub use reading::{ReadingProgress, watch_reading};
pub use results::results;
pub use verify::{Damage, Verified};
