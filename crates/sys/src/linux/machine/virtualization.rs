//! What is below and around this process: an emulator, a hypervisor, a container.

use model::machine::{Fact, Presence};

use crate::files::{Files, Tree};
use crate::machine::{CpuidFacts, Live};

/// Whether our instructions are translated.
///
/// An emulator in user mode (qemu-user, also through binfmt_misc; box64;
/// Rosetta) runs as a native process that has our program as data. It hides
/// that in `/proc/self`, which it answers itself, but the kernel's own
/// `/proc/thread-self/exe` still leads to the emulator, whose ELF header
/// names another architecture than the one we were compiled for.
pub(super) fn emulated(tree: &Tree, live: &Live) -> Fact<Presence> {
    const EXE: &str = "/proc/thread-self/exe";
    if live.cpuid.as_ref().and_then(|c| c.hypervisor.as_deref()) == Some(CpuidFacts::QEMU_TCG) {
        return Fact::known(Presence::Present(CpuidFacts::QEMU_TCG.to_owned()))
            .from_source("CPUID");
    }
    let header = match tree.bytes_at_most(EXE, 20) {
        Ok(header) => header,
        Err(why) => return Fact::unknown(why.to_string()),
    };
    let (Some(running), Some(compiled)) = (elf_machine(&header), machine_number(&live.arch)) else {
        return Fact::unknown(format!(
            "{EXE} is not an ELF file of an architecture that latlas knows"
        ));
    };
    let presence = if running == compiled {
        Presence::Absent
    } else {
        let path = tree.link(EXE).unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        let host = match machine_name(running) {
            Some(name) => name.to_owned(),
            None => format!("ELF machine {running}"),
        };
        let emulator = if name.is_empty() { "an emulator" } else { name };
        Presence::Present(format!("{emulator}, a program for {host}"))
    };
    Fact::known(presence).from_source(EXE)
}

/// e_machine of an ELF header (elf(5)).
fn elf_machine(header: &[u8]) -> Option<u16> {
    let bytes = [*header.get(18)?, *header.get(19)?];
    match (header.get(..4)?, header.get(5)?) {
        (b"\x7fELF", 1) => Some(u16::from_le_bytes(bytes)),
        (b"\x7fELF", 2) => Some(u16::from_be_bytes(bytes)),
        _ => None,
    }
}

/// Numbers of e_machine by Rust's names of architectures.
const ELF_MACHINES: [(u16, &str); 7] = [
    (3, "x86"),
    (21, "powerpc64"),
    (22, "s390x"),
    (40, "arm"),
    (62, "x86_64"),
    (183, "aarch64"),
    (243, "riscv64"),
];

fn machine_name(number: u16) -> Option<&'static str> {
    ELF_MACHINES.iter().find_map(|&(n, name)| (n == number).then_some(name))
}

fn machine_number(arch: &str) -> Option<u16> {
    ELF_MACHINES.iter().find_map(|&(n, name)| (name == arch).then_some(n))
}

/// The hypervisor: CPUID where there is one, with the machine's own name
/// from the firmware as well; else the hints that systemd-detect-virt uses.
pub(super) fn hypervisor(tree: &Tree, live: &Live) -> Fact<Presence> {
    let firmware = super::firmware::product(tree).value;
    if let Some(cpuid) = &live.cpuid {
        let presence = match (&cpuid.hypervisor, firmware) {
            (None, _) => Presence::Absent,
            (Some(name), Some(firmware)) => Presence::Present(format!("{name} ({firmware})")),
            (Some(name), None) => Presence::Present(name.clone()),
        };
        return Fact::known(presence).from_source("CPUID leaf 1, ECX bit 31");
    }
    if let Some(kind) = tree.text("/sys/hypervisor/type") {
        return Fact::known(Presence::Present(kind)).from_source("/sys/hypervisor/type");
    }
    const TREE: &str = "/proc/device-tree/hypervisor/compatible";
    if let Some(compatible) = tree.text(TREE) {
        let name = match compatible.split('\0').next().unwrap_or_default() {
            "linux,kvm" => "KVM".to_owned(),
            name if name.contains("xen") => "Xen".to_owned(),
            name => name.to_owned(),
        };
        return Fact::known(Presence::Present(name)).from_source(TREE);
    }
    // QEMU's virtual ARM board has this device in its description.
    if tree.names("/proc/device-tree").iter().any(|name| name.starts_with("fw-cfg")) {
        return Fact::known(Presence::Present("QEMU".to_owned()))
            .from_source("/proc/device-tree/fw-cfg");
    }
    if let Some(firmware) = firmware {
        if let Some(name) = virtual_firmware(&firmware) {
            return Fact::known(Presence::Present(format!("{name} ({firmware})")))
                .from_source("/sys/class/dmi/id");
        }
        if firmware.contains(".metal") {
            return Fact::known(Presence::Absent).from_source("/sys/class/dmi/id");
        }
    }
    let flags = tree.text("/proc/cpuinfo").unwrap_or_default();
    let flags = super::cpu::field(&flags, "flags").unwrap_or_default();
    if flags.split(' ').any(|flag| flag == "hypervisor") {
        return Fact::known(Presence::Present("an unnamed hypervisor".to_owned()))
            .from_source("/proc/cpuinfo");
    }
    if !flags.is_empty() {
        return Fact::known(Presence::Absent).from_source("/proc/cpuinfo");
    }
    Fact::unknown(format!(
        "nothing in the firmware's tables or in /sys names a hypervisor, and {} has no instruction to ask",
        live.arch
    ))
}

