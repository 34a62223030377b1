//! What this machine does, asserted for correctness: no test here asserts a
//! time.
#![allow(clippy::disallowed_methods)]
#![cfg(any(target_os = "linux", target_os = "android"))]

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sys::{Buffer, FileMapping, PageKind, ThreadWatch};

/// Runs `body` in a thread of its own, whose affinity may be changed.
fn in_thread<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(body).join().expect("no panic"))
}

#[test]
fn pinning_is_what_was_asked() {
    in_thread(|| {
        let all = sys::allowed_cpus().expect("affinity");
        for &cpu in &all {
            sys::pin_to(&[cpu]).expect("pinned");
            assert_eq!(sys::allowed_cpus().expect("affinity"), [cpu]);
            assert_eq!(sys::current_cpu(), Some(cpu));
        }
        sys::pin_to(&all).expect("pinned back");
        assert_eq!(sys::allowed_cpus().expect("affinity"), all);
    });
}

#[test]
fn impossible_pinning_is_an_error() {
    in_thread(|| {
        let before = sys::allowed_cpus().expect("affinity");
        for impossible in [&[][..], &[8191], &[8192], &[u32::MAX]] {
            let error = sys::pin_to(impossible).expect_err("no such CPU");
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
        }
        // A CPU that does not exist with one that does: the kernel takes
        // the one and drops the other without a word.
        let error = sys::pin_to(&[before[0], 8191]).expect_err("only half granted");
        assert!(error.to_string().contains("granted"), "{error}");
        assert_eq!(sys::allowed_cpus().expect("affinity"), [before[0]]);
    });
}

#[test]
fn base_buffers_have_base_pages() {
    // Longer than two huge pages, so that one would fit at any alignment.
    let buffer = Buffer::new((6 << 20) + 1, PageKind::Base).expect("a buffer");
    let backing = buffer.backing().expect("smaps");
    assert_eq!(backing.huge_bytes, 0);
    assert_eq!(
        backing.resident_bytes,
        (6 << 20) + backing.page_bytes,
        "all pages are in memory, and no other process's are counted"
    );
    assert_eq!(buffer.len(), (6 << 20) + 1);
    assert_eq!(buffer.as_ptr().addr() % (2 << 20), 0);
    assert!(buffer.as_slice().iter().all(|&byte| byte == 0));
}

#[test]
fn huge_buffers_have_huge_pages_where_there_are_any() {
    let buffer = Buffer::new(3 << 20, PageKind::Huge).expect("a buffer");
    let backing = buffer.backing().expect("smaps");
    let Some(huge) = backing.huge_page_bytes else {
        assert_eq!(backing.huge_bytes, 0);
        println!("SKIPPED: no huge pages: this kernel has none");
        return;
    };
    if backing.huge_bytes == 0 {
        let policy = sys::machine_facts(Path::new("/")).pages.transparent_huge_policy;
        println!("SKIPPED: no huge pages: policy {policy}, or no free ones");
        return;
    }
    assert_eq!(backing.huge_bytes % huge, 0);
    assert!(backing.huge_bytes <= backing.resident_bytes);
    assert_eq!(backing.resident_bytes, (3_u64 << 20).next_multiple_of(huge));
}

#[test]
fn neighbouring_buffers_are_counted_apart() {
    let touched: Vec<Buffer> =
        (0..8).map(|_| Buffer::new(1 << 20, PageKind::Base).expect("a buffer")).collect();
    let empty = Buffer::untouched(1 << 20, PageKind::Base).expect("a buffer");
    for buffer in &touched {
        assert_eq!(buffer.backing().expect("smaps").resident_bytes, 1 << 20);
    }
    assert_eq!(empty.backing().expect("smaps").resident_bytes, 0);
}

#[test]
fn untouched_and_released_pages_fault() {
    in_thread(|| {
        let page = sys::base_page_bytes();
        let mut watch = ThreadWatch::for_this_thread();
        let mut buffer = Buffer::untouched(64 * page, PageKind::Base).expect("a buffer");
        let mut faults_of_touching = |buffer: &mut Buffer| {
            let before = watch.read().minor_faults.expect("getrusage");
            buffer.touch();
            watch.read().minor_faults.expect("getrusage") - before
        };
        assert!(faults_of_touching(&mut buffer) >= 64, "each page once");
        assert!(faults_of_touching(&mut buffer) < 64, "they are there now");
        buffer.as_mut_slice().fill(7);
        buffer.release().expect("released");
        assert_eq!(buffer.backing().expect("smaps").resident_bytes, 0);
        assert!(faults_of_touching(&mut buffer) >= 64, "each page again");
        assert!(buffer.as_slice().iter().all(|&byte| byte == 0));
    });
}

