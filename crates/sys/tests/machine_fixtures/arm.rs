//! Cores and sockets of ARM systems, as phones and servers describe them.

use super::{AARCH64, CPU, Fixture, arm_cpuinfo, live, why};
use model::machine::Machine;

/// CPUs with a part, a package and a capacity each.
fn chip(cpus: &[(&str, u32, u32)]) -> Fixture {
    let f = Fixture::new();
    let parts: Vec<&str> = cpus.iter().map(|&(part, ..)| part).collect();
    f.write(&format!("{CPU}/online"), format!("0-{}\n", cpus.len() - 1))
        .write("proc/cpuinfo", arm_cpuinfo(&parts))
        .kernel_runs("latlas", AARCH64);
    for (cpu, (_, package, capacity)) in (0..).zip(cpus) {
        f.topology(cpu, &package.to_string(), &cpu.to_string()).cpu(
            cpu,
            "cpu_capacity",
            &capacity.to_string(),
        );
    }
    f
}

fn read_arm(f: &Fixture) -> Machine {
    f.machine(&live("aarch64", None))
}

fn kinds(machine: &Machine) -> Vec<(&str, &[u32], Option<u32>)> {
    let kinds = machine.core_kinds.get().expect("known").iter();
    kinds.map(|kind| (kind.name.as_str(), kind.cpus.as_slice(), kind.capacity)).collect()
}

/// NVIDIA Grace and GB10; phones with a faster core of the same design.
#[test]
fn binning_makes_no_kinds_and_prime_cores_are_one() {
    let grace = [1007, 1024, 1011, 1011, 1017, 1024, 1007, 1015];
    let grace: Vec<_> = grace.map(|capacity| ("0xd4f", 0, capacity)).into();
    let m = read_arm(&chip(&grace));
    assert_eq!(kinds(&m), [("Neoverse V2", &[0, 1, 2, 3, 4, 5, 6, 7][..], Some(1024))]);
    let gb10 = [
        ("0xd87", 0, 718),
        ("0xd87", 0, 731),
        ("0xd85", 0, 997),
        ("0xd85", 0, 1017),
        ("0xd85", 0, 1024),
    ];
    let m = read_arm(&chip(&gb10));
    let cpus: Vec<&[u32]> = kinds(&m).iter().map(|kind| kind.1).collect();
    assert_eq!(cpus, [&[2, 3, 4][..], &[0, 1]]);
    // Snapdragon 765G: 2.4 and 2.2 GHz.
    for second in [939, 871] {
        let prime = [("0xd0b", 0, second), ("0xd0b", 0, 1024)];
        let m = read_arm(&chip(&prime));
        let cpus: Vec<&[u32]> = kinds(&m).iter().map(|kind| kind.1).collect();
        assert_eq!(cpus, [&[1][..], &[0]], "{second}");
    }
}

#[test]
fn clusters_are_no_sockets() {
    let pixel = [("0xd46", 0, 260), ("0xd47", 1, 850), ("0xd4e", 2, 1024)];
    assert_eq!(read_arm(&chip(&pixel)).sockets.value, Some(1));
    // Two clusters alike, or two sockets.
    let alike = [("0xd03", 0, 1024), ("0xd03", 1, 1024)];
    let f = chip(&alike);
    let unknown = read_arm(&f);
    assert!(why(&unknown.sockets).contains("clusters as packages"));
    let x86 = f.machine(&live("x86_64", None));
    assert_eq!(x86.sockets.value, Some(2));
    // What a server has, and a phone has not.
    let numbered = chip(&alike);
    for cpu in 0..2 {
        numbered.cpu(cpu, "topology/cluster_id", "36\n");
    }
    assert_eq!(read_arm(&numbered).sockets.value, Some(2));
    numbered.cpu(1, "topology/cluster_id", "-1\n");
    assert_eq!(read_arm(&numbered).sockets.value, None);
    let acpi = chip(&alike);
    acpi.write("sys/firmware/acpi/tables/PPTT", "");
    assert_eq!(read_arm(&acpi).sockets.value, Some(2));
    let nodes = chip(&alike);
    nodes.write("sys/devices/system/node/online", "0-1\n");
    for node in 0..2 {
        let directory = format!("sys/devices/system/node/node{node}");
        nodes
            .write(&format!("{directory}/cpulist"), node.to_string())
            .write(&format!("{directory}/meminfo"), "Node 0 MemTotal: 9 kB\n");
    }
    assert_eq!(read_arm(&nodes).sockets.value, Some(2));
}

const ID: &str = "Features\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd03\nCPU revision\t: 3\n\nHardware\t: Board of Examples\n";

/// Kernels 3.x of aarch64, and those of arm, which have blank lines between.
#[test]
fn one_identification_is_that_of_all_cpus_that_are_alike() {
    for between in ["", "BogoMIPS\t: 38.40\n\n"] {
        let f = Fixture::new();
        let mut cpuinfo = "Processor\t: AArch64 Processor rev 3 (aarch64)\n".to_owned();
        for cpu in 0..4 {
            cpuinfo += &format!("processor\t: {cpu}\n{between}");
            f.topology(cpu, "0", &cpu.to_string());
        }
        f.write(&format!("{CPU}/online"), "0-3\n").write("proc/cpuinfo", cpuinfo + ID);
        let m = read_arm(&f);
        assert_eq!(kinds(&m), [("Cortex-A53", &[0, 1, 2, 3][..], None)]);
        assert_eq!(m.microarchitecture.value.as_deref(), Some("Cortex-A53"));
        // Two clusters: it is of one of them, and which is not known.
        f.topology(2, "1", "2").topology(3, "1", "3");
        let m = read_arm(&f);
        assert_eq!(kinds(&m), [("only kind", &[0, 1, 2, 3][..], None)]);
        assert!(why(&m.cpu_signature).contains("several clusters"));
        for (cpu, khz) in [(0, "1536000"), (1, "1536000"), (2, "2100000"), (3, "2100000")] {
            f.cpu(cpu, "cpufreq/cpuinfo_max_freq", khz);
        }
        let m = read_arm(&f);
        assert_eq!(kinds(&m), [("2100 MHz", &[2, 3][..], None), ("1536 MHz", &[0, 1], None)]);
        // Unless the kernel exports the register of each.
        for (cpu, part) in [(0, "d03"), (1, "d03"), (2, "d07"), (3, "d07")] {
            let midr = format!("0x00000000410f{part}3\n");
            f.cpu(cpu, "regs/identification/midr_el1", &midr);
        }
        let m = read_arm(&f);
        assert_eq!(kinds(&m), [("Cortex-A57", &[2, 3][..], None), ("Cortex-A53", &[0, 1], None)]);
    }
}
