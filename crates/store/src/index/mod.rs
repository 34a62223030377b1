//! What is kept, by machine, run and row: the questions that a look at many
//! runs asks. The documents of [`crate`] are the truth; everything here
//! can be made from them again, and is, by itself, where the index is missing,
//! old or broken. Where it can't be written the documents answer.

mod agree;
mod change;
mod columns;
mod earlier;
mod fault;
mod file;
pub(crate) mod fill;
mod handle;
mod lookup;
mod open;
mod questions;
mod reading;
mod results;
pub(crate) mod schema;
pub(crate) mod standing;
mod verify;

#[cfg(test)]
pub(crate) mod tests;

pub use change::{Deleted, Rebuilt, keep};
pub use earlier::{Earlier, earlier};
pub(crate) use fill::Entry;
pub use fill::NotRead;
#[cfg(feature = "postgres")]
pub(crate) use fill::check;
pub use handle::Index;
pub use reading::{Reading, watch_reading};
pub use results::results;
pub use standing::{MachineStanding, Percentile, Quantile, RowStanding, quantile};
pub use verify::{Damage, Verified};