#[test]
fn a_fork_does_not_copy_buffers() {
    let copied = || sys::pages::copied_by_fork_bytes().expect("smaps");
    let before = copied();
    let kept = Buffer::new(64 << 20, PageKind::Base).expect("a buffer");
    let with_buffer = copied();
    let plain = std::hint::black_box(vec![1_u8; 64 << 20]);
    let with_both = copied();
    // Other tests of this process allocate at the same time, but not so much.
    assert!(with_buffer < before + (32 << 20), "{before} {with_buffer}: the buffer is left out");
    assert!(with_both > with_buffer + (32 << 20), "{with_buffer} {with_both}: other memory is not");
    assert_eq!(kept.as_slice()[0] + plain[0], 1);
}

/// What can be asked of a machine with one node; two are not here to test on.
#[test]
fn memory_is_bound_to_the_node_that_was_asked_for() {
    let nodes = sys::machine_facts(Path::new("/")).numa_nodes;
    let Some(node) =
        nodes.value.as_ref().and_then(|nodes| nodes.iter().find(|n| n.memory_bytes > 0))
    else {
        // A kernel without NUMA has no call that binds either.
        println!("SKIPPED: no NUMA node to bind to: {nodes:?}");
        return;
    };
    let bytes = 3 << 20;
    let buffer = match sys::numa::buffer_on(node.id, bytes, PageKind::Base) {
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
            println!("SKIPPED: memory can't be bound here: {e}");
            return;
        }
        other => other.expect("the node is there"),
    };
    let pages = sys::numa::pages_by_node(&buffer).expect("move_pages");
    let all = (bytes / sys::base_page_bytes()) as u64;
    assert_eq!(pages.into_iter().collect::<Vec<_>>(), [(node.id, all)]);
    assert!(sys::numa::free_bytes(node.id).is_some_and(|free| free > 0));

    // Every page is asked for: one that is missing is an error.
    let mut partly = Buffer::untouched(bytes, PageKind::Base).expect("a buffer");
    let last = bytes - sys::base_page_bytes();
    partly.as_mut_slice()[..last].fill(1);
    let error = sys::numa::pages_by_node(&partly).expect_err("a page is missing");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    partly.as_mut_slice()[last] = 1;
    sys::numa::pages_by_node(&partly).expect("all are there");
    for impossible in [1023, 1024, u32::MAX] {
        let error = sys::numa::buffer_on(impossible, bytes, PageKind::Base).expect_err("no node");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
        assert_eq!(sys::numa::free_bytes(impossible), None);
    }
}

#[test]
fn buffers_of_nothing_or_everything_are_errors() {
    let kind = |bytes| Buffer::untouched(bytes, PageKind::Base).expect_err("impossible").kind();
    assert_eq!(kind(0), std::io::ErrorKind::InvalidInput);
    assert_eq!(kind(usize::MAX), std::io::ErrorKind::OutOfMemory);
    assert_eq!(kind(usize::MAX / 2), std::io::ErrorKind::OutOfMemory);
}

#[test]
fn a_file_mapping_leaves_nothing_and_faults_again() {
    in_thread(|| {
        let dir = tempfile::tempdir().expect("a directory");
        let page = sys::base_page_bytes();
        let bytes = 256 * page + 1;
        let mut mapping = FileMapping::create(dir.path(), bytes).expect("a mapping");
        assert_eq!(
            std::fs::read_dir(dir.path()).expect("readable").count(),
            0,
            "the file has no name while it is in use"
        );
        assert_eq!(mapping.len(), bytes);
        assert!(mapping.as_slice().iter().all(|&byte| byte == 0xa5));
        assert_eq!(mapping.cached_bytes().expect("mincore"), 257 * page);

        let mut watch = ThreadWatch::for_this_thread();
        let mut faults_of_writing = |mapping: &mut FileMapping| {
            let before = watch.read().minor_faults.expect("getrusage");
            for byte in mapping.as_mut_slice().iter_mut().step_by(page) {
                *byte = 1;
            }
            watch.read().minor_faults.expect("getrusage") - before
        };
        faults_of_writing(&mut mapping);
        assert!(faults_of_writing(&mut mapping) < 257);
        mapping.remap().expect("mapped again");
        let faults = faults_of_writing(&mut mapping);
        assert!(faults >= 257, "{faults} for 257 pages: in groups");
        assert_eq!(mapping.as_slice()[page], 1, "the content stays");

        mapping.unmap().expect("unmapped");
        assert!(mapping.as_slice().is_empty() && mapping.as_ptr().is_null());
        assert!(FileMapping::create(dir.path(), 0).is_err());
        assert!(FileMapping::create(&dir.path().join("no such"), 1).is_err());
    });
}

