//! Reads of the laid-out file, and what the kernel says of them.

use super::laid_out::LaidOut;
use crate::engine::files::filesystem_note;
use crate::engine::reason::Doing;
use crate::engine::single::Single;
use fastrand::Rng;
use meter::probe::WorkError;
use meter::scratch::ScratchError;
use meter::worker_memory::WorkerMemory;
use model::filesystem::DeviceKind;
use model::share::percent;
use std::os::unix::fs::FileExt;
use sys::filesystem::read_from_storage_bytes;
use sys::page_cache::cached_bytes;
use sys::pages::{Buffer, PageKind};

/// Share of the requested bytes that must have come from storage.
const FROM_STORAGE: f64 = 0.95;

/// Where the next read goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadPattern {
    Random,
    /// Where the one before ended.
    Sequential,
}

pub(super) struct Reads {
    laid_out: LaidOut,
    buffer: Buffer,
    order: ReadPattern,
    rng: Rng,
    /// Pieces of this size that the file has.
    pieces: u64,
    next: u64,
    /// What the process had read from storage before the visit.
    before_bytes: Option<u64>,
    notes: Vec<String>,
}

impl Reads {
    /// Of this many bytes each, a multiple of the alignment. One of them is
    /// made, to see that it comes from storage.
    pub(super) fn new(
        worker: &mut WorkerMemory,
        laid_out: LaidOut,
        bytes: usize,
        order: ReadPattern,
    ) -> Result<Reads, WorkError> {
        let mut rng = worker.rng.fork();
        let pieces = laid_out.bytes / bytes as u64;
        let buffer = Buffer::new(bytes, PageKind::Base)
            .doing(format!("no memory to read {} into", model::size::format_size(bytes as u64)))?;
        let mut reads = Reads {
            next: rng.u64(..pieces.max(1)),
            laid_out,
            buffer,
            order,
            rng,
            pieces,
            before_bytes: None,
            notes: filesystem_note(worker).into_iter().collect(),
        };
        reads.before_bytes = read_from_storage_bytes();
        reads.perform()?;
        let evidence = reads.evidence(1);
        let device = worker.scratch()?.filesystem.device;
        if let Some(why) = evidence.refusal(device) {
            return Err(why.into());
        }
        reads.notes.push(evidence.evidence_note().into());
        reads.before_bytes = read_from_storage_bytes();
        Ok(reads)
    }

    /// What the kernel says of so many reads since `before_bytes`.
    fn evidence(&self, reads: u64) -> Evidence {
        Evidence {
            requested: reads * self.buffer.len() as u64,
            read: read_from_storage_bytes()
                .zip(self.before_bytes)
                .map(|(after, before)| after.saturating_sub(before)),
            cached: cached_bytes(&self.laid_out.file).ok(),
        }
    }
}

/// What the system says of reads past the page cache, where it does.
#[derive(Clone, Copy, Debug)]
struct Evidence {
    /// Bytes that they requested.
    requested: u64,
    /// Bytes that the process read from storage in that time.
    read: Option<u64>,
    /// Bytes of the file, and those of them that the page cache holds.
    cached: Option<(u64, u64)>,
}

impl Evidence {
    /// What speaks against storage's having served them.
    fn contradiction(self) -> Option<String> {
        let share = |part: u64, whole: u64| percent(part as f64 / whole as f64);
        if let Some(read) = self.read
            && (read as f64) < self.requested as f64 * FROM_STORAGE
        {
            let share = share(read, self.requested);
            return Some(format!("share of the bytes that came from storage: {share}"));
        }
        let (all, cached) = self.cached.filter(|&(_, cached)| cached > 0)?;
        let share = share(cached, all);
        Some(format!("share of the file in the page cache: {share}"))
    }

    /// Why there is no row where this is said of a first read, from a file
    /// system on such a device.
    fn refusal(self, device: DeviceKind) -> Option<String> {
        let how = self.contradiction()?;
        let in_cache = self.cached.is_some_and(|(_, cached)| cached > 0);
        // Not every file system has its reads counted: FUSE, 9p and virtiofs
        // don't. Others serve them from their own cache.
        let uncounted = self.read == Some(0) && !in_cache && device != DeviceKind::Memory;
        let why = match uncounted {
            true => "this system counts no reads of this file system, or something other than storage served them".into(),
            false => format!("{how}: this file system serves direct reads from memory"),
        };
        Some(format!("{why}; name a directory on a disk with --dir"))
    }

