use super::*;
use object::read::elf::ElfFile64;

/// This test's own executable with one byte of a section changed, beside it as it is.
fn is_same_with_changed(section: &str) -> bool {
    let own = std::env::current_exe().expect("this program");
    let mut bytes = fs::read(&own).expect("readable");
    let file = ElfFile64::<object::Endianness>::parse(&*bytes).expect("an executable");
    let at = file.section_by_name(section).and_then(|section| section.file_range());
    let (start, length) = at.expect("it has such a section");
    let middle = (start + length / 2) as usize;
    bytes[middle] ^= 0x55;
    let folder = tempfile::tempdir().expect("a folder");
    let changed = folder.path().join("changed");
    fs::write(&changed, bytes).expect("written");
    is_same_program(&own, &changed).expect("readable")
}

#[test]
#[cfg(target_os = "linux")]
fn what_runs_is_compared_and_what_only_debuggers_read_is_not() {
    let own = std::env::current_exe().expect("this program");
    assert!(is_same_program(&own, &own).expect("readable"));
    for section in [".text", ".rodata", ".data.rel.ro"] {
        assert!(!is_same_with_changed(section), "{section}");
    }
    for section in [".eh_frame", ".debug_line"] {
        assert!(is_same_with_changed(section), "{section}");
    }
}

#[test]
fn scripts_are_the_same_only_byte_for_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    fs::write(&a, "#!/bin/sh").expect("written");
    fs::write(&b, "#!/bin/bash").expect("written");
    assert!(!is_same_program(&a, &b).expect("readable"));
    assert!(is_same_program(&a, &folder.path().join("none")).is_err());
}
