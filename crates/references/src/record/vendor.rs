//! Vendors of x86 CPUs and their signatures.

use model::machine::CpuSignature;
use serde::Deserialize;

/// Who made an x86 CPU. A signature alone is ambiguous: K8 and Pentium 4 share some.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum X86Vendor {
    /// AMD.
    #[serde(rename = "AuthenticAMD", alias = "amd")]
    Amd,
    /// Intel.
    #[serde(rename = "GenuineIntel", alias = "intel")]
    Intel,
    /// Hygon.
    #[serde(rename = "HygonGenuine")]
    Hygon,
    /// Centaur, later VIA.
    #[serde(rename = "CentaurHauls")]
    Centaur,
    /// Cyrix.
    #[serde(rename = "CyrixInstead")]
    Cyrix,
    /// Rise.
    #[serde(rename = "RiseRiseRise")]
    Rise,
    /// Transmeta.
    #[serde(rename = "GenuineTMx86")]
    Transmeta,
}

impl X86Vendor {
    const ALL: [X86Vendor; 7] = [
        X86Vendor::Amd,
        X86Vendor::Intel,
        X86Vendor::Hygon,
        X86Vendor::Centaur,
        X86Vendor::Cyrix,
        X86Vendor::Rise,
        X86Vendor::Transmeta,
    ];

    /// The one with this vendor string.
    pub fn with_cpuid_name(name: &str) -> Option<X86Vendor> {
        X86Vendor::ALL.into_iter().find(|vendor| vendor.cpuid_name() == name)
    }

    /// The vendor string of CPUID.
    pub fn cpuid_name(self) -> &'static str {
        match self {
            X86Vendor::Amd => "AuthenticAMD",
            X86Vendor::Intel => "GenuineIntel",
            X86Vendor::Hygon => "HygonGenuine",
            X86Vendor::Centaur => "CentaurHauls",
            X86Vendor::Cyrix => "CyrixInstead",
            X86Vendor::Rise => "RiseRiseRise",
            X86Vendor::Transmeta => "GenuineTMx86",
        }
    }
}

/// Family, model and stepping as a signature.
pub(crate) fn x86_signature([family, model, stepping]: [u32; 3]) -> CpuSignature {
    CpuSignature::X86 { family, model, stepping }
}

/// `amd 25.17.1` as vendor and signature.
pub(super) fn vendor_and_signature(text: &str) -> Option<(X86Vendor, CpuSignature)> {
    let (vendor, numbers) = text.split_once(' ')?;
    let vendor = match vendor {
        "amd" => X86Vendor::Amd,
        "intel" => X86Vendor::Intel,
        _ => return None,
    };
    let numbers: Vec<u32> = numbers.split('.').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    Some((vendor, x86_signature(numbers.try_into().ok()?)))
}
