//! Rings of stacks, one for each CPU.

use super::buffers::{Chunk, RING_BYTES, Traced, add_own, drain};
use crate::stacks::Reader;
use std::io;
use std::path::Path;
use sys::perf::{Capture, EventSource, PerfRing, RingError};

/// The rings, and what was read of them.
#[derive(Debug)]
pub(super) struct StackRings {
    pub(super) rings: Vec<(u32, PerfRing)>,
    chunks: Vec<Chunk>,
    reader: Box<Reader>,
}

/// A record is in its ring no later than this after its time.
const LATEST_NS: u64 = 1_000_000;
/// What is kept of each stack.
const KEPT_BYTES: u64 = size_of::<crate::event::Event>() as u64;
/// Most that is read of what a process has mapped: 65,530 mappings by default, most in lines of
/// 100 bytes.
pub(super) const MOST_MAPS: u64 = 64 << 20;

impl StackRings {
    pub(super) fn open(
        traced: &Traced,
        cpus: &[u32],
        capture: Capture,
    ) -> Result<StackRings, RingError> {
        let mut stacks = StackRings {
            rings: Vec::new(),
            chunks: Vec::new(),
            reader: Box::new(Reader::new(capture)),
        };
        let own = [EventSource::Stacks(capture)];
        let to = (&mut stacks.rings, &mut stacks.chunks);
        add_own(to.0, &RING_BYTES, to.1, cpus, &own, traced)?;
        if let Traced::Process(id) = *traced {
            // What is mapped from here on is recorded.
            let maps = maps_of(id, MOST_MAPS).map_err(RingError::Event)?;
            stacks.reader.add_maps(id, &maps);
        }
        Ok(stacks)
    }

    /// Reads what is there; how many bytes of it are kept.
    pub(super) fn drain(&mut self) -> u64 {
        let until_ns = sys::monotonic_raw_ns().saturating_sub(LATEST_NS);
        let before = self.reader.count();
        drain(&mut self.rings, &mut self.chunks);
        self.reader.read_rings(&self.chunks, until_ns);
        self.chunks.clear();
        (self.reader.count() - before) as u64 * KEPT_BYTES
    }

    pub(super) fn finish(mut self) -> io::Result<Box<Reader>> {
        for (_, ring) in &self.rings {
            ring.disable()?;
        }
        self.drain();
        Ok(self.reader)
    }
}

/// What a process has mapped, as `/proc/PID/maps` has it.
///
/// # Errors
/// What reading says, and that it is more than `limit` bytes.
pub(super) fn maps_of(id: u32, limit: u64) -> io::Result<String> {
    let path = format!("/proc/{id}/maps");
    let maps = sys::input::read_limited(Path::new(&path), limit)?;
    if maps.len() as u64 > limit {
        let why = format!("{path} is larger than {} MiB", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(String::from_utf8_lossy(&maps).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_read_up_to_a_limit() {
        let own = std::process::id();
        let maps = maps_of(own, MOST_MAPS).expect("readable");
        assert!(maps.contains("[stack]"), "{maps}");
        let error = maps_of(own, 100).expect_err("more than 100 bytes");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{error}");
    }
}
