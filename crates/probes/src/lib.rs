//! The catalogue: every row that latlas measures, one small file a probe.
//!
//! [`catalogue`] is the one list behind `run`, `list`, `explain`, the
//! completions and the tests. Adding a probe is one file and one line here.
#![forbid(unsafe_code)]

mod across;
mod alloc;
mod call;
mod codec;
mod collections;
mod cpu;
mod disk;
mod dispatch;
mod event_loop;
mod faults;
mod file;
mod handoff;
mod memory;
mod net;
mod objc;
mod own_directory;
mod paired;
mod points;
mod pool;
mod process;
mod repeated;
mod sched;
mod singles;
#[cfg(test)]
mod smoke;
mod sync;
mod tasks;
mod team;
mod thread;
mod whole_file;

use meter::probe::Probe;

/// The groups of rows, in the order in which they are shown: what stands
/// before the dot of an id.
pub const GROUPS: [&str; 18] = [
    "memory",
    "cpu",
    "call",
    "alloc",
    "collections",
    "sync",
    "thread",
    "sched",
    "process",
    "dispatch",
    "pool",
    "event_loop",
    "file",
    "disk",
    "codec",
    "net",
    "objc",
    "ui",
];

/// All probes, in the order in which they are shown.
pub fn catalogue() -> Vec<Probe> {
    let mut probes = Vec::new();
    probes.extend(memory::probes());
    probes.extend(cpu::probes());
    probes.extend(call::probes());
    probes.extend(alloc::probes());
    probes.extend(collections::probes());
    probes.extend(sync::probes());
    probes.extend(handoff::probes());
    probes.extend(thread::probes());
    probes.extend(sched::probes());
    probes.extend(process::probes());
    probes.extend(dispatch::probes());
    probes.extend(pool::probes());
    probes.extend(event_loop::probes());
    probes.extend(file::probes());
    probes.extend(disk::probes());
    probes.extend(codec::probes());
    probes.extend(net::probes());
    probes.extend(objc::probes());
    probes
}

#[cfg(test)]
mod tests {
    use super::*;
    use meter::probe::{Shape, Terrain};
    use model::run::Scale;
    use std::collections::BTreeSet;

