//! Work on one file that the page cache should hold, with the evidence
//! whether it did.

use super::prepared::Prepared;
use meter::probe::Work;
use model::filesystem::DeviceKind;
use model::size;
use std::fs::File;
use std::hint::black_box;
use std::io;
use sys::filesystem::{cached_bytes, read_from_storage_bytes};

/// A call on a file, repeated. The first error ends it.
pub(super) struct Cached<F> {
    name: &'static str,
    call: F,
    /// To ask of.
    file: File,
    file_system: String,
    device: DeviceKind,
    faults_belong: bool,
    failed: Option<String>,
    /// What the process had read from storage when the visit began.
    read_before: Option<u64>,
}

impl<F: FnMut() -> io::Result<()>> Cached<F> {
    /// Of the call of this name, on this file. `faults_belong` as in
    /// [`Work::faults_belong`].
    ///
    /// # Errors
    /// Why the file can't be asked of.
    pub(super) fn new(
        name: &'static str,
        on: &Prepared,
        faults_belong: bool,
        call: F,
    ) -> Result<Cached<F>, String> {
        let file = on.file.try_clone();
        let filesystem = &on.place.filesystem;
        Ok(Cached {
            name,
            call,
            file: file.map_err(|e| format!("no second descriptor of the file: {e}"))?,
            file_system: filesystem.text(),
            device: filesystem.device,
            faults_belong,
            failed: None,
            read_before: None,
        })
    }

    /// [`Cached::new`], as a worker wants it.
    ///
    /// # Errors
    /// As there.
    pub(super) fn boxed<'w>(
        name: &'static str,
        on: &Prepared,
        faults_belong: bool,
        call: F,
    ) -> Result<Box<dyn Work + 'w>, String>
    where
        F: 'w,
    {
        Ok(Box::new(Cached::new(name, on, faults_belong, call)?))
    }
}

impl<F: FnMut() -> io::Result<()>> Work for Cached<F> {
    fn ops_per_turn(&self) -> f64 {
        1.0
    }
    fn restore(&mut self) {
        // Two passes, as any working set up to L2 gets.
        self.run(2, false);
        self.read_before = read_from_storage_bytes();
    }
    fn run(&mut self, turns: u64, _double: bool) {
        for _ in 0..turns {
            if let Err(e) = black_box((self.call)()) {
                self.failed = Some(format!("{} failed: {e}", self.name));
                return;
            }
        }
    }
    fn faults_belong(&self) -> bool {
        self.faults_belong
    }
    fn verify(&self) -> Result<(), String> {
        self.failed.clone().map_or(Ok(()), Err)
    }
    fn contradiction(&self) -> Option<String> {
        contradiction(
            cached_bytes(&self.file).ok(),
            self.read_before,
            read_from_storage_bytes(),
        )
    }
    fn notes(&self) -> Vec<String> {
        let cached = cached_bytes(&self.file).is_ok();
        let evidence = evidence(self.device, cached, self.read_before.is_some());
        vec![
            format!("file system: {}", self.file_system),
            evidence.to_string(),
        ]
    }
}

/// What a row may say of what served it: of files on this kind of device,
/// where the system tells what of a file is in memory, and what a process read
/// from storage.
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
            "the page cache held all of the file after each visit, unless marked; that nothing \
             was read from storage can be told of this machine's disks only"
        }
        (true, false) => {
            "the page cache held all of the file after each visit, unless marked; whether \
             storage was read this system does not tell"
        }
        (false, _) => "whether the page cache served it this system does not tell",
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
    use crate::smoke;
    use meter::bench::Bench;

    #[test]
    fn what_speaks_against_the_page_cache() {
        assert_eq!(contradiction(Some((10, 10)), Some(5), Some(5)), None);
        assert_eq!(contradiction(None, None, Some(5)), None);
        assert_eq!(
            contradiction(Some((100, 100)), Some(5), Some(4101)).as_deref(),
            Some(
                "4.00KiB were read from storage"
                    .replace("4.00", "4.0")
                    .as_str()
            )
        );
        assert_eq!(
            contradiction(Some((8192, 4096)), Some(5), Some(5)).as_deref(),
            Some("the page cache held 4.0KiB of 8.0KiB")
        );
    }

    #[test]
    fn no_more_is_said_than_was_told() {
        let said = |device, cached, read| evidence(device, cached, read).to_string();
        let storage = "nothing was read from storage, unless marked";
        assert!(said(DeviceKind::Virtio, true, true).contains(storage));
        for device in [
            DeviceKind::Network,
            DeviceKind::Overlay,
            DeviceKind::Unknown,
        ] {
            let said = said(device, true, true);
            assert!(!said.contains(storage) && said.contains("can be told"));
        }
        assert!(!said(DeviceKind::Nvme, true, false).contains(storage));
        assert!(said(DeviceKind::Nvme, false, true).ends_with("does not tell"));
        assert!(said(DeviceKind::Memory, true, true).contains("is memory"));
    }

    #[test]
    fn a_visit_begins_with_two_passes() {
        let (_dir, terrain) = smoke::with_files();
        let bench = Bench::new(terrain, 0, 0, 1);
        let prepared = Prepared::of(&bench, 10).expect("made");
        let mut calls = 0;
        let call = || {
            calls += 1;
            Ok(())
        };
        let mut work = Cached::new("counting", &prepared, false, call).expect("work");
        work.restore();
        drop(work);
        assert_eq!(calls, 2);
    }

    #[test]
    fn a_file_that_left_the_page_cache_contradicts() {
        let (_dir, terrain) = smoke::with_files();
        let bench = Bench::new(terrain, 0, 0, 1);
        let bytes = 1 << 20;
        let prepared = Prepared::of(&bench, bytes).expect("made");
        let name = smoke::directory(&bench).join(format!("read-{bytes}"));
        let mut work = Cached::boxed("nothing", &prepared, false, || Ok(())).expect("work");
        work.restore();
        // Other tests of this process may be reading from storage just now.
        let why = work.contradiction().unwrap_or_default();
        assert!(!why.contains("the page cache held"), "{why}");
        // A hole at the end is in no page cache.
        let file = File::options().write(true).open(name).expect("there");
        file.set_len(2 * bytes).expect("room");
        let why = work.contradiction().expect("half of it is not there");
        let half = "the page cache held 1024KiB of 2048KiB";
        assert!(why.ends_with(half), "{why}");
    }

    #[test]
    fn a_call_that_fails_ends_the_row() {
        let (_dir, terrain) = smoke::with_files();
        let bench = Bench::new(terrain, 0, 0, 1);
        let prepared = Prepared::of(&bench, 10).expect("made");
        let call = || Err(io::ErrorKind::Other.into());
        let mut work = Cached::boxed("it", &prepared, false, call).expect("work");
        assert_eq!(work.verify(), Ok(()));
        work.run(1, false);
        assert!(work.verify().is_err_and(|why| why.starts_with("it failed")));
    }
}
