//! The packets of a file one after the other, those that are compressed together included.

use crate::foreign::{ForeignError, TraceInput};
use crate::perfetto::field::packet;
use crate::protobuf::{Fields, read_varint};
use std::rc::Rc;

/// A packet is not larger, compressed or not.
const LARGEST: usize = 64 << 20;
const READ_BYTES: usize = 1 << 20;

/// Where a part of a packet lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacketPlace {
    /// In the file: the packet, or the compressed one around it.
    at: u64,
    bytes: usize,
    /// In what is compressed.
    within: Option<(usize, usize)>,
    /// The part of that.
    part: (usize, usize),
}

impl PacketPlace {
    pub(super) fn part(self, from: usize, bytes: usize) -> PacketPlace {
        PacketPlace { part: (from, bytes), ..self }
    }

    /// Reads it. What was unpacked last is kept, since its neighbours lie in it, too.
    pub(super) fn fetch(
        self,
        input: &TraceInput,
        unpacked: &mut Option<(u64, Rc<Vec<u8>>)>,
    ) -> Result<Vec<u8>, ForeignError> {
        let read = |at: u64, bytes: usize| {
            let mut buffer = vec![0; bytes];
            let count = input.read_at(at, &mut buffer)?;
            if count < bytes { Err(ForeignError::CutOff) } else { Ok(buffer) }
        };
        let Some((from, bytes)) = self.within else {
            return read(self.at + self.part.0 as u64, self.part.1);
        };
        let all = match unpacked {
            Some((at, all)) if *at == self.at => Rc::clone(all),
            _ => {
                let packet = read(self.at, self.bytes)?;
                let all = compressed(&packet).and_then(unpack);
                let all = Rc::new(all.ok_or(ForeignError::Damaged("a packet can't be unpacked"))?);
                *unpacked = Some((self.at, Rc::clone(&all)));
                all
            }
        };
        let packet = all.get(from..from + bytes);
        let part = packet.and_then(|packet| packet.get(self.part.0..self.part.0 + self.part.1));
        part.map(<[u8]>::to_vec).ok_or(ForeignError::Damaged("a packet can't be unpacked"))
    }
}

#[derive(Clone, Copy)]
enum Compressed<'b> {
    Zlib(&'b [u8]),
    Zstd(&'b [u8]),
}

/// What of a packet is compressed.
fn compressed(packet: &[u8]) -> Option<Compressed<'_>> {
    Fields(packet).find_map(|(field, value)| match field {
        packet::COMPRESSED => Some(Compressed::Zlib(value.bytes())),
        packet::ZSTD_COMPRESSED => Some(Compressed::Zstd(value.bytes())),
        _ => None,
    })
}

fn unpack(packed: Compressed<'_>) -> Option<Vec<u8>> {
    match packed {
        Compressed::Zlib(packed) => {
            miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, LARGEST).ok()
        }
        Compressed::Zstd(packed) => {
            let size = zstd::bulk::Decompressor::upper_bound(packed).unwrap_or(LARGEST);
            zstd::bulk::decompress(packed, size.min(LARGEST)).ok()
        }
    }
}

/// The packets.
pub(super) struct Packets<'f> {
    input: &'f TraceInput,
    /// What of the file is read, and where that begins.
    read: Vec<u8>,
    read_at: u64,
    next: u64,
    packet: (u64, usize),
    /// What was unpacked, and the packet in it.
    unpacked: Vec<u8>,
    inner: (usize, usize),
    is_inner: bool,
    pub(super) is_cut_off: bool,
    pub(super) unread_bytes: u64,
}

