use super::places::swift_below;
use super::*;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ThreadId;

/// The fake library, compiled into this directory under this name.
fn fake(home: &Path, name: &str, options: &[&str]) -> PathBuf {
    let library = home.join(name);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/dispatch/fake.c");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-pthread", "-O1"])
        .args(options)
        .arg("-o")
        .args([&library, Path::new(source)])
        .output()
        .expect("a C compiler, which building needs too");
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
    library
}

/// Calls of the fake library so far: queues created and released, tasks run at
/// once and posted.
fn call_counts(library: &Path) -> [i64; 4] {
    // SAFETY: the test's own library, which is loaded already.
    let library = unsafe { Library::new(library) }.expect("loaded");
    // SAFETY: its own function.
    let count = unsafe { library.get::<extern "C" fn(i32) -> i64>(c"fake_count") };
    let count = count.expect("the fake counts");
    [0, 1, 2, 3].map(|kind| count(kind))
}

struct Noting {
    runs: AtomicU64,
    thread: std::sync::Mutex<Option<ThreadId>>,
}

impl Noting {
    fn new() -> Noting {
        Noting { runs: AtomicU64::new(0), thread: std::sync::Mutex::new(None) }
    }
}

impl QueueTask for Noting {
    fn run(&self) {
        *self.thread.lock().expect("no panic") = Some(std::thread::current().id());
        self.runs.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn each_call_is_one_call_of_the_library() {
    let home = tempfile::tempdir().expect("a directory");
    let library = fake(home.path(), "libdispatch.so", &[]);
    let dispatch = Dispatch::first_of(std::slice::from_ref(&library)).expect("all functions");
    assert_eq!(dispatch.place(), library.to_string_lossy());
    assert_eq!(call_counts(&library), [0; 4]);
    let queue = dispatch.queue().expect("a queue");
    assert_eq!(call_counts(&library), [1, 0, 0, 0]);
    for _ in 0..3 {
        queue.sync_nothing();
    }
    assert_eq!(call_counts(&library), [1, 0, 3, 0]);
    let here = Noting::new();
    queue.sync(&here);
    assert_eq!(here.runs.load(Ordering::SeqCst), 1, "it has run");
    let ran_on = *here.thread.lock().expect("no panic");
    assert_eq!(ran_on, Some(std::thread::current().id()));
    assert_eq!(call_counts(&library), [1, 0, 4, 0]);
    let later: &'static Noting = Box::leak(Box::new(Noting::new()));
    for _ in 0..5 {
        queue.post(later);
    }
    while later.runs.load(Ordering::SeqCst) < 5 {
        std::thread::yield_now();
    }
    let ran_on = *later.thread.lock().expect("no panic");
    assert_ne!(ran_on, Some(std::thread::current().id()));
    assert_eq!(call_counts(&library), [1, 0, 4, 5]);
    drop(queue);
    assert_eq!(call_counts(&library), [1, 1, 4, 5]);
    // One that all share is not released.
    for class in [9, 17, 21, 25, 33] {
        let shared = dispatch.global_queue(class).expect("a known class");
        shared.post(later);
    }
    assert_eq!(call_counts(&library), [1, 1, 4, 10]);
    let error = dispatch.global_queue(10).expect_err("not a class");
    assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory);
}

#[test]
fn a_semaphore_lets_through_as_many_as_were_signalled() {
    let home = tempfile::tempdir().expect("a directory");
    let library = fake(home.path(), "libdispatch.so", &[]);
    let dispatch = Dispatch::first_of(std::slice::from_ref(&library)).expect("all functions");
    let semaphore = dispatch.semaphore().expect("a semaphore");
    let passed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..3 {
                semaphore.wait();
                passed.fetch_add(1, Ordering::SeqCst);
            }
        });
        for signalled in 0..3 {
            assert!(passed.load(Ordering::SeqCst) <= signalled);
            semaphore.signal();
        }
    });
    assert_eq!(passed.load(Ordering::SeqCst), 3);
    drop(semaphore);
    assert_eq!(call_counts(&library), [1, 1, 0, 0]);
}