    /// What a row whose visits are checked like this may say of them.
    fn evidence_note(self) -> &'static str {
        match (self.read, self.cached) {
            (Some(_), Some(_)) => {
                "past this machine's page cache, which held none of the file, and read from storage, unless marked; the device's cache or a hypervisor's may still serve it"
            }
            (None, Some(_)) => {
                "past this machine's page cache, which held none of the file, unless marked; this system does not say whether storage was read"
            }
            (Some(_), None) => {
                "read from storage, unless marked; this system does not say what of the file is in the page cache, and the device's cache or a hypervisor's may still serve it"
            }
            (None, None) => {
                "past this machine's page cache as requested; this system does not say whether that was so"
            }
        }
    }
}

impl Single for Reads {
    fn ready(&mut self) -> Result<(), WorkError> {
        self.next = match self.order {
            ReadPattern::Random => self.rng.u64(..self.pieces),
            ReadPattern::Sequential => (self.next + 1) % self.pieces,
        };
        Ok(())
    }

    fn perform(&mut self) -> Result<(), WorkError> {
        let bytes = self.buffer.len();
        let offset = self.next * bytes as u64;
        self.laid_out
            .file
            .read_exact_at(self.buffer.as_mut_slice(), offset)
            .map_err(|e| {
                let doing = format!("reading {}", model::size::format_size(bytes as u64));
                let scratch = self.laid_out.path.parent().unwrap_or(&self.laid_out.path);
                ScratchError::file(&e, &doing, scratch)
            })
            .map_err(WorkError::from)
    }

