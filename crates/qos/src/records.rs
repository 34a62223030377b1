//! What a job notes of each block. The blocks of 10 GB are 40,000: they are kept in
//! 26 bytes each, as they are sent, and looked at one after the other.

use model::residency::WorkBlock;
use std::io::{self, Read, Write};

/// One block. Times of CLOCK_MONOTONIC_RAW, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockRecord {
    /// When it was taken from the queue.
    pub begin_ns: u64,
    /// When it was compressed.
    pub end_ns: u64,
    /// CPU time of its thread for it.
    pub cpu_ns: u64,
    pub thread: u16,
    /// How often the thread moved at most: its context switches. `None` where they
    /// are not counted by thread.
    pub most_moves: Option<u16>,
    /// CPU at the beginning; [`u16::MAX`] if not known.
    pub from_cpu: u16,
    /// CPU at the end.
    pub to_cpu: u16,
    /// What [`crate::clock::ADDITIONS`] took then, ns; 0 if not known.
    pub additions_ns: u32,
}

impl BlockRecord {
    /// For the residency.
    pub fn block(&self) -> WorkBlock {
        let [begin_cpu, end_cpu] = [self.from_cpu, self.to_cpu].map(u32::from);
        WorkBlock {
            thread: u32::from(self.thread),
            begin_cpu,
            end_cpu,
            cpu_ns: self.cpu_ns,
            most_moves: self.most_moves.map(u64::from),
            clock_hz: crate::clock::hz(self.additions_ns),
        }
    }
}

/// Bytes of a block: all but its beginning, which is the end of the one before.
const BYTES: usize = 26;
/// Bytes before the blocks of a thread: when its first began, and their number.
const HEAD_BYTES: usize = 16;
/// Stands for a count that is not known.
const NOT_COUNTED: u16 = u16::MAX;

/// The blocks of one thread, each of which begins when the one before ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    thread: u16,
    begin_ns: u64,
    bytes: Vec<u8>,
}

impl Records {
    /// Notes the thread, and when its first block begins.
    pub fn begin_thread(&mut self, thread: u16, begin_ns: u64) {
        (self.thread, self.begin_ns) = (thread, begin_ns);
    }

    /// Room for so many blocks more.
    pub fn reserve(&mut self, blocks: usize) {
        self.bytes.reserve(blocks.saturating_mul(BYTES));
    }

    /// Notes the next block; its thread and beginning follow from those before.
    pub fn push(&mut self, record: &BlockRecord) {
        let moves = record.most_moves.unwrap_or(NOT_COUNTED);
        self.bytes.extend(record.end_ns.to_le_bytes());
        self.bytes.extend(record.cpu_ns.to_le_bytes());
        for two in [moves, record.from_cpu, record.to_cpu] {
            self.bytes.extend(two.to_le_bytes());
        }
        self.bytes.extend(record.additions_ns.to_le_bytes());
    }

    pub fn len(&self) -> usize {
        self.bytes.len() / BYTES
    }

    /// As they are sent.
    pub fn send(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.begin_ns.to_le_bytes())?;
        out.write_all(&(self.len() as u64).to_le_bytes())?;
        out.write_all(&self.bytes)
    }

    /// Those of a thread, from what was sent.
    pub fn receive(thread: u16, sent: &mut impl Read) -> io::Result<Records> {
        let mut head = [0; HEAD_BYTES];
        sent.read_exact(&mut head)?;
        let length = number_from_bytes(&head[8..]).saturating_mul(BYTES as u64);
        let mut bytes = Vec::new();
        sent.by_ref().take(length).read_to_end(&mut bytes)?;
        match bytes.len() as u64 == length {
            true => Ok(Records { thread, begin_ns: number_from_bytes(&head[..8]), bytes }),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = BlockRecord> + '_ {
        let mut begin_ns = self.begin_ns;
        self.bytes.chunks_exact(BYTES).map(move |bytes| {
            let two = |from| number_from_bytes(&bytes[from..from + 2]) as u16;
            let record = BlockRecord {
                begin_ns,
                end_ns: number_from_bytes(&bytes[..8]),
                cpu_ns: number_from_bytes(&bytes[8..16]),
                thread: self.thread,
                most_moves: Some(two(16)).filter(|&moves| moves != NOT_COUNTED),
                from_cpu: two(18),
                to_cpu: two(20),
                additions_ns: number_from_bytes(&bytes[22..]) as u32,
            };
            begin_ns = record.end_ns;
            record
        })
    }
}

/// A number of at most 8 bytes.
fn number_from_bytes(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(eight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        let record = |thread, begin_ns: u64, most_moves| BlockRecord {
            begin_ns,
            end_ns: begin_ns + 7,
            cpu_ns: 6,
            thread,
            most_moves,
            from_cpu: 3,
            to_cpu: 8000,
            additions_ns: 1000,
        };
        let all = [
            [record(0, 1 << 40, Some(0)), record(0, (1 << 40) + 7, None)],
            [record(1, 9, Some(2)), record(1, 16, Some(0xff))],
        ];
        let mut sent = Vec::new();
        for of_thread in &all {
            let mut records = Records::default();
            records.begin_thread(of_thread[0].thread, of_thread[0].begin_ns);
            for record in of_thread {
                records.push(record);
            }
            records.send(&mut sent).expect("memory");
        }
        let mut rest = &sent[..];
        for (thread, of_thread) in all.iter().enumerate() {
            let came = Records::receive(thread as u16, &mut rest).expect("whole");
            assert_eq!(came.len(), 2);
            assert_eq!(came.iter().collect::<Vec<_>>(), of_thread);
        }
        assert!(rest.is_empty());
        for cut in 0..HEAD_BYTES + 2 * BYTES {
            assert!(Records::receive(0, &mut &sent[..cut]).is_err(), "{cut}");
        }
        assert!(Records::receive(0, &mut &[0xff; 64][..]).is_err(), "too many");
    }
}