#[test]
fn a_library_that_is_not_there_is_not_found() {
    let home = tempfile::tempdir().expect("a directory");
    let places = [home.path().join("libdispatch.so"), "libdispatch-of-no-system.so".into()];
    for places in [&places[..], &[]] {
        let reason = Dispatch::first_of(places).expect_err("there is none");
        assert_eq!(reason, NoDispatch(Vec::new()));
        assert_eq!(reason.to_string(), "libdispatch not found");
    }
}

/// By its name alone it could not be distinguished from a missing one.
#[cfg(not(target_vendor = "apple"))]
#[test]
fn a_broken_one_in_the_linkers_path_is_not_called_missing() {
    let home = tempfile::tempdir().expect("a directory");
    let broken = home.path().join("libdispatch.so.0");
    std::fs::write(&broken, "no library").expect("written");
    let mut places = places::library_paths(Some(home.path().as_os_str()));
    // What this machine may have would be taken.
    places.retain(|place| place.starts_with(home.path()));
    let reason = Dispatch::first_of(&places).expect_err("it is no library");
    assert!(
        matches!(&reason.0[..], [Wrong::NotLoaded { place, .. }] if *place == broken),
        "{reason}"
    );
}

#[test]
fn one_that_cannot_be_used_says_why_and_the_next_is_taken() {
    let home = tempfile::tempdir().expect("a directory");
    let lacking = fake(home.path(), "lacking.so", &["-DWITHOUT_SYNC"]);
    let text = home.path().join("text.so");
    std::fs::write(&text, "no library").expect("written");
    // One that needs another, which is gone.
    fake(home.path(), "libneeded.so", &[]);
    let search = format!("-L{}", home.path().display());
    let needing = fake(home.path(), "needing.so", &["-Wl,--no-as-needed", &search, "-lneeded"]);
    std::fs::remove_file(home.path().join("libneeded.so")).expect("removed");

    let wrong = [lacking, text, needing];
    let reason = Dispatch::first_of(&wrong).expect_err("none is whole");
    let [
        Wrong::NoFunction { name, .. },
        Wrong::NotLoaded { place, .. },
        Wrong::NotLoaded { why, .. },
    ] = &reason.0[..]
    else {
        panic!("{reason}");
    };
    assert_eq!(name, "dispatch_sync_f");
    assert_eq!(*place, wrong[1]);
    assert!(why.contains("libneeded.so"), "{why}");
    assert_eq!(reason.to_string().matches("; libdispatch (").count(), 2);
    let whole = fake(home.path(), "whole.so", &[]);
    let places = [&wrong[..], std::slice::from_ref(&whole)].concat();
    let dispatch = Dispatch::first_of(&places).expect("the last one is whole");
    assert_eq!(dispatch.place(), whole.to_string_lossy());
}

#[test]
fn what_this_system_has_works_if_it_has_any() {
    match Dispatch::of_this_system() {
        Ok(dispatch) => {
            let queue = dispatch.queue().expect("a queue");
            let here = Noting::new();
            queue.sync(&here);
            assert_eq!(here.runs.load(Ordering::SeqCst), 1);
            let later: &'static Noting = Box::leak(Box::new(Noting::new()));
            queue.post(later);
            // A serial queue: this runs after what was posted before.
            queue.sync_nothing();
            assert_eq!(later.runs.load(Ordering::SeqCst), 1);
        }
        Err(reason) => assert!(reason.to_string().contains("libdispatch"), "{reason}"),
    }
}

#[cfg(not(target_vendor = "apple"))]
#[test]
fn the_linkers_search_path_comes_first() {
    let places = places::library_paths(None);
    assert_eq!(places[0], Path::new("libdispatch.so"));
    assert!(places.contains(&"/usr/lib/swift/linux/libdispatch.so".into()));
    assert!(places[2..].iter().all(|place| place.is_absolute()));
}

#[cfg(not(target_vendor = "apple"))]
#[test]
fn versions_are_found_and_nothing_else() {
    let home = tempfile::tempdir().expect("a directory");
    for folder in ["6.0/lib/swift", "swift-5.9/lib/swift", "lib/swift", "7/lib"] {
        std::fs::create_dir_all(home.path().join(folder)).expect("made");
    }
    let found = swift_below(home.path());
    let wanted = ["6.0/lib/swift", "swift-5.9/lib/swift"].map(|path| home.path().join(path));
    assert_eq!(found, wanted);
    assert!(swift_below(&home.path().join("none")).is_empty());
}
