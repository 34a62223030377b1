//! What is set is the machine's: known by every tune and restore, whatever state directory it has,
//! and wherever that is by then. And what can't be known is no "nothing".

use super::kernel::Groups;
use super::{Bench, RATE, THP, set, set_mode};
use noise::tune::{Faults, StateDir, TuneError, Tuned, pending, restore};
use std::fs;
use std::path::PathBuf;

/// A bench, and its machine's directory.
fn bench() -> Bench {
    let mut bench = Bench::with_groups(Groups::None, &[(RATE, "100000")]);
    let machine = bench.directory.path().join("machine");
    bench.state = bench.state.of_machine(Some(machine));
    bench
}

impl Bench {
    /// The same machine by another state directory.
    fn elsewhere(&self) -> StateDir {
        let machine = self.directory.path().join("machine");
        StateDir::at(&self.directory.path().join("other")).of_machine(Some(machine))
    }

    fn machines_journal(&self) -> PathBuf {
        self.directory.path().join("machine/journal")
    }
}

#[test]
fn another_state_directory_is_no_other_machine() {
    let bench = bench();
    let other = bench.elsewhere();
    let tuned = bench.begin(&[set(RATE, "1")]);
    let busy = Tuned::begin(&bench.kernel, &other, &[set(RATE, "2")]).err();
    // Of this process, which the kernel does not name to itself.
    let busy = busy.expect("refused").to_string();
    assert!(busy.contains("another latlas (process "), "{busy}");
    tuned.leave().expect("left");
    // What is there now is not the value to put back.
    let begun = Tuned::begin(&bench.kernel, &other, &[set(RATE, "2")]).err();
    assert!(matches!(begun, Some(TuneError::Pending)), "{begun:?}");
    assert!(pending(&other).is_some());
    assert_eq!(bench.value(RATE), "1");
    let restored = restore(&bench.kernel, &other).expect("restored");
    assert!(restored.found && restored.as_before(), "{restored:?}");
    bench.assert_as_before();
    assert!(!bench.journal().exists(), "no copy is left");
    assert_eq!((bench.pending(), pending(&other)), (None, None));
}

#[test]
fn whichever_copy_is_left_puts_everything_back() {
    let ends: [fn(&Bench); 5] = [
        |bench| fs::remove_dir_all(bench.state.path()).expect("removed"),
        |bench| {
            let moved = bench.directory.path().join("moved");
            let _ = fs::remove_dir_all(&moved);
            fs::rename(bench.state.path(), moved).expect("moved");
        },
        |bench| fs::remove_file(bench.journal()).expect("removed"),
        // A container that is started anew has another /run, and the same kernel.
        |bench| fs::remove_dir_all(bench.directory.path().join("machine")).expect("removed"),
        |_| {},
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let bench = bench();
        bench.leave(&[set(RATE, "1"), set(THP, "never")]);
        end(&bench);
        assert!(bench.pending().is_some(), "{number}");
        let restored = bench.restore();
        assert!(restored.found && restored.as_before(), "{number}: {restored:?}");
        bench.assert_as_before();
        assert_eq!(bench.pending(), None, "{number}");
        // While it is set, too.
        let tuned = bench.begin(&[set(RATE, "1")]);
        end(&bench);
        assert!(tuned.restore().as_before(), "{number}");
        bench.assert_as_before();
    }
}

/// The state directory was moved or copied before, and turns up when other values are wanted.
#[test]
fn what_was_put_back_is_not_put_back_again() {
    let bench = bench();
    let aside = bench.directory.path().join("aside");
    for moved in [true, false] {
        bench.leave(&[set(RATE, "1")]);
        fs::create_dir_all(&aside).expect("made");
        match moved {
            true => fs::rename(bench.journal(), aside.join("journal")).expect("moved"),
            false => drop(fs::copy(bench.journal(), aside.join("journal")).expect("copied")),
        }
        let machine = bench.directory.path().join("machine");
        let late = StateDir::at(&aside).of_machine(Some(machine));
        assert!(pending(&late).is_some());
        assert!(bench.restore().as_before());
        bench.force(RATE, "3");
        assert_eq!(pending(&late), None);
        let restored = restore(&bench.kernel, &late).expect("looked");
        assert!(!restored.found && !aside.join("journal").exists(), "{restored:?}");
        assert_eq!(bench.value(RATE), "3");
        // The next tune is another.
        bench.leave(&[set(RATE, "1")]);
        assert!(restore(&bench.kernel, &late).expect("restored").found);
        assert_eq!(bench.value(RATE), "3");
        bench.force(RATE, "100000");
    }
}

