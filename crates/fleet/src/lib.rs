#![forbid(unsafe_code)]
//! A campaign of measurements over many hosts: its file, the jobs it expects, the engines that run
//! them (Slurm, or ssh), and how complete it is. It prints nothing, and schedules nothing itself.

pub mod campaign;
mod child;
mod crash;
pub mod directory;
mod error;
pub mod hosts;
pub mod journal;
pub mod keep;
pub mod record;
pub mod scan;
pub mod slurm;
pub mod ssh;
pub mod standing;
pub mod story;
pub mod submit;
mod text;

pub use error::FleetError;