/// Firmware that only virtual machines have.
fn virtual_firmware(name: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 9] = [
        ("QEMU", "QEMU"),
        ("KVM", "KVM"),
        ("VMware", "VMware"),
        ("VirtualBox", "VirtualBox"),
        ("Xen", "Xen"),
        ("Virtual Machine", "Hyper-V"),
        ("Google Compute Engine", "KVM"),
        ("Apple Virtualization", "Apple Virtualization"),
        ("Parallels", "Parallels"),
    ];
    if name.contains("Amazon EC2") && !name.contains(".metal") {
        return Some("Nitro or Xen");
    }
    NAMES.iter().find_map(|&(part, hypervisor)| name.contains(part).then_some(hypervisor))
}

/// The container around this process, from the traces that runtimes leave.
pub(super) fn container(tree: &Tree) -> Fact<Presence> {
    let found = |name: &str, source: &str| {
        Fact::known(Presence::Present(name.to_owned())).from_source(source)
    };
    // A container's image may be the root of a whole (virtual) machine, and
    // then still has its traces: the namespaces tell.
    let initial = in_initial_namespaces(tree);
    if initial == Some(true) {
        return Fact::known(Presence::Absent)
            .from_source("/proc/self/ns: the kernel's first namespaces");
    }
    const KUBERNETES: &str = "/var/run/secrets/kubernetes.io";
    if tree.exists(KUBERNETES) || tree.exists("/run/secrets/kubernetes.io") {
        return found("kubernetes", KUBERNETES);
    }
    for path in ["/proc/self/cgroup", "/proc/1/cgroup"] {
        let groups = tree.text(path).unwrap_or_default();
        let hints = [
            ("kubepods", "kubernetes"),
            ("libpod", "podman"),
            ("docker", "docker"),
            ("containerd", "containerd"),
            ("lxc", "lxc"),
        ];
        if let Some((_, name)) = hints.iter().find(|(hint, _)| groups.contains(hint)) {
            return found(name, path);
        }
    }
    if tree.exists("/run/.containerenv") {
        return found("podman", "/run/.containerenv");
    }
    if tree.exists("/.dockerenv") {
        return found("docker", "/.dockerenv");
    }
    if let Some(name) = tree.text("/run/systemd/container") {
        return found(&name, "/run/systemd/container");
    }
    // Set for the first process by lxc, systemd-nspawn and podman.
    let environment = tree.text("/proc/1/environ").unwrap_or_default();
    if let Some(name) =
        environment.split('\0').find_map(|variable| variable.strip_prefix("container="))
    {
        return found(name, "/proc/1/environ");
    }
    if initial == Some(false) {
        return found("an unnamed container", "/proc/self/ns: not the kernel's first namespaces");
    }
    Fact::unknown("no container runtime left a trace, and /proc/self/ns can't be read")
}

/// Whether the process lives in the namespaces the kernel booted with, whose
/// numbers are fixed (include/linux/proc_ns.h). Any container has at least
/// one of these for itself. `None` where they can't be read.
fn in_initial_namespaces(tree: &Tree) -> Option<bool> {
    const INITIAL: [(&str, &str); 3] =
        [("pid", "pid:[4026531836]"), ("uts", "uts:[4026531838]"), ("ipc", "ipc:[4026531839]")];
    let mut all = true;
    for (name, initial) in INITIAL {
        all &= tree.link(&format!("/proc/self/ns/{name}"))? == initial;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elf_headers() {
        let mut header = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xb7\0";
        assert_eq!(elf_machine(&header).and_then(machine_name), Some("aarch64"));
        header[5] = 2;
        assert_eq!(elf_machine(&header), Some(0xb700));
        assert_eq!(elf_machine(b"#!/bin/sh and some more"), None);
        assert_eq!(elf_machine(b"\x7fELF"), None);
    }

    #[test]
    fn metal_is_not_virtual() {
        assert_eq!(virtual_firmware("Amazon EC2 c7g.metal"), None);
        assert!(virtual_firmware("Amazon EC2 c7g.large").is_some());
        assert_eq!(virtual_firmware("LENOVO 20XW"), None);
    }
}