impl<'f> Packets<'f> {
    pub(super) fn new(input: &'f TraceInput) -> Packets<'f> {
        Packets {
            input,
            read: Vec::new(),
            read_at: 0,
            next: 0,
            packet: (0, 0),
            unpacked: Vec::new(),
            inner: (0, 0),
            is_inner: false,
            is_cut_off: false,
            unread_bytes: 0,
        }
    }

    /// The packet that was gone to.
    pub(super) fn bytes(&self) -> &[u8] {
        match self.is_inner {
            true => &self.unpacked[self.inner.0..self.inner.0 + self.inner.1],
            false => self.of_file(self.packet),
        }
    }

    fn of_file(&self, (at, bytes): (u64, usize)) -> &[u8] {
        let from = (at - self.read_at) as usize;
        &self.read[from..from + bytes]
    }

    /// Goes to the next packet.
    ///
    /// # Errors
    /// If the file can't be read. What is cut off or damaged is counted.
    pub(super) fn advance(&mut self) -> Result<Option<PacketPlace>, ForeignError> {
        loop {
            if self.is_inner {
                let from = self.inner.0 + self.inner.1;
                if let Some((at, bytes)) = inner_packet(&self.unpacked, from) {
                    self.inner = (at, bytes);
                    let (at, bytes) = self.packet;
                    let part = (0, self.inner.1);
                    return Ok(Some(PacketPlace { at, bytes, within: Some(self.inner), part }));
                }
                self.is_inner = false;
            }
            if !self.packet()? {
                return Ok(None);
            }
            match compressed(self.of_file(self.packet)).map(unpack) {
                None => {
                    let (at, bytes) = self.packet;
                    return Ok(Some(PacketPlace { at, bytes, within: None, part: (0, bytes) }));
                }
                Some(Some(unpacked)) => {
                    self.unpacked = unpacked;
                    (self.inner, self.is_inner) = ((0, 0), true);
                }
                Some(None) => self.unread_bytes += self.packet.1 as u64,
            }
        }
    }

    /// Finds the next packet of the file; whether there is one.
    fn packet(&mut self) -> Result<bool, ForeignError> {
        /// A tag and a length take no more.
        const HEAD: usize = 20;
        loop {
            self.fill(HEAD)?;
            let head = &self.read[(self.next - self.read_at) as usize..];
            if head.is_empty() {
                return Ok(false);
            }
            let mut rest = head;
            let tag = read_varint(&mut rest);
            let length = read_varint(&mut rest).and_then(|n| usize::try_from(n).ok());
            let (Some(tag), Some(length)) = (tag, length.filter(|&n| n <= LARGEST)) else {
                return Ok(self.give_up(head.len() < HEAD));
            };
            // Other fields of the trace have a length, too.
            if tag & 7 != 2 {
                return Ok(self.give_up(false));
            }
            let taken = head.len() - rest.len();
            self.fill(taken + length)?;
            let from = self.next + taken as u64;
            if from + length as u64 > self.read_at + self.read.len() as u64 {
                return Ok(self.give_up(true));
            }
            self.next = from + length as u64;
            if tag >> 3 == 1 {
                self.packet = (from, length);
                return Ok(true);
            }
        }
    }

    fn give_up(&mut self, is_cut_off: bool) -> bool {
        self.unread_bytes += self.input.length().saturating_sub(self.next);
        self.is_cut_off |= is_cut_off;
        self.next = self.input.length();
        self.read.clear();
        self.read_at = self.next;
        false
    }

    /// Has so many bytes from the next one on in memory, or all that there are.
    fn fill(&mut self, bytes: usize) -> Result<(), ForeignError> {
        let begin = (self.next - self.read_at) as usize;
        if self.read.len() - begin >= bytes {
            return Ok(());
        }
        self.read.drain(..begin);
        self.read_at = self.next;
        let had = self.read.len();
        let wanted = bytes.max(READ_BYTES);
        self.read.resize(wanted, 0);
        let count = self.input.read_at(self.next + had as u64, &mut self.read[had..])?;
        self.read.truncate(had + count);
        Ok(())
    }
}

/// The next packet in what was compressed: where it lies.
fn inner_packet(unpacked: &[u8], mut from: usize) -> Option<(usize, usize)> {
    loop {
        let mut rest = unpacked.get(from..)?;
        let (tag, length) = (read_varint(&mut rest)?, read_varint(&mut rest)?);
        let length = usize::try_from(length).ok().filter(|&length| length <= rest.len())?;
        let at = unpacked.len() - rest.len();
        if tag == 0x0a {
            return Some((at, length));
        }
        from = at + length;
    }
}
