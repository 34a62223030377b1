//! The facts of machines that are file trees: what is asserted here is what
//! the kernels of such machines write.
#![cfg(any(target_os = "linux", target_os = "android"))]

#[path = "machine_fixtures/arm.rs"]
mod arm;
#[path = "machine_fixtures/oddities.rs"]
mod oddities;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use model::machine::{Fact, Machine, NumaNode, Presence};
use sys::machine::{CpuidFacts, Live, machine_from};

/// A file tree that is written line by line and removed at the end.
struct Fixture {
    root: tempfile::TempDir,
}

const CPU: &str = "sys/devices/system/cpu";
const AARCH64: u8 = 183;
const X86_64: u8 = 62;

impl Fixture {
    fn new() -> Fixture {
        Fixture { root: tempfile::tempdir().expect("a directory") }
    }

    fn path(&self) -> &Path {
        self.root.path()
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Fixture {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        fs::write(path, content).expect("a file");
        self
    }

    fn link(&self, path: &str, target: &str) -> &Fixture {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        symlink(target, path).expect("a link");
        self
    }

    /// What the kernel runs: an ELF header of the given machine.
    fn kernel_runs(&self, name: &str, elf_machine: u8) -> &Fixture {
        let mut header = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\0\0 and more";
        header[18] = elf_machine;
        let program = self.path().join(name);
        fs::write(&program, header).expect("a file");
        self.link("proc/thread-self/exe", &program.to_string_lossy())
    }

    fn cpu(&self, cpu: u32, file: &str, content: &str) -> &Fixture {
        self.write(&format!("{CPU}/cpu{cpu}/{file}"), content)
    }

    fn cache(&self, cpu: u32, index: u32, text: &str) -> &Fixture {
        let names = [
            "level",
            "type",
            "size",
            "coherency_line_size",
            "ways_of_associativity",
            "shared_cpu_list",
        ];
        for (name, value) in names.iter().zip(text.split(' ')) {
            self.cpu(cpu, &format!("cache/index{index}/{name}"), value);
        }
        self
    }

    fn topology(&self, cpu: u32, package: &str, threads: &str) -> &Fixture {
        self.cpu(cpu, "topology/physical_package_id", package).cpu(
            cpu,
            "topology/core_cpus_list",
            threads,
        )
    }

    fn namespaces(&self, initial: bool) -> &Fixture {
        for (name, number) in [("pid", 36), ("uts", 38), ("ipc", 39)] {
            let number = 4_026_531_800_u64 + number + if initial { 0 } else { 400 };
            self.link(&format!("proc/self/ns/{name}"), &format!("{name}:[{number}]"));
        }
        self
    }

    fn machine(&self, live: &Live) -> Machine {
        machine_from(self.path(), live)
    }
}

fn live(arch: &str, cpuid: Option<CpuidFacts>) -> Live {
    Live {
        arch: arch.to_owned(),
        cpuid,
        allowed_cpus: Fact::known(vec![0, 1]),
        base_page_bytes: 4096,
    }
}

fn cpuid(vendor: &str, family: u32, model: u32, hypervisor: Option<&str>) -> Option<CpuidFacts> {
    Some(CpuidFacts {
        vendor: vendor.to_owned(),
        brand: Some("A Brand".to_owned()),
        family,
        model,
        stepping: 2,
        hypervisor: hypervisor.map(str::to_owned),
        tsc_invariant: true,
    })
}

/// One line for each fact that has a value or a reason of its own: `path: value
/// (source)` or `path: unknown, reason`.
fn fact_lines(machine: &Machine) -> String {
    fn walk(path: &str, value: &serde_json::Value, lines: &mut Vec<String>) {
        let Some(object) = value.as_object() else {
            return lines.push(format!("{path}: {value}"));
        };
        let text = |key: &str| object.get(key).and_then(serde_json::Value::as_str);
        match (object.get("value"), text("unknown")) {
            (Some(value), _) => {
                let source = text("source").map(|source| format!(" ({source})"));
                lines.push(format!("{path}: {value}{}", source.unwrap_or_default()));
            }
            (None, Some(why)) => lines.push(format!("{path}: unknown, {why}")),
            (None, None) => {
                object.iter().for_each(|(key, value)| walk(&format!("{path}.{key}"), value, lines))
            }
        }
    }
    let mut lines = Vec::new();
    let value = serde_json::to_value(machine).expect("serialises");
    walk("machine", &value, &mut lines);
    lines.join("\n")
}

fn why<T: std::fmt::Debug>(fact: &Fact<T>) -> &str {
    assert!(fact.value.is_none(), "{fact:?}");
    fact.unknown.as_deref().expect("a reason")
}

fn present(name: &str) -> Option<Presence> {
    Some(Presence::Present(name.to_owned()))
}

/// Two P-cores with two threads each and two E-cores that share an L2.
#[test]
fn bare_metal_intel_hybrid() {
    let f = Fixture::new();
    f.write(&format!("{CPU}/online"), "0-5\n")
        .write("sys/devices/cpu_core/cpus", "0-3\n")
        .write("sys/devices/cpu_atom/cpus", "4-5\n")
        .write(&format!("{CPU}/intel_pstate/no_turbo"), "0\n")
        .write("proc/sys/kernel/hostname", "desk\n")
        .write("proc/sys/kernel/osrelease", "6.8.0-31-generic\n")
        .write("etc/os-release", "NAME=Ubuntu\nPRETTY_NAME=\"Ubuntu 24.04 LTS\"\n")
        .write(
            "proc/meminfo",
            "MemTotal:       32000000 kB\nMemFree: 1 kB\nMemAvailable:   24000000 kB\n",
        )
        .write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
        .write("sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n")
        .write("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "8\n")
        .write("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "3\n")
        .write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n")
        .write(
            "sys/devices/system/clocksource/clocksource0/available_clocksource",
            "tsc hpet acpi_pm \n",
        )
        .write("sys/class/dmi/id/sys_vendor", "LENOVO\n")
        .write("proc/self/cgroup", "0::/user.slice\n")
        .write(
            "proc/self/mountinfo",
            "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
        )
        .write("sys/fs/cgroup/user.slice/memory.max", "max\n")
        .write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n")
        .kernel_runs("latlas", X86_64)
        .namespaces(true);
    for cpu in 0..6 {
        let (threads, khz, cores) = match cpu {
            0 | 1 => ("0-1", "5000000", "0-1"),
            2 | 3 => ("2-3", "5100000", "2-3"),
            _ => ("", "3800000", "4-5"),
        };
        let own = cpu.to_string();
        f.topology(cpu, "0", if threads.is_empty() { &own } else { threads })
            .cpu(cpu, "cpufreq/scaling_governor", "powersave\n")
            .cpu(cpu, "cpufreq/scaling_driver", "intel_pstate\n")
            .cpu(cpu, "cpufreq/cpuinfo_min_freq", "800000\n")
            .cpu(cpu, "cpufreq/cpuinfo_max_freq", khz)
            .cpu(cpu, "cpufreq/scaling_cur_freq", "1200000\n")
            .cache(cpu, 2, &format!("2 Unified 2048K 64 16 {cores}"))
            .cache(cpu, 3, "3 Unified 30M 64 12 0-5");
    }
    let m = f.machine(&live("x86_64", cpuid("GenuineIntel", 6, 0x97, None)));
    insta::assert_snapshot!(fact_lines(&m));
}

#[test]
fn amd_with_amd_pstate() {
    let f = Fixture::new();
    f.write(&format!("{CPU}/online"), "0-1\n");
    for cpu in 0..2 {
        f.topology(cpu, &cpu.to_string(), &format!("{cpu},{}", cpu + 2))
            .cpu(cpu, "cpufreq/scaling_driver", "amd-pstate-epp\n")
            .cpu(cpu, "cpufreq/cpuinfo_max_freq", "4400000\n")
            .cpu(cpu, "cpufreq/boost", "0\n");
    }
    f.cpu(0, "cpufreq/scaling_governor", "performance\n").cpu(
        1,
        "cpufreq/scaling_governor",
        "powersave\n",
    );
    let m = f.machine(&live("x86_64", cpuid("AuthenticAMD", 0x1a, 0x44, None)));
    insta::assert_snapshot!(fact_lines(&m));
}

/// Two sockets, a node each, and memory behind a link that is a node of its
/// own without CPUs. CPU 3 is offline, which cpulist of some kernels ignores.
#[test]
fn numa_nodes() {
    const NODES: &str = "sys/devices/system/node";
    let f = Fixture::new();
    f.write(&format!("{CPU}/online"), "0-2\n").write(&format!("{NODES}/online"), "0-1,4\n");
    for (node, cpus, kib) in [(0, "0-1", 100), (1, "2-3", 0), (4, "", 300)] {
        f.write(&format!("{NODES}/node{node}/cpulist"), format!("{cpus}\n")).write(
            &format!("{NODES}/node{node}/meminfo"),
            format!("Node {node} MemTotal:   {kib} kB\nNode {node} MemFree:  7 kB\n"),
        );
    }
    let node =
        |id, cpus: &[u32], kib: u64| NumaNode { id, cpus: cpus.to_vec(), memory_bytes: kib << 10 };
    let m = f.machine(&live("x86_64", None));
    assert_eq!(
        m.numa_nodes.value,
        Some(vec![node(0, &[0, 1], 100), node(1, &[2], 0), node(4, &[], 300)])
    );
    f.write(&format!("{NODES}/node1/meminfo"), "nothing that is known\n");
    let m = f.machine(&live("x86_64", None));
    assert!(why(&m.numa_nodes).contains("latlas can't read"));
    let m = Fixture::new().machine(&live("x86_64", None));
    assert!(why(&m.numa_nodes).contains("knows no NUMA nodes"));
}

fn arm_cpuinfo(parts: &[&str]) -> String {
    parts
        .iter()
        .enumerate()
        .map(|(cpu, part)| {
            format!(
                "processor\t: {cpu}\nBogoMIPS\t: 48.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: {part}\nCPU revision\t: 1\n\n"
            )
        })
        .collect()
}

#[test]
fn arm_big_little() {
    let f = Fixture::new();
    f.write(&format!("{CPU}/online"), "0-3\n")
        .write("proc/cpuinfo", arm_cpuinfo(&["0xd05", "0xd05", "0xd41", "0xd41"]))
        .write("proc/device-tree/model", b"Board of Examples\0")
        .kernel_runs("latlas", AARCH64);
    for (cpu, capacity) in [(0, "400"), (1, "400"), (2, "900"), (3, "1024")] {
        f.topology(cpu, "-1", &cpu.to_string()).cpu(cpu, "cpu_capacity", capacity).cache(
            cpu,
            0,
            "1 Data 0K 64 0 0",
        );
    }
    let m = f.machine(&live("aarch64", None));
    insta::assert_snapshot!(fact_lines(&m));
}

/// The ID registers where /proc/cpuinfo says nothing, and a cloud's firmware.
#[test]
fn arm_virtual_machine_by_its_registers() {
    let f = Fixture::new();
    f.write(&format!("{CPU}/online"), "0\n")
        .cpu(0, "regs/identification/midr_el1", "0x00000000413fd0c1\n")
        .write("sys/class/dmi/id/sys_vendor", "Amazon EC2\n")
        .write("sys/class/dmi/id/product_name", "m6g.large\n");
    let m = f.machine(&live("aarch64", None));
    insta::assert_snapshot!(fact_lines(&m));
}

#[test]
fn virtual_machine_with_nothing() {
    let f = Fixture::new();
    f.write(&format!("{CPU}/online"), "0-1\n").write(
        "proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu MHz\t\t: 2249.998\nflags\t\t: fpu hypervisor\n",
    );
    let m = f.machine(&live("x86_64", cpuid("AuthenticAMD", 25, 1, Some("KVM"))));
    insta::assert_snapshot!(fact_lines(&m));
}

/// No CPUID to ask (fixtures of other programs): /proc/cpuinfo tells.
#[test]
fn x86_without_cpuid() {
    let f = Fixture::new();
    f.write(
        "proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R)\nstepping\t: 7\nflags\t\t: fpu sse2\n",
    );
    let m = f.machine(&live("x86_64", None));
    insta::assert_snapshot!(fact_lines(&m));
}

/// Seen on a guest with two cores: the signature of a desktop core, and AMX.
#[test]
fn a_signature_that_the_features_contradict_names_no_design() {
    let of = |model: u32, flags: &str| {
        let f = Fixture::new();
        let cpuinfo = format!(
            "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: {model}\n\
             model name\t: Intel(R) Xeon(R)\nstepping\t: 1\nflags\t\t: {flags}\n"
        );
        f.write("proc/cpuinfo", &cpuinfo);
        f.machine(&live("x86_64", None)).microarchitecture
    };
    let lies = of(167, "fpu amx_bf16 amx_tile");
    assert_eq!(lies.value, None);
    assert!(why(&lies).contains("Rocket Lake (Cypress Cove), but this CPU has AMX"));
    for (model, flags, name) in [
        (167, "fpu avx512f", "Rocket Lake (Cypress Cove)"),
        (143, "fpu amx_tile", "Sapphire Rapids (Golden Cove)"),
        (173, "fpu amx_tile", "Granite Rapids (Redwood Cove)"),
    ] {
        assert_eq!(of(model, flags).value.as_deref(), Some(name));
    }
}

/// Docker on version 2 with its own cgroup namespace: 512 MiB, half a CPU.
#[test]
fn container_with_version_2_limits() {
    let f = Fixture::new();
    f.write("proc/self/cgroup", "0::/\n")
        .write(
            "proc/self/mountinfo",
            "709 700 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n",
        )
        .write("sys/fs/cgroup/memory.max", "536870912\n")
        .write("sys/fs/cgroup/memory.current", "104857600\n")
        .write("sys/fs/cgroup/memory.stat", "anon 4096\ninactive_file 52428800\n")
        .write("sys/fs/cgroup/cpu.max", "50000 100000\n")
        .write(".dockerenv", "")
        .namespaces(false);
    let m = f.machine(&live("x86_64", cpuid("AuthenticAMD", 25, 1, None)));
    insta::assert_snapshot!(fact_lines(&m));
}

/// The tightest limit may be an ancestor's, and `memory.high` counts.
#[test]
fn nested_version_2_limits() {
    let f = Fixture::new();
    f.write("proc/self/cgroup", "0::/system.slice/job.service\n")
        .write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        .write("sys/fs/cgroup/system.slice/memory.max", "1073741824\n")
        .write("sys/fs/cgroup/system.slice/memory.high", "805306368\n")
        .write("sys/fs/cgroup/system.slice/cpu.max", "150000 100000\n")
        .write("sys/fs/cgroup/system.slice/job.service/memory.max", "max\n")
        .write("sys/fs/cgroup/system.slice/job.service/memory.high", "max\n")
        .write("sys/fs/cgroup/system.slice/job.service/cpu.max", "200000 100000\n");
    let m = f.machine(&live("x86_64", None));
    insta::assert_snapshot!(fact_lines(&m));
}

/// Version 1 in a container without a cgroup namespace: the path is the
/// host's, the mount shows only the container's own group.
#[test]
fn version_1_limits() {
    let f = Fixture::new();
    f.write("proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/\n")
        .write(
            "proc/self/mountinfo",
            "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
             36 31 0:33 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
        )
        .write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        .write("sys/fs/cgroup/memory/memory.stat", "cache 0\nhierarchical_memory_limit 268435456\n")
        .write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n")
        .write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    let m = f.machine(&live("x86_64", None));
    insta::assert_snapshot!(fact_lines(&m));
}

#[test]
fn version_1_without_limits() {
    let f = Fixture::new();
    f.write("proc/self/cgroup", "5:memory:/a/b\n4:cpu:/\n")
        .write(
            "proc/self/mountinfo",
            "35 31 0:32 / /cg/memory ro - cgroup cgroup rw,memory\n36 31 0:33 / /cg/cpu ro - cgroup cgroup rw,cpu\n",
        )
        .write("cg/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n")
        .write("cg/memory/a/b/memory.stat", "hierarchical_memory_limit 9223372036854771712\n")
        .write("cg/cpu/cpu.cfs_quota_us", "-1\n")
        .write("cg/cpu/cpu.cfs_period_us", "100000\n");
    let m = f.machine(&live("x86_64", None));
    insta::assert_snapshot!(fact_lines(&m));
}

/// qemu-user shows the host's /proc/cpuinfo; the kernel runs qemu, not us.
#[test]
fn arm_program_under_qemu_user() {
    let f = Fixture::new();
    f.write(
        "proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC\nstepping\t: 1\n",
    )
    .kernel_runs("qemu-aarch64-static", X86_64);
    let m = f.machine(&live("aarch64", None));
    insta::assert_snapshot!(fact_lines(&m));
}

/// A whole machine whose root file system was made from a container image.
#[test]
fn an_image_as_root_is_not_a_container() {
    let f = Fixture::new();
    f.write(".dockerenv", "").namespaces(true);
    let m = f.machine(&live("x86_64", None));
    assert_eq!(m.container.value, Some(Presence::Absent));
}

#[test]
fn an_emulated_machine_says_so() {
    let name = CpuidFacts::QEMU_TCG;
    let f = Fixture::new();
    f.kernel_runs("latlas", X86_64);
    let m = f.machine(&live("x86_64", cpuid("AuthenticAMD", 15, 107, Some(name))));
    assert_eq!(m.emulated.value, present(name));
}
