//! What the CPUID instruction says; nothing on other architectures.

/// What CPUID says about the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuidFacts {
    /// Vendor string of leaf 0, for example `AuthenticAMD`.
    pub vendor: String,
    /// Brand string of leaves 8000_0002h to 8000_0004h.
    pub brand: Option<String>,
    /// Display family.
    pub family: u32,
    /// Display model.
    pub model: u32,
    /// Stepping.
    pub stepping: u32,
    /// The hypervisor's name; `None` if the hypervisor bit is clear.
    pub hypervisor: Option<String>,
    /// Whether the TSC is invariant.
    pub tsc_invariant: bool,
}

impl CpuidFacts {
    /// The name of the hypervisor where QEMU emulates the whole machine.
    pub const QEMU_TCG: &str = "QEMU without hardware virtualisation (TCG)";
}

#[cfg(target_arch = "x86_64")]
mod read {
    use raw_cpuid::{CpuId, Hypervisor};

    use super::CpuidFacts;

    pub(crate) fn cpuid_facts() -> Option<CpuidFacts> {
        let cpuid = CpuId::new();
        let features = cpuid.get_feature_info()?;
        Some(CpuidFacts {
            vendor: cpuid.get_vendor_info()?.as_str().to_owned(),
            brand: cpuid
                .get_processor_brand_string()
                .map(|brand| brand.as_str().trim().to_owned())
                .filter(|brand| !brand.is_empty()),
            family: u32::from(features.family_id()),
            model: u32::from(features.model_id()),
            stepping: u32::from(features.stepping_id()),
            // Leaf 1 ECX bit 31 is reserved for hypervisors on both vendors.
            hypervisor: features.has_hypervisor().then(|| hypervisor(&cpuid)),
            tsc_invariant: tsc_invariant(&cpuid),
        })
    }

    /// The signature in leaf 4000_0000h, by the name people use.
    fn hypervisor(cpuid: &CpuId<raw_cpuid::CpuIdReaderNative>) -> String {
        match cpuid.get_hypervisor_info().map(|info| info.identify()) {
            Some(Hypervisor::KVM) => "KVM".to_owned(),
            Some(Hypervisor::Xen) => "Xen".to_owned(),
            Some(Hypervisor::VMware) => "VMware".to_owned(),
            Some(Hypervisor::HyperV) => "Hyper-V".to_owned(),
            Some(Hypervisor::Bhyve) => "bhyve".to_owned(),
            Some(Hypervisor::QNX) => "QNX".to_owned(),
            Some(Hypervisor::ACRN) => "ACRN".to_owned(),
            Some(Hypervisor::QEMU) => CpuidFacts::QEMU_TCG.to_owned(),
            Some(Hypervisor::Unknown(b, c, d)) => {
                let bytes: Vec<u8> = [b, c, d].into_iter().flat_map(u32::to_le_bytes).collect();
                let text = String::from_utf8_lossy(&bytes);
                let text = text.trim_matches('\0').trim();
                if text.is_empty() { "an unnamed hypervisor".to_owned() } else { text.to_owned() }
            }
            None => "an unnamed hypervisor".to_owned(),
        }
    }

    fn tsc_invariant(cpuid: &CpuId<raw_cpuid::CpuIdReaderNative>) -> bool {
        cpuid.get_advanced_power_mgmt_info().is_some_and(|power| power.has_invariant_tsc())
    }

    pub(crate) fn usable_tsc() -> bool {
        let cpuid = CpuId::new();
        tsc_invariant(&cpuid)
            && cpuid
                .get_extended_processor_and_feature_identifiers()
                .is_some_and(|features| features.has_rdtscp())
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod read {
    use super::CpuidFacts;

    pub(crate) fn cpuid_facts() -> Option<CpuidFacts> {
        None
    }
}

pub(crate) use read::*;