    fn contradiction(&mut self, operations: u64) -> Option<String> {
        let found = self.evidence(operations).contradiction();
        self.before_bytes = read_from_storage_bytes();
        found
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::single::Singles;
    use crate::engine::testing;
    use meter::probe::Work;
    use std::fs::File;

    const PAGE: usize = 4096;
    const BYTES: u64 = 2 << 20;

    /// A file of two MiB; nothing where direct reads come from memory.
    fn reads(worker: &mut WorkerMemory, order: ReadPattern) -> Option<Reads> {
        let scratch = testing::directory(worker);
        let patience = std::time::Duration::from_secs(100);
        let made = LaidOut::in_directory(&scratch, BYTES, 1, patience);
        let made = made.and_then(|laid_out| Reads::new(worker, laid_out, PAGE, order));
        match made {
            Err(why) if why.to_string().contains("name a directory on a disk") => {
                println!("SKIPPED: {why}");
                None
            }
            reads => Some(reads.expect("room")),
        }
    }

    #[test]
    fn each_order_is_followed() {
        let (_dir, mut worker) = testing::worker_with_files();
        let Some(mut reads) = reads(&mut worker, ReadPattern::Sequential) else {
            return;
        };
        reads.next = reads.pieces - 2;
        let mut visited = Vec::new();
        for _ in 0..3 {
            reads.ready().expect("ready");
            visited.push(reads.next);
        }
        assert_eq!(visited, [BYTES / PAGE as u64 - 1, 0, 1]);
        reads.order = ReadPattern::Random;
        let random: std::collections::BTreeSet<u64> = (0..1000)
            .map(|_| {
                reads.ready().expect("ready");
                reads.next
            })
            .collect();
        assert!(random.len() > 300, "{}", random.len());
        assert!(random.iter().all(|&n| n < BYTES / PAGE as u64));
    }

    #[test]
    fn what_is_read_is_what_the_file_has_there() {
        let (_dir, mut worker) = testing::worker_with_files();
        let Some(mut reads) = reads(&mut worker, ReadPattern::Random) else {
            return;
        };
        reads.ready().expect("ready");
        reads.perform().expect("read");
        let content = std::fs::read(&reads.laid_out.path).expect("there");
        let at = reads.next as usize * PAGE;
        assert!(reads.buffer.as_slice() == &content[at..at + PAGE]);
    }

    #[test]
    fn what_speaks_against_storage() {
        let contradiction = |read, cached| said(read, cached).contradiction();
        assert_eq!(contradiction(Some(960), Some((4096, 0))), None);
        assert_eq!(contradiction(None, None), None);
        assert_eq!(
            contradiction(Some(940), Some((4096, 0))).as_deref(),
            Some("share of the bytes that came from storage: 94 %")
        );
        assert_eq!(
            contradiction(Some(1000), Some((8192, 4096))).as_deref(),
            Some("share of the file in the page cache: 50 %")
        );
    }

    fn said(read: Option<u64>, cached: Option<(u64, u64)>) -> Evidence {
        Evidence { requested: 1000, read, cached }
    }

    #[test]
    fn reads_that_are_not_counted_are_not_called_memory() {
        let refusal = |read, cached, device| {
            let why = said(read, cached).refusal(device);
            why.map(|why| why.contains("from memory"))
        };
        let (virtio, network) = (DeviceKind::Virtio, DeviceKind::Network);
        let (none, half) = (Some((8192, 0)), Some((8192, 4096)));
        assert_eq!(refusal(Some(1000), none, virtio), None);
        assert_eq!(refusal(None, none, network), None);
        assert_eq!(refusal(Some(0), none, network), Some(false));
        assert_eq!(refusal(Some(0), None, network), Some(false));
        assert_eq!(refusal(Some(0), half, network), Some(true));
        assert_eq!(refusal(Some(100), none, virtio), Some(true));
        assert_eq!(refusal(Some(0), none, DeviceKind::Memory), Some(true));
        let why = said(Some(0), none).refusal(network).expect("none counted");
        assert!(why.contains("served them; name a directory on a disk"), "{why}");
    }

    #[test]
    fn the_note_says_what_was_checked() {
        let notes = [
            said(Some(1000), Some((8192, 0))),
            said(None, Some((8192, 0))),
            said(Some(1000), None),
            said(None, None),
        ]
        .map(Evidence::evidence_note);
        let storage = notes.map(|note| note.contains("read from storage, unless marked"));
        assert_eq!(storage, [true, false, true, false]);
        let cache = notes.map(|note| note.contains("held none of the file"));
        assert_eq!(cache, [true, true, false, false]);
        let untold = notes.map(|note| note.contains("this system does not say"));
        assert_eq!(untold, [false, true, true, true]);
    }

    #[test]
    fn memory_that_served_it_contradicts() {
        let (_dir, mut worker) = testing::worker_with_files();
        let Some(reads) = reads(&mut worker, ReadPattern::Random) else {
            return;
        };
        // Counted from here on: the read that was made to try is behind it.
        assert!(reads.before_bytes.is_none_or(|bytes| bytes >= PAGE as u64));
        let path = reads.laid_out.path.clone();
        let mut work = Singles::new(reads);
        work.stamped(20).expect("read");
        assert_eq!(work.contradiction(), None);
        // Now the page cache has it.
        std::fs::read(&path).expect("there");
        work.stamped(20).expect("read");
        let why = work.contradiction().expect("it is in memory");
        assert!(why.starts_with("share of the file in the page cache: "), "{why}");
    }

    #[test]
    fn reads_that_reach_no_storage_are_refused() {
        let (_dir, mut worker) = testing::worker_with_files();
        let Some(reads) = reads(&mut worker, ReadPattern::Random) else {
            return;
        };
        // The same file through the page cache.
        let path = reads.laid_out.path.clone();
        std::fs::read(&path).expect("there");
        let laid_out = LaidOut { file: File::open(&path).expect("there"), bytes: BYTES, path };
        let why = Reads::new(&mut worker, laid_out, PAGE, ReadPattern::Random).err();
        let why = why.expect("memory serves it");
        // Other tests of this process may be reading from storage just now.
        assert!(
            why.to_string().starts_with("share of the ") && why.to_string().ends_with("--dir"),
            "{why}"
        );
    }
}
