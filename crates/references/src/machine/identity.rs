//! What a machine shows of itself.

use super::cpu_name::{is_virtual_model, names_no_model};
use crate::record::{Provider, X86Vendor};
use model::machine::{CpuSignature, Machine};
use serde::Serialize;
use sys::microarchitecture::microarchitecture;

/// Why a machine may not be what it shows.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case", tag = "doubt")]
pub enum IdentityDoubt {
    /// The CPU's name leaves out the model.
    GenericName {
        /// The name.
        name: String,
    },
    /// A CPU model that a hypervisor was asked to show: the host's own may be another.
    VirtualModel {
        /// Its name.
        name: String,
    },
    /// The CPU has features that the one of its signature lacks.
    Contradicted,
    /// The signature is of no CPU that latlas knows.
    UnknownSignature,
    /// An emulator runs the instructions.
    Emulated,
}

/// What records are looked up by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineIdentity {
    /// Vendor and signature of an x86 CPU.
    pub x86: Option<(X86Vendor, CpuSignature)>,
    /// Designs of its cores, that of the first CPU first: `Zen 4`; `Cortex-A76`, `Cortex-A55`.
    pub designs: Vec<String>,
    /// What the CPU calls itself.
    pub cpu_name: Option<String>,
    /// Maker and name of the computer, of DMI.
    pub product: Option<String>,
    /// What the maker calls the device, of the device tree.
    pub device: Option<String>,
    /// Packages.
    pub sockets: Option<u32>,
    /// CPUs online.
    pub cpus: Option<u32>,
    /// Why it may not be what it shows.
    pub doubts: Vec<IdentityDoubt>,
}

impl MachineIdentity {
    /// What this machine shows.
    pub fn shown_by(machine: &Machine) -> MachineIdentity {
        let vendor = machine.cpu_vendor.get().and_then(|name| X86Vendor::with_cpuid_name(name));
        let signature = machine.cpu_signature.get().copied();
        let of_x86 = |signature: &CpuSignature| matches!(signature, CpuSignature::X86 { .. });
        let x86 = vendor.zip(signature.filter(of_x86));
        let cpu_name = machine.cpu_model.get().cloned();
        let mut designs: Vec<String> =
            machine.microarchitecture.get().cloned().into_iter().collect();
        let kinds = machine.core_kinds.get().into_iter().flatten().map(|kind| kind.name.clone());
        for name in kinds.filter(|name| x86.is_none() && names_a_core(name)) {
            if !designs.contains(&name) {
                designs.push(name);
            }
        }
        let mut doubts: Vec<IdentityDoubt> = Vec::new();
        if machine.emulated.get().is_some_and(|emulated| emulated.present_name().is_some()) {
            doubts.push(IdentityDoubt::Emulated);
        }
        doubts.extend(cpu_name.clone().and_then(doubt_of_name));
        if let Some((vendor, signature)) = x86.filter(|_| designs.is_empty()) {
            doubts.push(match microarchitecture(vendor.cpuid_name(), &signature) {
                Some(_) => IdentityDoubt::Contradicted,
                None => IdentityDoubt::UnknownSignature,
            });
        }
        MachineIdentity {
            x86,
            designs,
            cpu_name,
            product: machine.product.get().cloned(),
            device: machine.device.get().cloned(),
            sockets: machine.sockets.get().copied(),
            cpus: machine.online_cpus.get().and_then(|cpus| u32::try_from(cpus.len()).ok()),
            doubts,
        }
    }

    /// The signature, unless it may be another CPU's.
    pub(crate) fn own_signature(&self) -> Option<(X86Vendor, CpuSignature)> {
        let hides = |doubt: &IdentityDoubt| match doubt {
            IdentityDoubt::VirtualModel { .. }
            | IdentityDoubt::Contradicted
            | IdentityDoubt::Emulated => true,
            IdentityDoubt::GenericName { .. } | IdentityDoubt::UnknownSignature => false,
        };
        self.x86.filter(|_| !self.doubts.iter().any(hides))
    }

    /// Whose host it is, as far as DMI says.
    pub(crate) fn provider(&self) -> Option<Provider> {
        let product = self.product.as_deref()?;
        const MAKERS: [(&str, Provider); 7] = [
            ("Amazon EC2", Provider::Aws),
            ("Google", Provider::Gcp),
            ("Microsoft Corporation Virtual Machine", Provider::Azure),
            ("Alibaba Cloud", Provider::Alicloud),
            ("Hetzner", Provider::Hcloud),
            ("UpCloud", Provider::Upcloud),
            ("Vultr", Provider::Vultr),
        ];
        MAKERS
            .into_iter()
            .find(|(maker, _)| product.starts_with(maker))
            .map(|(_, provider)| provider)
    }
}

fn doubt_of_name(name: String) -> Option<IdentityDoubt> {
    match (is_virtual_model(&name), names_no_model(&name)) {
        (true, _) => Some(IdentityDoubt::VirtualModel { name }),
        (false, true) => Some(IdentityDoubt::GenericName { name }),
        (false, false) => None,
    }
}

/// Whether the name of a kind of core is that of a design, and not `P-core` or `capacity 446`.
fn names_a_core(kind: &str) -> bool {
    ["Cortex-", "Neoverse", "Kryo", "Oryon", "Firestorm", "Icestorm"]
        .iter()
        .any(|name| kind.starts_with(name))
}
