//! Work on one file that the page cache should hold, with the evidence
//! whether it did.

use super::prepared::Prepared;
use crate::engine::files::second;
use crate::engine::repeated::{Repeated, calls};
use meter::probe::{Work, WorkError};
use model::filesystem::DeviceKind;
use model::size;
use std::fs::File;
use std::io;
use sys::filesystem::read_from_storage_bytes;
use sys::page_cache::cached_bytes;

/// A call on a file, repeated.
struct Cached<F> {
    calls: Repeated<F>,
    /// The page cache is asked about it.
    file: File,
    /// What the process had read from storage when the visit began.
    read_before: Option<u64>,
}

/// The kind of work on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Faults {
    /// Page faults are a sign of trouble.
    Trouble,
    /// They are a part of the operation.
    Belong,
    /// They are a part of it, and the row says how many.
    Noted,
}

/// The work of the call of this name, on this file.
///
/// # Errors
/// Why the file can't be asked about.
pub(super) fn cached<'w>(
    name: &'static str,
    on: &Prepared,
    faults: Faults,
    call: impl FnMut() -> io::Result<()> + 'w,
) -> Result<Box<dyn Work + 'w>, WorkError> {
    let file = second(&on.file)?;
    let filesystem = &on.scratch.filesystem;
    let device = filesystem.device;
    let evidence = evidence(
        device,
        cached_bytes(&file).is_ok(),
        read_from_storage_bytes().is_some(),
    );
    let calls = calls(name, call)
        // Two passes, as any working set up to L2 gets.
        .restored_by(2)
        .faults_belong(faults != Faults::Trouble)
        .note(format!("file system: {}", filesystem.text()))
        .note(evidence);
    Ok(Box::new(Cached {
        calls: match faults {
            Faults::Noted => calls.faulting(),
            _ => calls,
        },
        file,
        read_before: None,
    }))
}

impl<F: FnMut(u64) -> io::Result<()>> Work for Cached<F> {
    fn restore(&mut self) {
        self.calls.restore();
        self.read_before = read_from_storage_bytes();
    }
    fn run(&mut self, turns: u64, double: bool) {
        self.calls.run(turns, double);
    }
    fn faults_belong(&self) -> bool {
        Work::faults_belong(&self.calls)
    }
    fn verify(&self) -> Result<(), WorkError> {
        self.calls.verify()
    }
    fn contradiction(&self) -> Option<String> {
        contradiction(
            cached_bytes(&self.file).ok(),
            self.read_before,
            read_from_storage_bytes(),
        )
    }
    fn notes(&self) -> Vec<String> {
        self.calls.notes()
    }
}

/// What a row may say of what served it: of files on this kind of device,
/// where the system says what of a file is in memory (`cached`), and counts
/// what a process read from storage (`read`).
fn evidence(device: DeviceKind, cached: bool, read: bool) -> &'static str {
    match (cached, read) {
        _ if device == DeviceKind::Memory => {
            "nothing is behind the page cache: this file system is memory"
        }
        (true, true) if device.is_disk() => {
            "the page cache served it: all of the file was in memory after each visit, and \
             nothing was read from storage, unless marked"
        }
        // Reads of a FUSE file system, of 9p and the like are not counted.
        (true, true) => {
            "the page cache held all of the file after each visit, unless marked; reads from \
             storage are counted for this machine's disks only"
        }
        (true, false) => {
            "the page cache held all of the file after each visit, unless marked; this system \
             does not count reads from storage"
        }
        (false, _) => "this system does not say whether the page cache served it",
    }
}

/// What speaks against the page cache's having served a visit: the file's
/// bytes and those of them in memory, and what the process had read from
/// storage before and after.
fn contradiction(
    cached: Option<(u64, u64)>,
    before: Option<u64>,
    after: Option<u64>,
) -> Option<String> {
    let mut against = Vec::new();
    let read = before
        .zip(after)
        .map(|(before, after)| after.saturating_sub(before));
    if let Some(read) = read.filter(|&read| read > 0) {
        against.push(format!("{} were read from storage", size::about(read)));
    }
    if let Some((all, held)) = cached.filter(|(all, held)| held < all) {
        against.push(format!(
            "the page cache held {} of {}",
            size::about(held),
            size::about(all)
        ));
    }
    (!against.is_empty()).then(|| against.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{directory, worker_with_files};
    use std::cell::Cell;

    #[test]
    fn what_speaks_against_the_page_cache() {
        assert_eq!(contradiction(Some((10, 10)), Some(5), Some(5)), None);
        assert_eq!(contradiction(None, None, Some(5)), None);
        assert_eq!(
            contradiction(Some((8192, 4096)), Some(5), Some(4101)).as_deref(),
            Some("4.0KiB were read from storage, the page cache held 4.0KiB of 8.0KiB")
        );
    }

    #[test]
    fn only_facts_of_the_system_are_reported() {
        let devices = [
            DeviceKind::Virtio,
            DeviceKind::Network,
            DeviceKind::Overlay,
            DeviceKind::Unknown,
            DeviceKind::Memory,
        ];
        let mut said = String::new();
        for device in devices {
            for (cached, read) in [(true, true), (true, false), (false, true)] {
                let evidence = evidence(device, cached, read);
                said += &format!("{device:?} {cached} {read}: {evidence}\n");
            }
        }
        insta::assert_snapshot!(said);
    }

    #[test]
    fn a_visit_begins_with_two_passes_and_a_file_that_left_the_page_cache_contradicts() {
        let (_dir, worker) = worker_with_files();
        let bytes = 1 << 20;
        let prepared = Prepared::of(&worker, bytes).expect("made");
        let path = directory(&worker).join(format!("read-{bytes}"));
        let count = Cell::new(0);
        let call = || {
            count.set(count.get() + 1);
            Ok(())
        };
        let mut work = cached("counting", &prepared, Faults::Trouble, call).expect("work");
        work.restore();
        assert_eq!(count.get(), 2);
        // Other tests of this process may be reading from storage just now.
        let why = work.contradiction().unwrap_or_default();
        assert!(!why.contains("the page cache held"), "{why}");
        // A hole at the end is in no page cache.
        let file = File::options().write(true).open(path).expect("there");
        file.set_len(2 * bytes).expect("room");
        let why = work.contradiction().expect("half of it is not there");
        let half = "the page cache held 1024KiB of 2048KiB";
        assert!(why.ends_with(half), "{why}");
    }
}
