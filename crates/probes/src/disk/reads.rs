//! Reads of the laid-out file, and what the kernel says of them.

use super::laid_out::LaidOut;
use crate::singles::Single;
use fastrand::Rng;
use meter::bench::Bench;
use meter::scratch::reason;
use std::os::unix::fs::FileExt;
use sys::filesystem::{cached_bytes, read_from_storage_bytes};
use sys::pages::{Buffer, PageKind};

/// Share of what was asked for that must have come from storage.
const FROM_STORAGE: f64 = 0.95;

/// Where the next read goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Anywhere.
    Random,
    /// Where the one before ended.
    Sequential,
}

/// Reads of one size.
pub(super) struct Reads {
    laid_out: LaidOut,
    buffer: Buffer,
    order: Order,
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
        bench: &mut Bench,
        laid_out: LaidOut,
        bytes: usize,
        order: Order,
    ) -> Result<Reads, String> {
        let mut rng = bench.rng.fork();
        let pieces = laid_out.bytes / bytes as u64;
        let buffer = Buffer::new(bytes, PageKind::Base).map_err(|e| {
            format!(
                "no memory to read {} into: {e}",
                model::size::text(bytes as u64)
            )
        })?;
        let mut reads = Reads {
            next: rng.u64(..pieces.max(1)),
            laid_out,
            buffer,
            order,
            rng,
            pieces,
            before_bytes: None,
            notes: crate::file::filesystem_notes(bench),
        };
        reads.before_bytes = read_from_storage_bytes();
        reads.perform()?;
        if let Some(how) = reads.served_by_memory(1) {
            return Err(format!(
                "{how}: this file system serves direct reads from memory; name a directory on a disk with --dir"
            ));
        }
        reads.notes.push(
            "past this machine's page cache; the device's or a hypervisor's may still serve it"
                .into(),
        );
        reads.before_bytes = read_from_storage_bytes();
        Ok(reads)
    }

    /// How the kernel contradicts that so many reads since `before_bytes` came
    /// from storage, if it does.
    fn served_by_memory(&self, reads: u64) -> Option<String> {
        let asked = reads * self.buffer.len() as u64;
        let read = read_from_storage_bytes()
            .zip(self.before_bytes)
            .map(|(after, before)| after.saturating_sub(before));
        contradiction(asked, read, cached_bytes(&self.laid_out.file).ok())
    }
}

/// What speaks against storage's having served so many bytes: how many were
/// read from it, and how much of the file (its bytes, and those of them) is in
/// memory; each where the system tells.
fn contradiction(asked: u64, read: Option<u64>, cached: Option<(u64, u64)>) -> Option<String> {
    let share = |part: u64, whole: u64| part as f64 / whole as f64 * 100.0;
    if let Some(read) = read
        && (read as f64) < asked as f64 * FROM_STORAGE
    {
        let share = share(read, asked);
        return Some(format!(
            "share of the bytes that came from storage: {share:.0} %"
        ));
    }
    let (all, cached) = cached.filter(|&(_, cached)| cached > 0)?;
    let share = share(cached, all);
    Some(format!("share of the file in the page cache: {share:.1} %"))
}

impl Single for Reads {
    fn ready(&mut self) -> Result<(), String> {
        self.next = match self.order {
            Order::Random => self.rng.u64(..self.pieces),
            Order::Sequential => (self.next + 1) % self.pieces,
        };
        Ok(())
    }

    fn perform(&mut self) -> Result<(), String> {
        let bytes = self.buffer.len();
        let offset = self.next * bytes as u64;
        self.laid_out
            .file
            .read_exact_at(self.buffer.as_mut_slice(), offset)
            .map_err(|e| {
                let doing = format!("reading {}", model::size::text(bytes as u64));
                let scratch = self.laid_out.path.parent().unwrap_or(&self.laid_out.path);
                reason(&e, &doing, scratch)
            })
    }

    fn contradiction(&mut self, operations: u64) -> Option<String> {
        let found = self.served_by_memory(operations);
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
    use crate::singles::Singles;
    use crate::smoke;
    use meter::probe::Work;
    use std::fs::File;

    const PAGE: usize = 4096;
    const BYTES: u64 = 2 << 20;

    /// A file of two MiB; nothing where direct reads come from memory.
    fn reads(bench: &mut Bench, order: Order) -> Option<Reads> {
        let scratch = smoke::directory(bench);
        let made = LaidOut::in_directory(&scratch, BYTES, 1);
        let made = made.and_then(|laid_out| Reads::new(bench, laid_out, PAGE, order));
        match made {
            Err(why) if why.contains("name a directory on a disk") => {
                eprintln!("{why}: nothing is tested");
                None
            }
            reads => Some(reads.expect("room")),
        }
    }

    #[test]
    fn each_order_goes_its_way() {
        let (_dir, terrain) = smoke::with_files();
        let mut bench = Bench::new(terrain, 0, 0, 1);
        let Some(mut reads) = reads(&mut bench, Order::Sequential) else {
            return;
        };
        reads.next = reads.pieces - 2;
        let mut visited = Vec::new();
        for _ in 0..3 {
            reads.ready().expect("ready");
            visited.push(reads.next);
        }
        assert_eq!(visited, [BYTES / PAGE as u64 - 1, 0, 1]);
        reads.order = Order::Random;
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
        let (_dir, terrain) = smoke::with_files();
        let mut bench = Bench::new(terrain, 0, 0, 1);
        let Some(mut reads) = reads(&mut bench, Order::Random) else {
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
        assert_eq!(contradiction(1000, Some(960), Some((4096, 0))), None);
        assert_eq!(contradiction(1000, None, None), None);
        assert_eq!(
            contradiction(1000, Some(940), Some((4096, 0))).as_deref(),
            Some("share of the bytes that came from storage: 94 %")
        );
        assert_eq!(
            contradiction(1000, Some(1000), Some((8192, 4096))).as_deref(),
            Some("share of the file in the page cache: 50.0 %")
        );
    }

    #[test]
    fn memory_that_served_it_contradicts() {
        let (_dir, terrain) = smoke::with_files();
        let mut bench = Bench::new(terrain, 0, 0, 1);
        let Some(reads) = reads(&mut bench, Order::Random) else {
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
        assert!(
            why.starts_with("share of the file in the page cache: "),
            "{why}"
        );
    }

    #[test]
    fn reads_that_reach_no_storage_are_refused() {
        let (_dir, terrain) = smoke::with_files();
        let mut bench = Bench::new(terrain, 0, 0, 1);
        let Some(reads) = reads(&mut bench, Order::Random) else {
            return;
        };
        // The same file through the page cache.
        let path = reads.laid_out.path.clone();
        std::fs::read(&path).expect("there");
        let laid_out = LaidOut {
            file: File::open(&path).expect("there"),
            bytes: BYTES,
            path,
        };
        let why = Reads::new(&mut bench, laid_out, PAGE, Order::Random).err();
        let why = why.expect("memory serves it");
        // Other tests of this process may be reading from storage just now.
        assert!(
            why.starts_with("share of the ") && why.ends_with("--dir"),
            "{why}"
        );
    }
}
