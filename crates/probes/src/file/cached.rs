//! Work on one file that the page cache should hold, with the evidence
//! whether it did.

use super::prepared::Prepared;
use crate::engine::files::second;
use crate::engine::reason::{Doing, Reason};
use crate::engine::repeated::{Repeated, calls};
use meter::probe::{Work, WorkError};
use model::filesystem::DeviceKind;
use model::size;
use std::fs::File;
use std::io;
use sys::filesystem::read_from_storage_bytes;
use sys::page_cache::cached_bytes;

struct Cached<F> {
    calls: Repeated<F>,
    /// The page cache is asked about it, where reads from storage are not counted.
    file: File,
    /// Whether the kernel counts what a process reads of it from storage.
    counted: bool,
    bytes: u64,
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
pub(super) fn cached<'w>(
    name: &'static str,
    on: &Prepared,
    faults: Faults,
    call: impl FnMut() -> io::Result<()> + 'w,
) -> Result<Box<dyn Work + 'w>, WorkError> {
    let file = second(&on.file)?;
    let filesystem = &on.scratch.filesystem;
    let device = filesystem.device;
    let counted = counts_reads(device) && read_from_storage_bytes().is_some();
    let evidence = evidence(device, counted, cached_bytes(&file).is_ok());
    let calls = calls(name, call)
        // Two passes, as any working set up to L2 gets.
        .restored_by(2)
        .faults_belong(faults != Faults::Trouble)
        .note(format!("file system: {}", filesystem.one_line()))
        .note(evidence);
    Ok(Box::new(Cached {
        calls: match faults {
            Faults::Noted => calls.faulting(),
            _ => calls,
        },
        file,
        counted,
        bytes: on.bytes as u64,
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
        self.calls.verify()?;
        // Opening and mapping do not notice.
        let now = self.file.metadata().doing("can't ask for the file's size")?;
        match now.len() == self.bytes {
            true => Ok(()),
            false => Err(another_size(now.len(), self.bytes).into()),
        }
    }
    fn contradiction(&self) -> Option<String> {
        let read = self.read_before.zip(read_from_storage_bytes());
        let read = read.filter(|_| self.counted);
        contradiction(read.map(|(before, after)| after.saturating_sub(before)), || {
            cached_bytes(&self.file).ok()
        })
    }
    fn notes(&self) -> Vec<String> {
        self.calls.notes()
    }
}

/// Whether the kernel counts reads of such a file system from storage: those of FUSE, NFS, 9p and
/// the like it does not.
fn counts_reads(device: DeviceKind) -> bool {
    device != DeviceKind::Network
}

fn another_size(now: u64, before: u64) -> Reason {
    Reason::wrong(format!(
        "the file has {now} bytes instead of {before}: another program wrote to it"
    ))
}

/// What a row may say of what served it: of files on this kind of device, where the system counts
/// what a process read of them from storage (`counted`), or says what of a file is in memory
/// (`cached`).
fn evidence(device: DeviceKind, counted: bool, cached: bool) -> &'static str {
    match (counted, cached) {
        _ if device == DeviceKind::Memory => {
            "nothing is behind the page cache: this file system is memory"
        }
        (true, _) => "the page cache served it: nothing was read from storage, unless marked",
        (false, true) => {
            "the page cache held all of the file after each batch, unless marked; reads of this \
             file system from storage are not counted"
        }
        (false, false) => "this system does not say whether the page cache served it",
    }
}

/// What speaks against the page cache's having served a visit: bytes read from storage, or where
/// these are not counted, bytes of the file that are not in memory, of all. Where nothing was read,
/// the latter says nothing: a page of which only some blocks were written is not up to date for
/// mincore(2), though reads of these blocks are served from it (ext4 with blocks smaller than a
/// page), and ZFS has a cache of its own.
fn contradiction(read: Option<u64>, cached: impl FnOnce() -> Option<(u64, u64)>) -> Option<String> {
    match read {
        Some(0) => None,
        Some(read) => Some(format!("{} were read from storage", size::about(read))),
        None => cached().filter(|(all, held)| held < all).map(|(all, held)| {
            let [held, all] = [held, all].map(size::about);
            format!("the page cache held {held} of {all}")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{directory, worker_with_files};
    use std::cell::Cell;

    #[test]
    fn what_speaks_against_the_page_cache() {
        let of = |read, cached| contradiction(read, || cached);
        assert_eq!(of(None, Some((10, 10))), None);
        assert_eq!(of(None, None), None);
        assert_eq!(of(Some(0), Some((10, 10))), None);
        assert_eq!(
            of(Some(4096), Some((10, 10))).as_deref(),
            Some("4.0KiB were read from storage")
        );
        assert_eq!(
            of(None, Some((8192, 4096))).as_deref(),
            Some("the page cache held 4.0KiB of 8.0KiB")
        );
    }

    #[test]
    fn a_page_that_is_partly_up_to_date_does_not_contradict_where_reads_are_counted() {
        // ext4 with blocks of 1 KiB: a page of which one block was written.
        assert_eq!(contradiction(Some(0), || Some((1024, 0))), None);
        assert!(contradiction(None, || Some((1024, 0))).is_some());
        for device in [DeviceKind::Virtio, DeviceKind::Unknown, DeviceKind::Memory] {
            assert!(counts_reads(device), "{device:?}");
        }
        assert!(!counts_reads(DeviceKind::Network));
    }

    #[test]
    fn only_facts_of_the_system_are_reported() {
        let devices = [DeviceKind::Virtio, DeviceKind::Network, DeviceKind::Memory];
        let mut said = String::new();
        for device in devices {
            for (counted, cached) in [(true, true), (true, false), (false, true), (false, false)] {
                let evidence = evidence(device, counted, cached);
                said += &format!("{device:?} {counted} {cached}: {evidence}\n");
            }
        }
        insta::assert_snapshot!(said);
    }

    #[test]
    fn a_visit_begins_with_two_passes_and_a_file_that_left_the_page_cache_contradicts() {
        let (_dir, worker) = worker_with_files();
        let bytes = 1 << 20;
        let prepared = Prepared::with_size(&worker, bytes).expect("made");
        let path = directory(&worker).join(format!("read-{bytes}"));
        let count = Cell::new(0);
        let call = || {
            count.set(count.get() + 1);
            Ok(())
        };
        let mut work = cached("counting", &prepared, Faults::Trouble, call).expect("work");
        work.restore();
        assert_eq!(count.get(), 2);
        // A hole at the end is in no page cache, and nothing was read.
        let file = File::options().write(true).open(path).expect("there");
        file.set_len(2 * bytes).expect("room");
        // Other tests of this process may be reading from storage just now.
        let why = work.contradiction().unwrap_or_default();
        assert!(!why.contains("the page cache held"), "{why}");
        let second = second(&prepared.file).expect("a descriptor");
        let uncounted = Cached {
            calls: calls("counting", call),
            file: second,
            counted: false,
            bytes,
            read_before: Some(0),
        };
        let half = "the page cache held 1024KiB of 2048KiB";
        assert_eq!(uncounted.contradiction().as_deref(), Some(half));
        // What opens it or maps it does not notice that it is another file now.
        let why = work.verify().expect_err("another size");
        assert_eq!(why, another_size(2 * bytes, bytes).into());
    }
}
