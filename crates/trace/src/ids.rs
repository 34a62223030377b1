//! Maps by the numbers of threads, of which a trace looks up several for each event.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map by numbers of threads.
pub(crate) type IdMap<V> = HashMap<u32, V, IdHashes>;

/// Hashes of one multiplication, in an order that no file can know.
#[derive(Clone, Copy, Debug)]
pub struct IdHashes(u64);

impl Default for IdHashes {
    fn default() -> IdHashes {
        IdHashes(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for IdHashes {
    type Hasher = IdHasher;

    fn build_hasher(&self) -> IdHasher {
        IdHasher(self.0)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write_u32(&mut self, number: u32) {
        // 2^64 by the golden ratio.
        const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15;
        let product = u128::from(self.0 ^ u64::from(number)) * FACTOR;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
