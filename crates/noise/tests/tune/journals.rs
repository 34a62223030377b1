//! Journals of another boot or tree, forged, half-written or damaged by a disk:
//! nothing that was set is ever forgotten, and nothing else is reached.

use super::kernel::Groups;
use super::{BOOT, Bench, RATE, THP, free_inner, set, set_mode, two_cpus};
use noise::tune::{BackOutcome, StateDir, TuneError, Tuned, pending, restore};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const THIS_BOOT: &str = "6e0f3c5d-9a51-4f0e-8f63-0c2f0b7d9a11";

/// With a rate that was set and left.
fn with_a_rate_left(boot: &str) -> (Bench, Vec<u8>) {
    let kernel = two_cpus(Groups::One);
    free_inner(&kernel, "0");
    kernel.force(BOOT, boot);
    let bench = Bench::new(kernel);
    bench.leave(&[set(RATE, "1")]);
    let journal = std::fs::read(bench.journal()).expect("a journal");
    (bench, journal)
}

#[test]
fn a_journal_of_another_tree_is_left() {
    let (bench, _) = with_a_rate_left("boot-1");
    let other = bench.state.clone().of_tree(bench.directory.path());
    // Its boot is another too: that alone must not put the journal aside.
    bench.force(BOOT, "boot-of-a-fixture");
    for error in [
        restore(&bench.kernel, &other).expect_err("refused"),
        Tuned::begin(&bench.kernel, &other, &[]).err().expect("refused"),
    ] {
        assert!(matches!(error, TuneError::Unusable(_)), "{error}");
        assert!(error.to_string().contains("LATLAS_STATE_DIR"), "{error}");
    }
    bench.force(BOOT, "boot-1");
    assert_eq!(bench.value(RATE), "1");
    assert!(bench.restore().as_before());
}

#[test]
fn what_an_earlier_boot_left_need_not_be_understood() {
    let bench = Bench::with_groups(Groups::None, &[]);
    for rest in ["\"version\":1,\"x\":1", "\"version\":77,\"root\":\"/\""] {
        bench.write_journal(format!("{{\"began\":{{{rest},\"boot_id\":\"boot-0\"}}}}\nnonsense\n"));
        let tuned = bench.begin(&[set(RATE, "1")]);
        assert!(tuned.set_aside().is_some());
        assert!(tuned.restore().as_before());
    }
}

#[test]
fn a_journal_of_another_boot_is_never_applied() {
    let bench = Bench::with_groups(Groups::None, &[]);
    for tunes in [false, true] {
        bench.force(BOOT, "boot-1");
        bench.force(RATE, "100000");
        bench.leave(&[set(RATE, "1")]);
        bench.force(BOOT, "boot-2");
        // By chance the same as what was left there before the boot.
        bench.force(RATE, "1");
        if tunes {
            let tuned = bench.begin(&[set(RATE, "2")]);
            assert!(tuned.set_aside().expect("put aside").exists());
            assert!(tuned.restore().complete());
        } else {
            let restored = bench.restore();
            assert!(restored.found && !restored.pending, "{restored:?}");
            let aside = restored.of_another_boot.expect("of another");
            assert!(PathBuf::from(aside).exists());
        }
        assert_eq!(bench.value(RATE), "1");
        assert_eq!(bench.pending(), None);
    }
}

#[test]
fn without_a_boot_id_nothing_begins() {
    let (bench, _) = with_a_rate_left("boot-1");
    // A tree with nothing in it, as a chroot without /proc and /sys.
    let blind = sys::files::Tree::new(Path::new("/nonexistent"));
    let begun = Tuned::begin(&blind, &bench.state, &[set(RATE, "2")]).err();
    assert!(matches!(begun, Some(TuneError::NoBootId { .. })));
    let restored = restore(&blind, &bench.state);
    assert!(matches!(restored, Err(TuneError::NoBootId { .. })));
    assert!(bench.journal().exists(), "it waits for a process that sees /proc");
}