/// Killed between the two copies of any record: the one with more is believed.
#[test]
fn copies_that_differ_by_a_crash_are_made_the_same() {
    for cut in [0, 1, 2] {
        let bench = bench();
        bench.leave(&[set(RATE, "1"), set(THP, "never")]);
        let whole = fs::read(bench.machines_journal()).expect("a journal");
        assert_eq!(fs::read(bench.journal()).expect("a copy"), whole);
        let lines: Vec<&[u8]> = whole.split_inclusive(|&b| b == b'\n').collect();
        let less = lines[..lines.len() - cut].concat();
        fs::write(bench.journal(), &less[..less.len() - cut]).expect("written");
        // Something can't be put back, so that both stay.
        bench.quirks(|quirks| quirks.fixed.extend([RATE.to_owned()]));
        let restored = bench.try_restore().expect("tried");
        assert!(restored.pending, "{restored:?}");
        let [one, other] = [bench.machines_journal(), bench.journal()].map(fs::read);
        assert_eq!(one.expect("there"), other.expect("there"), "{cut}");
    }
}

#[test]
fn crashes_with_two_copies_lose_nothing() {
    for number in 1..200 {
        let bench = bench();
        let count = std::rc::Rc::new(std::cell::Cell::new(0));
        let counted = std::rc::Rc::clone(&count);
        let faults = Faults::new(move |_| {
            counted.set(counted.get() + 1);
            if counted.get() == number {
                std::panic::panic_any(());
            }
        });
        let state = bench.state.clone().with_faults(faults);
        let tune = || Tuned::begin(&bench.kernel, &state, &[set(RATE, "1")]).map(Tuned::restore);
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(tune)).is_ok() {
            assert!(number > 20, "only {number} actions");
            return;
        }
        // By another state directory, or without the first.
        if number % 2 == 0 {
            let _ = fs::remove_dir_all(bench.state.path());
        }
        restore(&bench.kernel, &bench.elsewhere()).expect("restored");
        bench.assert_as_before();
        assert_eq!(bench.pending(), None, "{number}");
        assert!(bench.begin(&[set(RATE, "2")]).restore().as_before());
    }
    panic!("a tune without an end");
}

/// What can't be looked at is an error, never "nothing to restore".
#[test]
fn what_can_not_be_looked_at_is_not_nothing() {
    let bench = Bench::with_groups(Groups::None, &[]);
    let root = bench.directory.path();
    let at = |name: &str| restore(&bench.kernel, &StateDir::at(&root.join(name)));
    let refused = |name: &str, why: &str| {
        let error = at(name).expect_err(name).to_string();
        assert!(error.contains(why), "{name}: {error}");
    };
    assert!(!at("none").expect("nothing").found);
    fs::write(root.join("file"), "").expect("written");
    refused("file", "not a directory");
    refused("file/below", "Not a directory");
    refused(&"x".repeat(300), "too long");
    std::os::unix::fs::symlink("nowhere", root.join("dangling")).expect("a link");
    refused("dangling", "No such file");
    fs::create_dir(root.join("open")).expect("made");
    // The group of an ordinary user may have no other member.
    let by_group = (sys::filesystem::user() == 0).then_some(0o775);
    for mode in by_group.into_iter().chain([0o757, 0o777, 0o1777]) {
        set_mode(&root.join("open"), mode);
        refused("open", "writable by other users");
        let begun = Tuned::begin(&bench.kernel, &StateDir::at(&root.join("open")), &[]);
        assert!(matches!(begun.err(), Some(TuneError::StateDirectory { .. })));
    }
    set_mode(&root.join("open"), 0o755);
    assert!(!at("open").expect("ours").found);
    // What is above it may be anybody's if that can't be replaced.
    fs::create_dir_all(root.join("shared/own")).expect("made");
    set_mode(&root.join("shared"), 0o777);
    refused("shared/own", "writable by other users");
    set_mode(&root.join("shared"), 0o1777);
    assert!(!at("shared/own").expect("ours").found);
    if sys::filesystem::user() == 0 {
        let chown = |name: &str, user| {
            std::os::unix::fs::chown(root.join(name), Some(user), None).expect("root may");
        };
        chown("open", 4711);
        refused("open", "owned by user 4711");
        chown("shared", 4711);
        refused("shared/own", "owned by user 4711");
    }
}
