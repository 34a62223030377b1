#![forbid(unsafe_code)]
//! A campaign of measurements over many hosts: its file, the jobs it expects, the engines that run
//! them (Slurm, or ssh), and how complete it is. It prints nothing, and schedules nothing itself.

pub mod campaign;
mod child;
mod crash;
pub mod directory;
mod error;
pub mod figures;
mod file_values;
pub mod hosts;
pub mod keep;
#[cfg(test)]
mod made_up;
mod page;
pub mod record;
pub mod render;
pub mod scan;
pub mod slurm;
pub mod ssh;
pub mod standing;
pub mod stored;
pub mod story;
pub mod submission;
pub mod submit;

pub use error::FleetError;
pub use page::fleet_page;
