//! The file tree of a machine in which any bytes stand in some files: facts, or reasons why they are not known.
#![no_main]

use noise::machines;
use sys::files::Tree;
use sys::machine::{Live, machine_from};

/// Files whose parsers have the most to do.
const FILES: [&str; 14] = [
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/interrupts",
    "/proc/self/mountinfo",
    "/proc/self/cgroup",
    "/proc/self/status",
    "/proc/self/stat",
    "/proc/cmdline",
    "/proc/version",
    "/etc/os-release",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/isolated",
    "/sys/fs/cgroup/cpu.max",
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else {
        return;
    };
    let all = machines::all_machines();
    let machine = &all[usize::from(first) % all.len()];
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory");
    machine.write_below(dir.path()).expect("written");
    let own: Vec<&String> = machine.files.keys().collect();
    for part in bytes.split(|&byte| byte == 0).take(8) {
        let Some((&which, content)) = part.split_first() else {
            continue;
        };
        let which = usize::from(which);
        let path = match which < FILES.len() {
            true => FILES[which],
            false => own[which % own.len()],
        };
        let at = dir.path().join(&path[1..]);
        if at.parent().is_some_and(|parent| std::fs::create_dir_all(parent).is_ok()) {
            let _ = std::fs::write(at, content);
        }
    }
    let live = Live {
        arch: "x86_64".into(),
        cpuid: None,
        allowed_cpus: model::machine::Fact::unknown("fuzzed"),
        base_page_bytes: 4096,
    };
    let facts = machine_from(dir.path(), &live);
    serde_json::to_vec(&facts).expect("JSON");
    let shown = noise::control::inspect_controls(&Tree::new(dir.path()), &facts, None, &mut || ());
    serde_json::to_vec(&shown).expect("JSON");
});
