//! Journals that a disk damaged, and tasks that died: nothing that was set is
//! ever forgotten.

use super::kernel::{Groups, Kernel};
use super::{set, state, two_cpus};
use noise::tune::{BackOutcome, StateDir, Step, Tuned, pending, restore};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

const RATE: &str = "/proc/sys/kernel/perf_event_max_sample_rate";
const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
const THIS_BOOT: &str = "6e0f3c5d-9a51-4f0e-8f63-0c2f0b7d9a11";

/// A journal that was left, and the values as they were before.
fn tuned(steps: &[Step]) -> (tempfile::TempDir, StateDir, Kernel, Vec<u8>) {
    let kernel = two_cpus(Groups::One);
    super::free_inner(&kernel, "0");
    kernel.force(BOOT, THIS_BOOT);
    let (directory, state) = state();
    let begun = Tuned::begin(&kernel, &state, steps).expect("begun");
    begun.leave().expect("left");
    let journal = std::fs::read(state.path().join("journal")).expect("a journal");
    (directory, state, kernel, journal)
}

fn write(state: &StateDir, journal: &[u8]) {
    let path = state.path().join("journal");
    std::fs::write(&path, journal).expect("written");
    std::fs::set_permissions(path, Permissions::from_mode(0o600)).expect("set");
}

/// After a flip of this bit everything is put back, or refused in one line
/// that says what to do, with the journal kept.
fn put_back_or_refused(journal: &[u8], bit: usize, state: &StateDir, kernel: &Kernel) -> bool {
    let mut flipped = journal.to_vec();
    flipped[bit / 8] ^= 1 << (bit % 8);
    write(state, &flipped);
    match restore(kernel, state) {
        Ok(restored) => {
            assert!(restored.found, "bit {bit}: {restored:?}");
            assert_eq!(restored.of_another_boot, None, "bit {bit}");
            assert!(restored.complete(), "bit {bit}: {restored:?}");
            true
        }
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains("journal") && !said.contains('\n'), "{said}");
            assert!(
                said.contains("by hand") || said.contains("LATLAS_STATE_DIR"),
                "{said}"
            );
            assert!(pending(state.path()).is_some(), "bit {bit}: {said}");
            false
        }
    }
}

#[test]
fn no_flipped_bit_of_a_journal_loses_a_value() {
    let steps = [set(RATE, "1"), set(THP, "never")];
    let (_directory, state, kernel, journal) = tuned(&steps);
    let before = two_cpus(Groups::One);
    let mut restored = 0;
    for bit in 0..journal.len() * 8 {
        kernel.force(RATE, "1");
        kernel.force(THP, "always madvise [never]");
        if put_back_or_refused(&journal, bit, &state, &kernel) {
            restored += 1;
            for path in [RATE, THP] {
                assert_eq!(kernel.value(path), before.value(path), "bit {bit}");
            }
        }
    }
    // The end of the last line alone can do without one of its bits.
    assert_eq!(restored, 8);
}

#[test]
fn a_last_step_whose_line_end_is_damaged_may_have_been_taken() {
    // Killed between the intent and what was read back.
    let (_directory, state, kernel, journal) = tuned(&[set(RATE, "1")]);
    let lines: Vec<&[u8]> = journal.split_inclusive(|&b| b == b'\n').collect();
    let intent = lines[..2].concat();
    for tail in [&b""[..], b"\x0b", b"\n"] {
        kernel.force(RATE, "1");
        let without_end = &intent[..intent.len() - 1];
        write(&state, &[without_end, tail].concat());
        let restored = restore(&kernel, &state).expect("restored");
        assert!(
            restored.complete() && !restored.torn,
            "{tail:?}: {restored:?}"
        );
        assert_ne!(kernel.value(RATE), "1", "{tail:?}");
    }
}

#[test]
fn a_journal_of_the_form_before_is_restored_and_says_that_it_has_no_checksum() {
    let (_directory, state, kernel, journal) = tuned(&[set(RATE, "1")]);
    let text = String::from_utf8(journal).expect("text");
    let without: String = text
        .lines()
        .map(|line| line.rsplit_once(" #").expect("a sum").0.to_owned() + "\n")
        .collect();
    let without = without.replace("\"version\":3", "\"version\":2");
    let bytes = without.as_bytes();
    // A boot's id with one letter of another is no other boot's.
    let id = without.find(THIS_BOOT).expect("an id");
    for bit in id * 8..(id + THIS_BOOT.len()) * 8 {
        assert!(
            !put_back_or_refused(bytes, bit, &state, &kernel),
            "bit {bit}"
        );
    }
    write(&state, bytes);
    let restored = restore(&kernel, &state).expect("restored");
    assert!(restored.as_before() && restored.unchecked, "{restored:?}");
    assert_ne!(kernel.value(RATE), "1");
    // Really of another boot: said with the same care.
    write(&state, bytes);
    kernel.force(BOOT, "0b7d9a11-9a51-4f0e-8f63-0c2f6e0f3c5d");
    let restored = restore(&kernel, &state).expect("set aside");
    assert!(restored.of_another_boot.is_some() && restored.unchecked);
}

#[test]
fn a_task_that_died_and_was_not_waited_for_keeps_no_shield() {
    for dead in ["Z", "X"] {
        let kernel = two_cpus(Groups::One);
        super::free_inner(&kernel, "0");
        let before = kernel.snapshot();
        let (_directory, state) = state();
        let tuned = Tuned::begin(&kernel, &state, &[Step::Shield { cpus: vec![1] }]);
        let tuned = tuned.expect("begun");
        assert_eq!(kernel.task(41).expect("a task").group, "/latlas-system");
        kernel.die(41, dead);
        let restored = tuned.restore();
        assert!(restored.complete(), "{dead}: {restored:?}");
        let gone = restored
            .values
            .iter()
            .filter(|v| v.outcome == BackOutcome::Gone);
        assert!(gone.count() >= 1, "{dead}: {restored:?}");
        let after = kernel.snapshot();
        assert_eq!(after.0, before.0, "{dead}");
        for (id, task) in before.1.iter().filter(|(id, _)| **id != 41) {
            assert_eq!(after.1.get(id), Some(task), "{dead}: {id}");
        }
        // And the next tune begins, without it.
        let again = Tuned::begin(&kernel, &state, &[Step::Shield { cpus: vec![1] }]);
        assert!(again.expect("begun").restore().as_before(), "{dead}");
    }
}