#[test]
fn readers_are_shown_what_waits() {
    let bench = Bench::with_groups(Groups::None, &[]);
    let deep = StateDir::at(&bench.state.path().join("deep"));
    let tuned = Tuned::begin(&bench.kernel, &deep, &[set(RATE, "1")]).expect("begun");
    tuned.leave().expect("left");
    for path in [bench.state.path(), deep.path()] {
        let mode = std::fs::metadata(path).expect("a directory").permissions();
        assert_eq!(mode.mode() & 0o777, 0o755, "{}", path.display());
    }
    let waits = pending(&deep).expect("something");
    assert!(waits.contains("in force"), "{waits}");
    // What can't be looked at: a name longer than any there can be.
    let long = bench.directory.path().join("x".repeat(300));
    let of = |path: &Path| pending(&StateDir::at(path));
    assert!(of(&long).expect("unknown").contains("unknown whether"));
    assert_eq!(of(&bench.directory.path().join("nothing")), None);
}

#[test]
fn half_a_record_had_not_happened() {
    let (bench, mut journal) = with_a_rate_left("boot-1");
    journal.extend(b"{\"intent\":{\"entry\":1,\"action\":{\"chan");
    bench.write_journal(journal);
    let restored = bench.restore();
    assert!(restored.torn && restored.complete());
    bench.assert_as_before();
}

#[test]
fn a_garbled_journal_is_refused_with_its_line() {
    let (bench, journal) = with_a_rate_left("boot-1");
    let text = String::from_utf8(journal).expect("text");
    bench.write_journal(text.replacen("\"intent\"", "\"intnet\"", 1));
    let error = bench.try_restore().expect_err("refused").to_string();
    assert!(error.contains("line 2") && !error.contains('\n'), "{error}");
    assert!(error.contains("by hand, then remove it"), "{error}");
    assert_eq!(bench.value(RATE), "1", "nothing is half done");
    bench.write_journal("");
    let error = bench.try_restore().expect_err("refused").to_string();
    assert!(error.contains("empty"), "{error}");
}

