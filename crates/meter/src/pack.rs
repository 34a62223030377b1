//! Probes of packs: shared libraries with operations of other people ([`sys::pack`]).
//!
//! A pack is loaded by processes that may be lost: a child lists its probes ([`Listing`]), and workers of
//! the pack's own measure them. The program that prints and stores never loads it.

mod add;
mod work;

pub use add::{Refused, add_pack};
pub use work::{Trial, TrialError, trial};

use crate::work::Make;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::pack::{self, Pack, PackError, PackProbe, VERSION};

/// An operation that takes this long is measured as a distribution, ns.
pub const LONG_NS: u64 = 1_000_000;

/// A worker of a pack has this long for an answer, and as many times the time that its visits should take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// The longest operation that a pack may have, ns: what it says decides how long it is waited for.
const MOST_ABOUT_NS: u64 = 1_000_000_000;
/// See [`PATIENCE`].
pub(crate) const PATIENCE_FACTOR: f64 = 10.0;

/// Where the work of a probe comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Origin {
    /// The catalogue.
    #[default]
    BuiltIn,
    /// No pack is loaded that has it: a row that only packs measure.
    NoPack,
    /// A pack.
    Pack(PackRow),
}

/// What the plan knows of a probe of a pack.
#[derive(Clone, Debug, PartialEq)]
pub struct PackRow {
    /// Where it is.
    pub site: PackSite,
    /// Name of the pack.
    pub pack: String,
    /// Bytes that it keeps on disk, in each worker.
    pub disk_bytes: u64,
    /// Why it is not available, if that is known.
    pub unavailable: Option<String>,
}

/// Where a probe of a pack is found.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct PackSite {
    /// The library.
    pub file: PathBuf,
    /// Id of the probe.
    pub id: String,
}

impl PackSite {
    /// The probe, where this process may be lost.
    fn loaded_probe(&self) -> Result<&'static PackProbe, String> {
        let pack = pack::load(&self.file).map_err(|why| why.to_string())?;
        let mut probes = pack.probes.iter();
        let probe = probes.find(|probe| probe.id == self.id && pack.version == VERSION);
        probe.ok_or_else(|| "the file has changed since it was listed".to_owned())
    }

    /// Makes its work, in a worker.
    pub fn make(&self) -> Make {
        let site = self.clone();
        Box::new(move |worker, _| work::pack_work(&site, worker))
    }
}

/// The probes of a pack, as a child lists them.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Listing {
    /// Name of the pack.
    pub name: String,
    /// Compiler and flags, or empty.
    pub built_with: String,
    /// Its probes.
    pub probes: Vec<Listed>,
}

/// A probe in a listing.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// Id of its row.
    pub id: String,
    /// A few words.
    pub title: String,
    /// What one operation is.
    pub operation: String,
    /// How it is performed.
    pub method: String,
    /// Whether its time follows the core clock.
    pub core_clock: bool,
    /// Whether it is measured as a distribution.
    pub long: bool,
    /// Whether it stamps its operations.
    pub stamps: bool,
    /// Bytes that an operation moves, if the row is a bandwidth.
    pub bytes_per_op: u64,
    /// About what an operation takes, ns.
    pub about_ns: u64,
    /// Bytes that it keeps on disk.
    pub disk_bytes: u64,
    /// Why it can't be measured, if that is known.
    pub unavailable: Option<String>,
    /// Whether that is a fault of the pack, and not of the machine.
    pub is_fault: bool,
}

/// Lists a pack, where this process may be lost.
pub fn listing(file: &Path) -> Result<Listing, PackError> {
    let pack = pack::load(file)?;
    let named = |name: &str| match name.trim() {
        "" => "unnamed".to_owned(),
        name => model::printable::visible(name),
    };
    Ok(Listing {
        name: named(&pack.name),
        built_with: model::printable::visible(pack.built_with.trim()),
        probes: pack.probes.iter().map(|probe| listed(pack, probe)).collect(),
    })
}

fn listed(pack: &Pack, probe: &PackProbe) -> Listed {
    let text = |text: &str| model::printable::visible(text.trim());
    let fault = fault(pack, probe);
    Listed {
        id: probe.id.clone(),
        title: text(&probe.title),
        operation: text(&probe.operation),
        method: text(&probe.method),
        core_clock: probe.core_clock,
        long: probe.long || probe.about_ns >= LONG_NS,
        stamps: probe.stamps(),
        bytes_per_op: probe.bytes_per_op,
        about_ns: probe.about_ns,
        disk_bytes: probe.disk_bytes,
        is_fault: fault.is_some(),
        unavailable: fault.or_else(|| lacking(probe)),
    }
}

/// What no machine could measure.
fn fault(pack: &Pack, probe: &PackProbe) -> Option<String> {
    if pack.version != VERSION {
        return Some(format!(
            "the pack {} is built for version {} of latlas_probe.h; this latlas has version {VERSION}",
            model::printable::visible(&pack.name),
            pack.version
        ));
    }
    if probe.about_ns > MOST_ABOUT_NS {
        return Some(format!(
            "its pack declares {} for an operation, and {} is the most",
            model::figure::time(probe.about_ns as f64),
            model::figure::time(MOST_ABOUT_NS as f64)
        ));
    }
    (!probe.has_work()).then(|| "its pack has no run() and no stamped() for it".to_owned())
}

/// What this machine lacks.
fn lacking(probe: &PackProbe) -> Option<String> {
    let lacks = |feature: &&str| sys::cpu_feature::is_present(feature) != Some(true);
    let needs = Some(&*probe.needs).filter(|needs| !needs.is_empty());
    let feature = needs.filter(lacks)?;
    Some(format!("this CPU lacks {}", model::printable::visible(feature)))
}
