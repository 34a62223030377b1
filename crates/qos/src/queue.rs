//! The operation queue: blocks of a file, compressed by a fixed number of
//! operations at once.

use crate::clock::additions_ns;
use crate::codec::Compressor;
use crate::records::{BlockRecord, Records};
use crate::report::JobOrder;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::evidence::thread_migrations;

/// Blocks that wait.
pub(crate) struct Queue<'a> {
    order: &'a JobOrder,
    file: &'a File,
    file_bytes: u64,
    next: AtomicU64,
}

/// What one thread did.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) records: Records,
    pub(crate) bytes: u64,
    pub(crate) compressed_bytes: u64,
}

impl<'a> Queue<'a> {
    pub(crate) fn new(order: &'a JobOrder, file: &'a File) -> io::Result<Queue<'a>> {
        let file_bytes = file.metadata()?.len();
        Ok(Queue { order, file, file_bytes, next: AtomicU64::new(0) })
    }

    /// Takes blocks until there are none, or the time is up.
    pub(crate) fn work(
        &self,
        thread: u16,
        compressor: &mut Compressor,
        block: &mut [u8],
        done: &mut Done,
    ) -> io::Result<()> {
        let per_file = self.file_bytes.div_ceil(self.order.block_bytes).max(1);
        let cpu = || sys::current_cpu().and_then(|cpu| u16::try_from(cpu).ok());
        let (mut switches, mut migrations) = (thread_switches(), thread_migrations());
        let until_ns = self.order.for_ns.map(|ns| sys::monotonic_raw_ns().saturating_add(ns));
        let (mut begin_ns, mut cpu_ns) = (sys::monotonic_raw_ns(), thread_cpu_ns());
        done.records.begin_thread(thread, begin_ns);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.order.blocks || until_ns.is_some_and(|until| begin_ns >= until) {
                return Ok(());
            }
            let from_cpu = cpu().unwrap_or(u16::MAX);
            let offset = number % per_file * self.order.block_bytes;
            let length = (self.file_bytes - offset).min(self.order.block_bytes) as usize;
            let block = &mut block[..length];
            self.file.read_exact_at(block, offset)?;
            let compressed = match self.order.verify {
                true => compressor.verify(block),
                false => compressor.compress(block),
            };
            let in_block =
                |error: io::Error| io::Error::new(error.kind(), format!("block {number}: {error}"));
            done.compressed_bytes += compressed.map_err(in_block)? as u64;
            done.bytes += length as u64;
            let (end_ns, now_cpu_ns) = (sys::monotonic_raw_ns(), thread_cpu_ns());
            let to_cpu = cpu().unwrap_or(u16::MAX);
            // After this CPU was read, and before that of the next block is: a move is
            // missed only in the microsecond since its CPU time was.
            let now_switches = thread_switches();
            let mut moves = now_switches.zip(switches).map(|(now, before)| now - before);
            // Slow to read: only where switches leave it open. Those of earlier blocks
            // since the last reading count too.
            if moves.is_none_or(|moves| moves > 1) {
                let now = thread_migrations();
                let migrated = now.zip(migrations).map(|(now, before)| now - before);
                moves = match (moves, migrated) {
                    (Some(switches), Some(migrated)) => Some(switches.min(migrated)),
                    (switches, migrated) => switches.or(migrated),
                };
                migrations = now;
            }
            done.records.push(&BlockRecord {
                begin_ns,
                end_ns,
                cpu_ns: now_cpu_ns.saturating_sub(cpu_ns),
                thread,
                from_cpu,
                to_cpu,
                most_moves: moves.and_then(|moves| u16::try_from(moves).ok()),
                additions_ns: additions_ns(),
            });
            (begin_ns, cpu_ns, switches) = (end_ns, now_cpu_ns, now_switches);
        }
    }
}

fn thread_cpu_ns() -> u64 {
    sys::evidence::thread_cpu_ns().unwrap_or(0)
}

/// How often the thread left its CPU: it moves at most as often.
fn thread_switches() -> Option<u64> {
    let switches = sys::evidence::thread_switches()?;
    Some(switches.voluntary + switches.involuntary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::qos::Codec;

    #[test]
    fn a_damaged_block_ends_the_work_with_its_number() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        let mut random = fastrand::Rng::with_seed(1);
        let bytes: Vec<u8> = (0..3000).map(|_| random.u8(..)).collect();
        std::fs::write(&path, bytes).expect("room");
        let order = JobOrder {
            file: path.clone(),
            block_bytes: 1000,
            blocks: 3,
            for_ns: None,
            codec: Codec::Lz4,
            operations: 1,
            settings: Vec::new(),
            verify: true,
        };
        let file = File::open(&path).expect("the file");
        let mut compressor = Compressor::new(order.codec, 1000).expect("LZ4");
        let work = |compressor: &mut Compressor| {
            let queue = Queue::new(&order, &file)?;
            let mut done = Done::default();
            queue.work(0, compressor, &mut [0; 1000], &mut done)?;
            Ok::<_, io::Error>(done)
        };
        let done = work(&mut compressor).expect("whole");
        assert_eq!(done.records.len(), 3);
        assert!(done.records.iter().all(|record| record.from_cpu != u16::MAX));
        if cfg!(target_os = "linux") {
            assert!(done.records.iter().all(|of| of.most_moves.is_some()));
        }
        compressor.damaged = Some(500);
        let error = work(&mut compressor).map(|done| done.bytes);
        assert_eq!(
            error.expect_err("damaged").to_string(),
            "block 0: not the same after decompression"
        );
    }
}
