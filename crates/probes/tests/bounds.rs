//! Which rows count in cycles: those whose operation stays within L2, the
//! kernel's code included.

use model::run::Bound;

#[test]
fn kernel_calls_count_in_cycles_and_what_waits_for_others_in_ns() {
    let catalogue = probes::catalogue();
    let bound = |id: &str| {
        let probe = catalogue
            .iter()
            .find(|probe| probe.row_ids().iter().any(|row| row == id));
        probe.unwrap_or_else(|| panic!("no row {id}")).bound
    };
    for id in [
        "call.syscall",
        "call.vdso",
        "alloc.malloc_free/16B",
        "alloc.malloc_free/16MiB",
        "alloc.mmap_munmap/1MiB",
        "sync.signal/deliver",
        "file.stat",
        "file.open_close",
        "file.read_syscall",
        "file.read_whole/16B",
        "event_loop.zero_delay_tokio/yield_now",
    ] {
        assert_eq!(bound(id), Bound::Core, "{id}");
    }
    for id in [
        "memory.read_sequential_1MB",
        "collections.hash_lookup/out_of_cache",
        "sync.handoff/pipe",
        "disk.random_read_4K",
        "net.round_trip/udp",
    ] {
        assert_eq!(bound(id), Bound::Memory, "{id}");
    }
}

#[test]
fn the_row_that_confirms_older_documents_is_there() {
    let row = meter::assemble::MULTIPLY_ROW.to_owned();
    let probes = probes::catalogue();
    assert!(probes.iter().any(|probe| probe.row_ids().contains(&row)));
}
