//! A verdict on the benchmark suites of others.

pub mod checkout;
pub mod counting;
pub mod experiment;
pub mod harness;
pub mod process;
pub mod sections;
pub mod slot;
