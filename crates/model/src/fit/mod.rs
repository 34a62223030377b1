//! Is this the machine it should be? A vector of a dozen figures of a run, against the distribution of a
//! fleet's hosts.
//!
//! `Run` → [`Vector`] (here) → [`learn::learn`] of many → [`Expectation`] → [`judge::judge_host`] of one.

pub mod expectation;
pub mod identity;
pub mod judge;
pub mod learn;
pub mod noise;
pub mod published;
#[cfg(test)]
mod tests;
mod verdict;

pub use expectation::Expectation;

use crate::estimate::Estimate;
use crate::machine::Fact;
use crate::run::{Outcome, Run};
use crate::stats::median;
use identity::Identity;
use noise::Noise;
use serde::{Deserialize, Serialize};

/// The name under which its runs are stored.
pub const FIT: &str = "fit";

/// The rows that it measures.
pub const ROWS: [&str; 5] = [
    "cpu.mul_i64",
    "memory.latency",
    "memory.core_to_core",
    "call.syscall",
    "file.write_durable/16B",
];

crate::words! {
    /// One figure of the vector.
    #[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Element: text {
        /// Clock of the core, GHz, by dependent adds.
        Clock = "core clock",
        /// Dependent multiplication, cycles.
        Multiply = "multiply",
        /// Load from L1, cycles.
        L1 = "load from L1",
        /// Load from L2, cycles.
        L2 = "load from L2",
        /// Load from L3, ns.
        L3 = "load from L3",
        /// Load from memory, ns.
        Dram = "load from memory",
        /// Cache line handed over between two CPUs, ns, median over all pairs.
        CoreToCore = "core to core",
        /// System call, cycles.
        Syscall = "system call",
        /// Write and fsync of 16 bytes, ns.
        Disk = "write + fsync",
        /// Share of its time that a spinning thread had the CPU, 0 to 1.
        Share = "share of the CPU",
    }
}

/// What an element is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementUnit {
    /// GHz.
    Ghz,
    /// Clock cycles.
    Cycles,
    /// ns.
    Ns,
    /// 0 to 1.
    Share,
}

impl Element {
    /// What it is counted in.
    pub fn counted(self) -> ElementUnit {
        match self {
            Element::Clock => ElementUnit::Ghz,
            Element::Multiply | Element::L1 | Element::L2 | Element::Syscall => ElementUnit::Cycles,
            Element::L3 | Element::Dram | Element::CoreToCore | Element::Disk => ElementUnit::Ns,
            Element::Share => ElementUnit::Share,
        }
    }

    /// Whether it belongs to the design of the core alone: neither clock nor load nor the rest of the machine
    /// move it.
    pub fn is_of_design(self) -> bool {
        matches!(self, Element::Multiply | Element::L1 | Element::L2)
    }

    /// 1 where more is slower, else -1.
    pub(crate) fn slower(self) -> f64 {
        match self.counted() {
            ElementUnit::Cycles | ElementUnit::Ns => 1.0,
            ElementUnit::Ghz | ElementUnit::Share => -1.0,
        }
    }