    #[test]
    fn row_ids_are_unique_and_well_formed() {
        let ids: Vec<String> = catalogue().iter().flat_map(Probe::row_ids).collect();
        let unique: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "an id stands twice");
        for id in &ids {
            let (group, name) = id.split_once('.').expect("group.probe");
            assert!(GROUPS.contains(&group), "{id}");
            assert!(
                name.chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '/'),
                "{id}"
            );
        }
    }

    #[test]
    fn groups_come_in_their_order() {
        let place = |group: &str| GROUPS.iter().position(|known| *known == group);
        let places: Vec<Option<usize>> = catalogue()
            .iter()
            .map(|probe| place(probe.group()))
            .collect();
        assert!(places.is_sorted(), "a group is not where GROUPS has it");
        let unique: BTreeSet<&str> = GROUPS.into();
        assert_eq!(unique.len(), GROUPS.len());
    }

    #[test]
    fn no_point_stands_twice_on_a_curve() {
        let terrain = Terrain {
            l1_bytes: 32 << 10,
            l2_bytes: 512 << 10,
            last_level_bytes: 32 << 20,
            last_level_at_core_clock: true,
            largest_bytes: 256 << 20,
            cpus: vec![0, 1],
            pinned: None,
            page_bytes: 4096,
            huge_page_bytes: Some(2 << 20),
            peer: None,
            ..Terrain::default()
        };
        for probe in catalogue() {
            let Shape::Curve(_, points) = &probe.shape else {
                continue;
            };
            for scale in [Scale::Quick, Scale::Default, Scale::Full] {
                let points = points(&terrain, scale);
                assert!(!points.is_empty(), "{} {scale:?}", probe.id);
                assert!(
                    points.windows(2).all(|pair| pair[0] < pair[1]),
                    "{} {scale:?}: {points:?}",
                    probe.id
                );
            }
        }
    }

    #[test]
    fn every_text_is_a_sentence() {
        for probe in catalogue() {
            for text in [&probe.operation, &probe.method, &probe.source] {
                let begins = text
                    .chars()
                    .next()
                    .is_some_and(|c| c.is_uppercase() || c.is_ascii_digit());
                assert!(
                    begins && text.ends_with('.') && text.len() > 20,
                    "{}: \"{text}\" is no sentence",
                    probe.id
                );
            }
            assert!(
                !probe.title.is_empty() && !probe.title.ends_with('.'),
                "{}",
                probe.id
            );
        }
    }

    #[test]
    fn every_row_of_the_catalogue_page_is_here() {
        // The groups of the public catalogue that are measured so far.
        let ids: BTreeSet<String> = catalogue().iter().flat_map(Probe::row_ids).collect();
        let mut wanted: Vec<String> = [
            "memory.latency",
            "memory.latency_steady",
            "memory.latency_tlb/4KiB",
            "memory.latency_tlb/huge",
            "memory.latency_stride/64B",
            "memory.latency_stride/128B",
            "memory.latency_stride/512B",
            "memory.latency_stride/4KiB",
            "memory.latency_as_kurkin",
            "memory.latency_as_debug/L1",
            "memory.copy",
            "memory.fill",
            "memory.read_all_cores",
            "memory.write_all_cores",
            "memory.copy_all_cores",
            "memory.parallelism/L2",
            "memory.parallelism/L3",
            "memory.parallelism/DRAM",
            "memory.loaded_latency",
            "memory.mountain",
            "memory.read_sequential_1MB",
            "memory.naive_xor/50kB",
            "memory.naive_xor/500kB",
            "memory.naive_xor/5000kB",
            "memory.page_fault/anonymous",
            "memory.page_fault/file",
            "cpu.div_u64_as_ash",
            "cpu.div_f64_as_ash",
            "cpu.div_f64_from_int_as_ash",
            "cpu.memcpy/16B",
            "cpu.memcpy/1MiB",
            "cpu.branch_mispredict",
            "cpu.frequency",
            "cpu.timer/clock_gettime",
            "cpu.timer/counter",
            "cpu.timer/bracket",
            "process.fork_exit",
            "process.fork_exec",
            "process.shell",
            "process.spawn_wait",
            "memory.numa/latency",
            "memory.numa/bandwidth",
            "call.direct",
            "call.pointer",
            "call.virtual",
            "call.dyn_trait",
            "call.closure_boxed",
            "call.shared_library",
            "call.syscall",
            "call.vdso",
            "alloc.malloc_free/16B",
            "alloc.malloc_free/16MiB",
            "alloc.malloc_free/16MiB_touched",
            "alloc.mmap_munmap/64KiB",
            "alloc.mmap_munmap/1MiB",
            "alloc.mmap_munmap/16MiB",
            "alloc.refcount",
            "collections.push",
            "collections.hash_lookup/in_cache",
            "collections.hash_lookup/out_of_cache",
            "collections.find_text/1MB",
            "sync.mutex_uncontended",
            "sync.mutex_contended",
            "sync.rwlock_read",
            "sync.atomic_add",
            "sync.atomic_add_contended",
            "sync.once",
            "sync.signal/install",
            "sync.signal/catch",
            "file.read_open",
            "file.read_open/chunked",
            "file.read_open/as_lmbench",
            "file.read_with_open",
            "file.read_with_open/chunked",
            "file.read_with_open/as_lmbench",
            "file.open_close",
            "file.mmap_read",
            "file.mmap_read/with_open",
            "file.stat",
            "file.open",
            "file.read_syscall",
            "file.write_syscall",
            "file.create",
            "file.delete",
            "file.read_whole/16B",
            "file.read_whole/16MiB",
            "file.write_whole/16B",
            "file.write_whole/16B_no_truncate",
            "file.write_whole/16B_new_file",
            "file.write_whole/16MiB",
            "file.write_whole/16MiB_no_truncate",
            "file.write_whole/16MiB_new_file",
            "file.write_whole_atomic/16B",
            "file.write_whole_atomic/16MiB",
            "file.write_durable/16B",
            "disk.random_read_4K",
            "disk.read_sequential_1MB",
            "memory.core_to_core",
            "thread.create_join",
            "thread.lifecycle/overhead",
            "thread.lifecycle/create",
            "thread.lifecycle/start",
            "thread.lifecycle/procedure",
            "thread.lifecycle/end",
            "thread.lifecycle/join",
            "thread.lifecycle/parts",
            "sched.wakeup/idle",
            "sched.wakeup/loaded",
            "sched.wakeup/timer",
            "collections.push/worst",
            "sched.pool",
            "sched.pool/single",
            "sched.pool/ideal",
            "sched.ring",
            "dispatch.sync",
            "dispatch.async_wait",
            "dispatch.queue_create",
            "pool.sync",
            "pool.async_wait",
            "pool.create",
            "pool.serial_sync",
            "pool.serial_create",
            "event_loop.zero_delay",
            "event_loop.zero_delay_tokio",
            "codec.json_encode",
            "codec.json_decode",
            "codec.plist_xml_encode",
            "codec.plist_xml_decode",
            "codec.plist_binary_encode",
            "codec.plist_binary_decode",
            "codec.snappy_1K",
            "codec.zstd_1K",
            "codec.lz4_1K",
            "codec.sha256_1K",
        ]
        .map(String::from)
        .to_vec();
        for access in ["read", "write", "read_write"] {
            for variant in ["sequential", "every_4th"] {
                wanted.push(format!("memory.{access}/{variant}"));
            }
        }
        for op in [
            "add_i32",
            "mul_i32",
            "div_i32",
            "mod_i32",
            "bit_i32",
            "add_i64",
            "mul_i64",
            "div_i64",
            "mod_i64",
            "bit_i64",
            "popcnt_i64",
            "add_f32",
            "mul_f32",
            "div_f32",
            "add_f64",
            "mul_f64",
            "div_f64",
            "sqrt_f64",
        ] {
            wanted.push(format!("cpu.{op}"));
            wanted.push(format!("cpu.{op}/throughput"));
        }
        for k in 1..=10 {
            wanted.push(format!("collections.sort/{}", 1000 * k));
            if k < 10 {
                wanted.push(format!("collections.find_text/{}kB", 100 * k));
            }
        }
        for means in ["futex", "condvar", "pipe", "eventfd", "unix_socket"] {
            for placement in ["", "/same_cpu", "/other_cpu"] {
                wanted.push(format!("sync.handoff/{means}{placement}"));
            }
        }
        for row in [
            "message_send",
            "imp_cached_send",
            "invocation_send",
            "retain_release",
            "autorelease_pool",
            "object_create",
            "json_encode",
            "json_decode",
            "plist_xml_encode",
            "plist_xml_decode",
            "plist_binary_encode",
            "plist_binary_decode",
            "zero_delay",
            "task_spawn",
        ] {
            wanted.push(format!("objc.{row}"));
        }
        for call in ["data_read", "data_write", "data_write_atomic"] {
            for size in ["16B", "16MiB"] {
                wanted.push(format!("objc.{call}/{size}"));
            }
        }
        for row in [
            "ui.view_create",
            "ui.window_create",
            "sync.semaphore_switch/same_cpu",
            "sync.semaphore_switch/other_cpu",
            "sync.semaphore_switch/free",
            "sync.handoff/spin",
            "net.round_trip/tcp",
            "net.round_trip/udp",
            "net.round_trip/unix",
            "net.tcp_connect",
            "net.send_1K",
            "net.bandwidth",
            "net.round_trip_peer",
        ] {
            wanted.push(row.to_string());
        }
        for row in wanted {
            assert!(ids.contains(&row), "{row} is missing");
        }
    }
}