/// Two threads want one CPU: the one that watches waits for it.
#[test]
fn a_watch_sees_run_delay() {
    let stop = AtomicBool::new(false);
    let cpu = sys::allowed_cpus().expect("affinity")[0];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            sys::pin_to(&[cpu]).expect("pinned");
            let begin = Instant::now();
            while !stop.load(Ordering::Relaxed) && begin.elapsed() < Duration::from_secs(200) {
                std::hint::spin_loop();
            }
        });
        scope
            .spawn(|| {
                sys::pin_to(&[cpu]).expect("pinned");
                let mut watch = ThreadWatch::for_this_thread();
                let before = watch.read();
                let begin = Instant::now();
                // Until it shows, or until it is clear that it does not.
                loop {
                    let cheap = watch.read_cheap();
                    let waited = cheap.run_delay_ns.zip(before.run_delay_ns);
                    let seen = waited.is_none_or(|(now, then)| now > then + 1_000_000);
                    if seen || begin.elapsed() > Duration::from_secs(180) {
                        break;
                    }
                }
                stop.store(true, Ordering::Relaxed);
                // What the kernel says of this thread (and of no other)
                // before and after the last reading.
                let kernel = || {
                    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
                    text.split(' ').nth(1)?.parse::<u64>().ok()
                };
                let least = kernel();
                let after = watch.read();
                assert!((least..=kernel()).contains(&after.run_delay_ns), "{after:?}");
                assert_eq!(after.cpu, Some(cpu));
                assert!(after.cpu_ns > before.cpu_ns);
                let (Some(then), Some(now)) = (before.run_delay_ns, after.run_delay_ns) else {
                    assert!(!Path::new("/proc/thread-self/schedstat").exists());
                    println!("SKIPPED: no run delay: this kernel has no schedstat");
                    return;
                };
                assert!(now > then + 1_000_000, "{before:?} {after:?}");
                assert!(after.involuntary_switches > before.involuntary_switches);
            })
            .join()
            .expect("no panic");
    });
}

#[test]
fn a_watch_sees_its_own_thread_only() {
    // The main test thread has done other things; a new one has not.
    in_thread(|| {
        let mut watch = ThreadWatch::for_this_thread();
        let before = watch.read();
        std::thread::sleep(Duration::from_millis(1));
        in_thread(|| {
            for _ in 0..50 {
                std::thread::sleep(Duration::from_micros(50));
            }
        });
        let after = watch.read();
        let slept = after.voluntary_switches.expect("getrusage")
            - before.voluntary_switches.expect("getrusage");
        assert!((1..50).contains(&slept), "the other thread's 50 are not ours: {slept}");
    });
}

#[test]
fn a_cheap_reading_reads_only_what_it_says() {
    let reading = ThreadWatch::for_this_thread().read_cheap();
    assert_eq!(reading.cpu_ns, None);
    assert_eq!(reading.throttled_us, None);
    assert!(reading.cpu.is_some());
}

#[test]
fn memory_bounds_hang_together() {
    let limits = sys::available_memory();
    assert!(limits.physical_bytes > 0);
    assert!(limits.available_bytes <= limits.physical_bytes);
    assert!(limits.usable_bytes() <= limits.available_bytes);
    assert!(limits.usable_bytes() > 0, "{limits:?}");
    let peak = sys::peak_resident_bytes().expect("/proc");
    assert!(peak > 0 && peak < limits.physical_bytes);
}

#[test]
fn the_peak_follows_what_is_touched() {
    let bytes = 64 << 20;
    let buffer = Buffer::new(bytes, PageKind::Base).expect("a buffer");
    let peak = sys::peak_resident_bytes().expect("/proc");
    assert!(peak >= buffer.len() as u64, "{peak}");
}

#[test]
fn surroundings_are_read() {
    assert!(sys::load_average().is_some_and(|load| load.iter().all(|l| *l >= 0.0)));
    assert!(sys::steal_ns().is_some());
    let pressure = sys::pressure_cpu_some_avg10();
    assert_eq!(pressure.is_some(), Path::new("/proc/pressure/cpu").exists());
    assert!(pressure.is_none_or(|p| (0.0..=100.0).contains(&p)));
}

const FACTS: usize = 39;

/// Each fact has a value or a reason, never both or neither.
#[test]
fn this_machine_leaves_no_fact_open() {
    let machine = sys::machine_facts(Path::new("/"));
    let value = serde_json::to_value(&machine).expect("serialises");
    fn check_fact(path: &str, value: &serde_json::Value) -> usize {
        let Some(object) = value.as_object() else {
            return 0;
        };
        if object.contains_key("value") || object.contains_key("unknown") || object.is_empty() {
            let known = object.contains_key("value");
            assert_ne!(known, object.contains_key("unknown"), "{path}: {value}");
            if let Some(why) = object.get("unknown") {
                assert!(why.as_str().is_some_and(|w| w.len() > 10), "{path}: {why}");
            }
            return 1;
        }
        let below = |(key, value): (&String, _)| check_fact(&format!("{path}.{key}"), value);
        object.iter().map(below).sum()
    }
    assert_eq!(check_fact("machine", &value), FACTS, "every fact was looked at");
    assert_eq!(machine.arch, std::env::consts::ARCH);
    assert_eq!(machine.allowed_cpus.value, Some(sys::allowed_cpus().expect("affinity")));
    assert_eq!(machine.pages.base_bytes.value, Some(sys::base_page_bytes() as u64));
}