    /// The row that it comes from; the clock and the share come from the run itself.
    fn row_id(self) -> Option<&'static str> {
        match self {
            Element::Clock | Element::Share => None,
            Element::Multiply => Some("cpu.mul_i64"),
            Element::L1 => Some("memory.latency/L1"),
            Element::L2 => Some("memory.latency/L2"),
            Element::L3 => Some("memory.latency/L3"),
            Element::Dram => Some("memory.latency/DRAM"),
            Element::CoreToCore => Some("memory.core_to_core"),
            Element::Syscall => Some("call.syscall"),
            Element::Disk => Some("file.write_durable/16B"),
        }
    }

    /// Its value in a run.
    fn value_in(self, run: &Run) -> Fact<f64> {
        let found = match (self, self.row_id()) {
            (Element::Clock, _) => clock(run),
            (_, None) => lost_share(run),
            (_, Some(row)) => self.of_row(run, row),
        };
        match found {
            Ok(value) if value.is_finite() && value > 0.0 => Fact::known(value),
            Ok(value) => Fact::unknown(format!("measured as {value}")),
            Err(why) => Fact::unknown(why),
        }
    }

    fn of_row(self, run: &Run, id: &str) -> Result<f64, String> {
        let Some(row) = run.row(id) else {
            return Err(match id.split_once('/') {
                Some((curve, level)) if run.row(curve).is_some() => {
                    format!("no level {level} found in {curve}")
                }
                _ => format!("the run has no row {id}"),
            });
        };
        if let Outcome::Unavailable { reason } = &row.outcome {
            return Err(format!("not available: {reason}"));
        }
        let values: Vec<Result<f64, String>> =
            row.figures().into_iter().map(|figure| self.of_estimate(figure.estimate)).collect();
        let usable = values.iter().filter_map(|value| value.as_ref().ok());
        match (median(usable.copied()), values.into_iter().next()) {
            (Some(value), _) => Ok(value),
            (None, Some(Err(why))) => Err(why),
            (None, _) => Err(format!("{id} has no figures")),
        }
    }

    fn of_estimate(self, estimate: &Estimate) -> Result<f64, String> {
        if !estimate.verdict.is_usable() {
            let (verdict, why) = (estimate.verdict.text(), &estimate.reason);
            return Err(format!("{verdict}: {why}"));
        }
        let value = match self.counted() {
            ElementUnit::Cycles => estimate.quiet.and_then(|quiet| quiet.cycles),
            _ => estimate.ns(),
        };
        match value {
            Some(value) => Ok(value.value),
            None => Err("the core was never quiet".into()),
        }
    }
}

fn clock(run: &Run) -> Result<f64, String> {
    let clock = run.core_clock.as_ref();
    let clock = clock.ok_or("the run has no core clock")?;
    Ok(1.0 / clock.cycle_ns.value)
}

fn lost_share(run: &Run) -> Result<f64, String> {
    let lost = noise::lost_share(run).ok_or("OS noise was not measured")?;
    Ok(1.0 - lost)
}

/// What a run says of its machine.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Vector {
    /// The host: as its campaign calls it, else its host name, else the run's id.
    pub host: String,
    /// What the machine says it is.
    pub identity: Identity,
    /// The elements, each with its value or the reason why there is none.
    pub elements: Vec<(Element, Fact<f64>)>,
    /// What disturbed the run.
    pub noise: Vec<Noise>,
    /// Share of the run for which the CPU quota stopped it.
    pub throttled_share: Option<f64>,
}

impl Vector {
    /// That of a run.
    pub fn from_run(run: &Run) -> Vector {
        let named = run.job.as_ref().map(|job| job.host.clone());
        let host = named.or_else(|| run.machine.hostname.get().cloned());
        Vector {
            host: host.unwrap_or_else(|| run.id.clone()),
            identity: Identity::from_machine(&run.machine),
            elements: Element::ALL.map(|element| (element, element.value_in(run))).into(),
            noise: noise::disturbances(run),
            throttled_share: noise::throttled_share(run),
        }
    }

    /// The value of an element.
    pub fn value(&self, element: Element) -> Option<f64> {
        let found = self.elements.iter().find(|(own, _)| *own == element);
        found.and_then(|(_, value)| value.get().copied())
    }

    /// Whether too little was measured to say anything of the machine.
    pub fn is_too_little(&self) -> bool {
        let measured = self.elements.iter().filter(|(_, value)| value.get().is_some());
        let is_partial = |noise: &Noise| matches!(noise, Noise::Partial(_));
        measured.count() < verdict::LEAST_ELEMENTS || self.noise.iter().any(is_partial)
    }

    /// Whether nothing disturbed it, a quota included.
    pub fn is_quiet(&self) -> bool {
        self.noise.is_empty() && self.throttled_share.is_none()
    }
}
