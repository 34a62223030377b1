//! The operation queue: blocks of a file, compressed by a fixed number of
//! operations at once.

use crate::codec::Compressor;
use crate::job::Order;
use crate::report::Record;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Blocks that wait.
pub(crate) struct Queue<'a> {
    order: &'a Order,
    file: &'a File,
    file_bytes: u64,
    next: AtomicU64,
}

/// What one thread did.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) records: Vec<Record>,
    pub(crate) bytes: u64,
    pub(crate) compressed_bytes: u64,
}

impl<'a> Queue<'a> {
    pub(crate) fn new(order: &'a Order, file: &'a File) -> io::Result<Queue<'a>> {
        let file_bytes = file.metadata()?.len();
        Ok(Queue {
            order,
            file,
            file_bytes,
            next: AtomicU64::new(0),
        })
    }

    /// Takes blocks until there are none, or the time is up.
    pub(crate) fn work(
        &self,
        thread: u32,
        compressor: &mut Compressor,
        block: &mut [u8],
        done: &mut Done,
    ) -> io::Result<()> {
        let per_file = self.file_bytes.div_ceil(self.order.block_bytes).max(1);
        let cpu = || sys::current_cpu().and_then(|cpu| u16::try_from(cpu).ok());
        let until_ns = self
            .order
            .for_ns
            .map(|ns| sys::monotonic_raw_ns().saturating_add(ns));
        let (mut begin_ns, mut cpu_ns) = (sys::monotonic_raw_ns(), thread_cpu_ns());
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
            done.compressed_bytes += match self.order.verify {
                true => compressor.verify(block)?,
                false => compressor.compress(block)?,
            } as u64;
            done.bytes += length as u64;
            let (end_ns, now_cpu_ns) = (sys::monotonic_raw_ns(), thread_cpu_ns());
            done.records.push(Record {
                begin_ns,
                end_ns,
                cpu_ns: now_cpu_ns.saturating_sub(cpu_ns),
                thread,
                from_cpu,
                to_cpu: cpu().unwrap_or(u16::MAX),
            });
            (begin_ns, cpu_ns) = (end_ns, now_cpu_ns);
        }
    }
}

fn thread_cpu_ns() -> u64 {
    sys::evidence::thread_cpu_ns().unwrap_or(0)
}
