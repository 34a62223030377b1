//! What this machine is: facts, each with its source or the reason why it is
//! unknown.

use std::path::Path;

use model::machine::{Fact, Machine};

pub use crate::cpuid::CpuidFacts;
use crate::platform;

/// The facts of the machine whose `/sys`, `/proc` and `/etc` lie below
/// `root`: `/` for the real one. What does not come from files (CPUID, the
/// CPUs this thread may use) is read live; for a file tree of another
/// machine use [`machine_from`].
pub fn machine_facts(root: &Path) -> Machine {
    machine_from(root, &Live::here())
}

/// [`machine_facts`] with everything that does not come from files given.
pub fn machine_from(root: &Path, live: &Live) -> Machine {
    platform::machine::read_machine(root, live)
}

/// Whether a core is as fast as the fastest of its design, by capacity or by frequency. Cores of
/// one design differ by up to 3 % (binning: NVIDIA Grace, GB10); the "prime" cores of phones are 8 %
/// faster than others and more.
pub fn is_as_fast(speed: u64, fastest: u64) -> bool {
    speed >= fastest - fastest / 20
}

/// This start of this host, in a word that no other has: its name and the
/// kernel's own mark of the start. `None` where the system tells no such mark.
pub fn this_boot() -> Option<String> {
    let boot = platform::machine::boot_id()?;
    let host = rustix::system::uname();
    Some(format!("{boot} {}", host.nodename().to_string_lossy()))
}

/// Facts that do not come from files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// Architecture this program was compiled for, as Rust names it.
    pub arch: String,
    /// What the CPUID instruction says; `None` on other architectures.
    pub cpuid: Option<CpuidFacts>,
    /// CPUs the calling thread may run on, or why that is not known.
    pub allowed_cpus: Fact<Vec<u32>>,
    /// Size of an ordinary page in bytes.
    pub base_page_bytes: u64,
}

impl Live {
    /// Those of this process.
    pub fn here() -> Live {
        Live {
            arch: std::env::consts::ARCH.to_owned(),
            cpuid: crate::cpuid::cpuid_facts(),
            allowed_cpus: match crate::affinity::allowed_cpus() {
                Ok(cpus) => Fact::known(cpus),
                Err(error) => Fact::unknown(error.to_string()),
            },
            base_page_bytes: crate::pages::base_page_bytes() as u64,
        }
    }
}
