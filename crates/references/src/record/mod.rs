//! The records, one file a source, each with what its figures must satisfy.

mod board;
mod cloud;
mod instructions;
mod matrix;
mod population;
mod vendor;

pub use board::{BoardReport, CoreCluster};
pub use cloud::{AllCpuBandwidth, CloudArch, CloudType, Membench, Provider, Stress};
pub(crate) use cloud::{flag, ns_within_l1, signature};
pub use instructions::{
    Divisors, HybridCore, InstructionTimings, MemoryLevel, OperandSet, TimedOperation,
};
pub use matrix::CoreMatrix;
pub use population::{PopulationUnit, TestPopulation};
pub use vendor::X86Vendor;
pub(crate) use vendor::x86_signature;

pub use compare::references::ComparisonRule;

use crate::source::Source;
use serde::de::DeserializeOwned;

/// A line of a source's file.
pub trait PublishedRecord: DeserializeOwned {
    /// The file.
    const SOURCE: Source;
    /// What tells it from all others of its file.
    fn unique_name(&self) -> String;
    /// The first thing about it that no machine has.
    fn implausible(&self) -> Option<Implausible>;
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Implausible {
    /// A figure outside of what machines have.
    #[error("{field} is {value}, outside of {low} to {high}: another unit?")]
    OutOfRange {
        /// Which.
        field: &'static str,
        /// The figure.
        value: f64,
        /// Least that is believed.
        low: f64,
        /// Most that is believed.
        high: f64,
    },
    /// Sizes or quantiles that must rise don't.
    #[error("{0} must rise")]
    NotRising(&'static str),
    /// Two lists that belong together differ in length.
    #[error("{0} and {1} differ in length")]
    Lengths(&'static str, &'static str),
    /// Two figures that can't both be right.
    #[error("{0}")]
    Contradictory(&'static str),
}

/// The first of some figures outside of its range.
fn out_of_range(
    field: &'static str,
    values: impl IntoIterator<Item = f64>,
    low: f64,
    high: f64,
) -> Option<Implausible> {
    let outside = values.into_iter().find(|value| !(low..=high).contains(value));
    outside.map(|value| Implausible::OutOfRange { field, value, low, high })
}

/// Sizes and the figures at them: as many, and the sizes rise.
fn uneven_curve(
    sizes: (&'static str, &[u64]),
    figures: (&'static str, usize),
) -> Option<Implausible> {
    if sizes.1.len() != figures.1 {
        return Some(Implausible::Lengths(sizes.0, figures.0));
    }
    let rising = sizes.1.is_sorted_by(|a, b| a < b);
    (!rising).then_some(Implausible::NotRising(sizes.0))
}
