//! Numbers as bytes: seven bits in each, the lowest first, the eighth bit says
//! that more follow (LEB128).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate::compress_to_vec_zlib;
use std::collections::HashMap;
use std::hash::Hash;

/// zlib's own default.
const COMPRESSION_LEVEL: u8 = 6;

/// Numbers one after the other.
#[derive(Debug, Default)]
pub(super) struct Bytes(Vec<u8>);

/// A stretch of time in which one thing is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeStretch<T> {
    pub from_ns: u64,
    pub to_ns: u64,
    pub what: T,
}

impl Bytes {
    pub(super) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// How many times, and each as the time since the one before. They ascend;
    /// one that does not, in a document from elsewhere, becomes the one before.
    pub(super) fn times(&mut self, times_ns: impl ExactSizeIterator<Item = u64>) {
        self.number(times_ns.len() as u64);
        let mut last_ns = 0;
        for at_ns in times_ns {
            self.number(at_ns.saturating_sub(last_ns));
            last_ns = at_ns.max(last_ns);
        }
    }

    /// How many stretches, all their lengths, and what is so in all of them: alike
    /// numbers next to each other are compressed better.
    pub(super) fn stretches<T: Copy + Eq + Hash>(
        &mut self,
        stretches: &[TimeStretch<T>],
        dictionary: &mut Dictionary<T>,
    ) {
        self.number(stretches.len() as u64);
        for one in stretches {
            self.number(one.to_ns - one.from_ns);
        }
        for one in stretches {
            self.number(dictionary.number(one.what));
        }
    }

    /// Bytes that can be skipped.
    pub(super) fn within(&mut self, bytes: &Bytes) {
        self.number(bytes.0.len() as u64);
        self.0.extend(&bytes.0);
    }

    /// Compressed, as text.
    pub(super) fn packed(&self) -> String {
        STANDARD.encode(compress_to_vec_zlib(&self.0, COMPRESSION_LEVEL))
    }
}

/// Values by the order in which they come.
#[derive(Debug)]
pub(super) struct Dictionary<T>(HashMap<T, u64>);

impl<T> Default for Dictionary<T> {
    fn default() -> Dictionary<T> {
        Dictionary(HashMap::new())
    }
}

impl<T: Copy + Eq + Hash> Dictionary<T> {
    pub(super) fn number(&mut self, value: T) -> u64 {
        let next = self.0.len() as u64;
        *self.0.entry(value).or_insert(next)
    }

    /// The values in the order of their numbers.
    pub(super) fn values(&self) -> impl Iterator<Item = T> {
        let mut all: Vec<(T, u64)> = self.0.iter().map(|(value, at)| (*value, *at)).collect();
        all.sort_unstable_by_key(|(_, at)| *at);
        all.into_iter().map(|(value, _)| value)
    }
}

/// Stretches in the order of their time that fill a whole one, with `otherwise`
/// where none is. Of those that overlap, in a document from elsewhere, the first
/// goes on.
pub(super) fn contiguous<T: Copy>(
    from_ns: u64,
    to_ns: u64,
    stretches: &[TimeStretch<T>],
    otherwise: T,
) -> Vec<TimeStretch<T>> {
    let mut all = Vec::with_capacity(stretches.len() + 1);
    let mut at_ns = from_ns;
    let mut push = |to_ns: u64, what: T| {
        if to_ns > at_ns {
            all.push(TimeStretch { from_ns: at_ns, to_ns, what });
            at_ns = to_ns;
        }
    };
    for one in stretches {
        push(one.from_ns.min(to_ns), otherwise);
        push(one.to_ns.min(to_ns), one.what);
    }
    push(to_ns, otherwise);
    all
}
