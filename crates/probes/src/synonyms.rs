//! Other words that people have for rows.

/// Words, and the rows that they mean: the nearest one first.
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (
        &["cache miss", "cache hit", "cache"],
        &["memory.latency/L1", "memory.latency/L2", "memory.latency/L3", "memory.latency/DRAM"],
    ),
    (
        &["ram", "main memory", "memory access"],
        &["memory.latency/DRAM", "memory.read/sequential", "memory.copy"],
    ),
    (&["bandwidth", "memory bandwidth"], &["memory.read_all_cores", "memory.copy_all_cores"]),
    (&["tlb", "tlb miss", "page walk"], &["memory.latency_tlb/4KiB", "memory.latency_tlb/huge"]),
    (&["prefetch", "prefetcher", "stride"], &["memory.latency_stride/64B", "memory.mountain"]),
    (
        &["false sharing", "cache line bouncing", "contention"],
        &["sync.atomic_add_contended", "sync.mutex_contended", "memory.core_to_core"],
    ),
    (
        &["allocation", "allocate", "allocator", "malloc", "new", "heap"],
        &["alloc.malloc_free/16B", "alloc.malloc_free/16MiB", "alloc.mmap_munmap/64KiB"],
    ),
    (&["reference count", "refcount", "arc", "shared_ptr"], &["alloc.refcount"]),
    (
        &["hash map", "hashmap", "hash table", "dictionary", "map"],
        &["collections.hash_lookup/in_cache", "collections.hash_lookup/out_of_cache"],
    ),
    (&["vector", "list append"], &["collections.push"]),
    (
        &["ssd", "disk read", "nvme", "storage", "hard disk", "seek"],
        &["disk.random_read_4K", "disk.read_sequential_1MB"],
    ),
    (&["disk write", "fsync"], &["file.write_durable/16B", "file.write_whole/16B"]),
    (
        &["network", "socket", "tcp", "loopback", "rtt"],
        &["net.round_trip/tcp", "net.round_trip/udp", "net.tcp_connect", "net.bandwidth"],
    ),
    (
        &["context switch", "task switch"],
        &["sched.ring", "sync.semaphore_switch/same_cpu", "sync.handoff/futex"],
    ),
    (
        &["wake-up", "wakeup", "wake-up latency", "scheduling latency"],
        &["sched.wakeup/idle", "sched.wakeup/loaded", "sync.semaphore_switch/free"],
    ),
    (
        &["branch", "branch prediction", "branch misprediction", "mispredict"],
        &["cpu.branch_mispredict"],
    ),
    (
        &["syscall", "system call", "kernel call"],
        &["call.syscall", "call.vdso", "file.read_syscall", "file.write_syscall"],
    ),
    (
        &["function call", "virtual", "virtual function", "vtable", "closure"],
        &["call.direct", "call.virtual", "call.dyn_trait", "call.closure_boxed"],
    ),
    (&["lock", "mutex"], &["sync.mutex_uncontended", "sync.mutex_contended", "sync.rwlock_read"]),
    (&["atomic", "compare and swap", "cas"], &["sync.atomic_add", "sync.atomic_add_contended"]),
    (&["thread", "thread creation"], &["thread.create_join", "thread.lifecycle/create"]),
    (&["fork", "exec", "process creation"], &["process.fork_exit", "process.fork_exec"]),
    (&["division", "divide"], &["cpu.div_i64", "cpu.div_i32", "cpu.div_f64"]),
    (&["page fault"], &["memory.page_fault/anonymous", "memory.page_fault/file"]),
    (&["clock", "timestamp", "time of day"], &["cpu.timer/clock_gettime", "cpu.timer/counter"]),
    (&["compression", "compress"], &["codec.zstd_1K", "codec.lz4_1K", "codec.snappy_1K"]),
    (&["json", "serialization"], &["codec.json_encode", "codec.json_decode"]),
    (&["core to core", "inter-core latency"], &["memory.core_to_core"]),
];

/// The rows that a word means; none where the catalogue's own names say it, or nothing does. A plural is its singular.
pub fn rows_called(word: &str) -> &'static [&'static str] {
    let word = word.trim().to_lowercase().replace('_', " ");
    let singular = [word.strip_suffix("es"), word.strip_suffix('s'), Some(word.as_str())];
    let is_same = |own: &&str| singular.contains(&Some(*own));
    let mut all = SYNONYMS.iter();
    all.find(|(words, _)| words.iter().any(&is_same)).map_or(&[], |(_, rows)| rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_one_of_the_catalogue_and_every_word_has_one_meaning() {
        let rows: Vec<String> = crate::catalogue()
            .iter()
            .flat_map(|probe| [probe.row_ids(), probe.point_ids()].concat())
            .collect();
        let mut words = BTreeSet::new();
        for (own, meant) in SYNONYMS {
            for row in *meant {
                let level = row.strip_prefix("memory.latency/");
                assert!(level.is_some() || rows.iter().any(|known| known == row), "{row}");
            }
            for word in *own {
                assert!(words.insert(word), "{word} stands twice");
            }
        }
    }

    #[test]
    fn words_are_found_in_any_case_and_number() {
        assert_eq!(rows_called("Branch"), ["cpu.branch_mispredict"]);
        assert_eq!(rows_called(" cache misses "), rows_called("cache miss"));
        assert_eq!(rows_called("false_sharing")[0], "sync.atomic_add_contended");
        assert_eq!(rows_called("xyzzy"), [""; 0]);
    }
}
