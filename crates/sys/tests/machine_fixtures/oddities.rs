//! Lists with zero bytes, CPUs that are offline, and files that say little.

use super::{CPU, Fixture, live, why};

/// Kernels around 5.15 (hwloc: 128arm-2pa2n8cluster4co) and CentOS 7 (offline-cpu0-node0).
#[test]
fn lists_with_zero_bytes_are_read() {
    let f = Fixture::new();
    f.write(&format!("{CPU}/online"), "1-3\n\0")
        .write("sys/devices/system/node/online", "0\n\0")
        .write("sys/devices/system/node/node0/cpulist", "0-3\n\0")
        .write("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 9 kB\n")
        .write("sys/devices/cpu_core/cpus", "1-2\n\0")
        .write("sys/devices/cpu_atom/cpus", "\0\n");
    for (cpu, threads) in [(1, "1-2\n\0"), (2, "1-2\n\0"), (3, "0,3\n\0")] {
        let shared = if cpu == 3 { "(null)" } else { "1-2" };
        f.topology(cpu, "0\n", threads).cache(cpu, 0, &format!("1 Data 32K 64 8 {shared}"));
    }
    let m = f.machine(&live("x86_64", None));
    assert_eq!(m.online_cpus.value, Some(vec![1, 2, 3]));
    assert_eq!(m.cores.value, Some(2));
    assert_eq!(m.smt.get().map(|smt| smt.threads_per_core), Some(2));
    assert_eq!(m.numa_nodes.get().expect("known")[0].cpus, [1, 2, 3]);
    let kinds = m.core_kinds.get().expect("known");
    assert_eq!((kinds.len(), &*kinds[0].cpus), (1, &[1, 2][..]));
    let caches = m.caches.get().expect("known");
    assert_eq!(caches[1].shared_cpus, [3], "{caches:?}");
    f.topology(3, "0\n", "(null)\n");
    let m = f.machine(&live("x86_64", None));
    assert!(why(&m.cores).contains("cpu3/topology"));
}

#[test]
fn a_list_that_names_too_much_is_none() {
    let f = Fixture::new();
    f.write(&format!("{CPU}/online"), "0-4294967295\n");
    let m = f.machine(&live("x86_64", None));
    assert!(why(&m.online_cpus).contains("can't read"));
    f.write("proc/stat", "cpu  1 0 0 0\ncpu0 1 0 0 0\n");
    let m = f.machine(&live("x86_64", None));
    assert_eq!(m.online_cpus.value, Some(vec![0]));
}

/// What kernels of other architectures write, and pieces of it.
#[test]
fn other_architectures_have_facts_or_reasons() {
    let riscv = "processor\t: 0\nhart\t\t: 4294967296\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\n\n";
    let s390 = "vendor_id       : IBM/S390\n# processors    : 2\nprocessor 0: version = FF,  identification = 0133E8,  machine = 2964\n";
    let power = "processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\nclock\t\t: 2700.000000MHz\nrevision\t: 2.2 (pvr 004e 1202)\n";
    for (arch, cpuinfo) in [("riscv64", riscv), ("s390x", s390), ("powerpc64", power)] {
        for end in (0..=cpuinfo.len()).filter(|&end| cpuinfo.is_char_boundary(end)) {
            let f = Fixture::new();
            f.write(&format!("{CPU}/online"), "0,2047\n").write("proc/cpuinfo", &cpuinfo[..end]);
            for arch in [arch, "aarch64"] {
                let m = f.machine(&live(arch, None));
                assert!(m.cpu_signature.value.is_none(), "{arch}: {m:?}");
                assert!(m.sockets.unknown.is_some() && m.cores.unknown.is_some());
                assert_eq!(m.core_kinds.get().map(Vec::len), Some(1), "{arch}");
            }
        }
    }
}