#[test]
fn a_forged_journal_reaches_nothing_else() {
    let bench = Bench::with_groups(
        Groups::One,
        &[("/etc/passwd", "root"), ("/proc/sys/kernel/core_pattern", "core")],
    );
    let change = |place: &str, old: &str| {
        format!(
            r#"{{"change":{{"control":"x","items":[{{"place":{{{place}}},"old":"{old}","wanted":"y"}}]}}}}"#
        )
    };
    let file = |path: &str| change(&format!(r#""file":"{path}""#), "|evil");
    let group = |path: &str, home: &str, list: &str| {
        format!(r#"{{"group":{{"path":"{path}","home":"{home}","list":"{list}","beside":[]}}}}"#)
    };
    let system = "/cg/cpuset/latlas-system";
    let task = r#""cpuset":{"task":{"id":42,"start":420},"mount":"/cg/cpuset"}"#;
    for forged in [
        file("/etc/passwd"),
        file("/proc/sys/kernel/core_pattern"),
        file("/proc/irq/7/../../sys/kernel/core_pattern"),
        group("/cg/cpuset/docker", "/cg/cpuset", "tasks"),
        group(system, "/etc", "tasks"),
        group(system, "/cg/cpuset/../../etc", "tasks"),
        group(system, "/cg/cpuset", "../../passwd"),
        change(task, "/../../etc").replace("\"y\"", "null"),
    ] {
        bench.write_journal(format!(
            r#"{{"began":{{"version":2,"boot_id":"boot-1","root":"/","process":1}}}}
{{"intent":{{"entry":0,"action":{forged}}}}}
"#
        ));
        let restored = bench.restore();
        assert!(restored.pending, "{forged}");
        let outcome = &restored.values[0].outcome;
        let refused =
            matches!(outcome, BackOutcome::Failed(why) if why.contains("does not change"));
        assert!(refused, "{restored:?}");
        bench.assert_as_before();
    }
}

#[test]
fn a_journal_that_others_could_write_is_refused() {
    let (bench, _) = with_a_rate_left("boot-1");
    let unusable = || matches!(bench.try_restore(), Err(TuneError::Unusable(_)));
    set_mode(&bench.journal(), 0o644);
    assert!(unusable());
    set_mode(&bench.journal(), 0o600);
    // Only root can give a file away.
    if std::os::unix::fs::chown(bench.journal(), Some(4711), None).is_ok() {
        let error = bench.try_restore().expect_err("another user's").to_string();
        assert!(error.contains("owned by user 4711"), "{error}");
        std::os::unix::fs::chown(bench.journal(), Some(0), None).expect("taken back");
    }
    set_mode(bench.state.path(), 0o777);
    let error = bench.try_restore();
    assert!(matches!(error, Err(TuneError::StateDirectory { .. })));
    assert!(bench.try_begin(&[]).is_err());
    set_mode(bench.state.path(), 0o755);
    let elsewhere = bench.directory.path().join("elsewhere");
    std::fs::rename(bench.journal(), &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, bench.journal()).expect("a link");
    assert!(unusable());
    assert_eq!(bench.value(RATE), "1");
}

/// After a flip of this bit everything is put back, or refused in one line
/// that says what to do, with the journal kept.
fn put_back_or_refused(journal: &[u8], bit: usize, bench: &Bench) -> bool {
    let mut flipped = journal.to_vec();
    flipped[bit / 8] ^= 1 << (bit % 8);
    bench.write_journal(flipped);
    match bench.try_restore() {
        Ok(restored) => {
            assert!(restored.found, "bit {bit}: {restored:?}");
            assert_eq!(restored.of_another_boot, None, "bit {bit}");
            assert!(restored.complete(), "bit {bit}: {restored:?}");
            true
        }
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains("journal") && !said.contains('\n'), "{said}");
            let what_to_do = said.contains("by hand") || said.contains("LATLAS_STATE_DIR");
            assert!(what_to_do, "{said}");
            assert!(bench.pending().is_some(), "bit {bit}: {said}");
            false
        }
    }
}

#[test]
fn no_flipped_bit_of_a_journal_loses_a_value() {
    let bench = Bench::with_groups(Groups::One, &[(BOOT, THIS_BOOT)]);
    bench.leave(&[set(RATE, "1"), set(THP, "never")]);
    let journal = std::fs::read(bench.journal()).expect("a journal");
    let mut restored = 0;
    for bit in 0..journal.len() * 8 {
        bench.force(RATE, "1");
        bench.force(THP, "always madvise [never]");
        if put_back_or_refused(&journal, bit, &bench) {
            restored += 1;
            bench.assert_as_before();
        }
    }
    // The end of the last line alone can do without one of its bits.
    assert_eq!(restored, 8);
}

#[test]
fn a_last_step_whose_line_end_is_damaged_may_have_been_taken() {
    // Killed between the intent and what was read back.
    let (bench, journal) = with_a_rate_left(THIS_BOOT);
    let lines: Vec<&[u8]> = journal.split_inclusive(|&b| b == b'\n').collect();
    let intent = lines[..2].concat();
    for tail in [&b""[..], b"\x0b", b"\n"] {
        bench.force(RATE, "1");
        bench.write_journal([&intent[..intent.len() - 1], tail].concat());
        let restored = bench.restore();
        let whole = restored.complete() && !restored.torn;
        assert!(whole, "{tail:?}: {restored:?}");
        bench.assert_as_before();
    }
}

#[test]
fn a_journal_of_the_form_before_is_restored_and_says_that_it_has_no_checksum() {
    let (bench, journal) = with_a_rate_left(THIS_BOOT);
    let text = String::from_utf8(journal).expect("text");
    let without: String = text
        .lines()
        .map(|line| line.rsplit_once(" #").expect("a sum").0.to_owned() + "\n")
        .collect();
    let without = without.replace("\"version\":3", "\"version\":2");
    // A boot's id with one letter of another is no other boot's.
    let id = without.find(THIS_BOOT).expect("an id");
    for bit in id * 8..(id + THIS_BOOT.len()) * 8 {
        assert!(!put_back_or_refused(without.as_bytes(), bit, &bench), "bit {bit}");
    }
    bench.write_journal(&without);
    let restored = bench.restore();
    assert!(restored.as_before() && restored.unchecked, "{restored:?}");
    bench.assert_as_before();
    // Really of another boot: said with the same care.
    bench.write_journal(&without);
    bench.force(BOOT, "0b7d9a11-9a51-4f0e-8f63-0c2f6e0f3c5d");
    let restored = bench.restore();
    assert!(restored.of_another_boot.is_some() && restored.unchecked);
}
