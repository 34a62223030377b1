//! Looking a key up in a hash table.

use crate::engine::paired::DIFFERENCE;
use crate::engine::reason::Reason;
use fastrand::Rng;
use meter::probe::{Effort, MachineShape, Probe, Work, WorkError, WorkingSet};
use model::run::{Bound, Scale};
use std::collections::HashMap;

/// Keys of the small table: 1024 places of 17 bytes, half of any L1.
const FEW: usize = 512;
/// Lookups unrolled.
const LOOKUPS: usize = 8;
/// Different lookups in the large table, in the order of a sample; the
/// position is carried from sample to sample.
const ORDER: usize = 1 << 16;
/// A place of the table: key, value, and the byte that says what is there.
const PLACE_BYTES: u64 = 17;

pub(crate) fn hash_lookup_probes() -> Vec<Probe> {
    vec![
        Probe {
            variants: vec!["in_cache".into()],
            title: "lookup in a small hash table".into(),
            operation: "One lookup of a 64-bit key in a hash table of 512, always a hit.".into(),
            method: format!("{DIFFERENCE} The standard library's HashMap with its default hash (SipHash); the table of 17 KiB lies in L1. Keys in random order, laid down before; a lookup waits for none before, so that several overlap.").into(),
            make: Box::new(|worker, _| {
                let keys = Keys(worker.rng.u64(..));
                let mut order: Vec<u64> = (0..FEW as u64).map(|k| keys.key(k)).collect();
                worker.rng.shuffle(&mut order);
                Ok(Box::new(Lookups::new(keys.build_table(FEW, FEW), order, true)))
            }),
            ..hash_lookup_probe()
        },
        Probe {
            variants: vec!["out_of_cache".into()],
            title: "lookup in a hash table beyond the caches".into(),
            operation: "One lookup of a 64-bit key in a hash table of at least four times the last level (twice, where memory is short), always a hit.".into(),
            method: "A plain loop; the standard library's HashMap with its default hash (SipHash), three quarters full, each place 17 bytes. 65536 keys drawn at random, laid down before, the position carried from sample to sample; a lookup waits for none before, so that several misses overlap: the latency of one alone is closer to memory.latency.".into(),
            bound: Bound::Memory,
            since: Scale::Default,
            effort: Effort::of_memory(2, 8, WorkingSet::Largest, 2.0),
            unavailable: |machine| table_places(machine).err().map(|why| why.to_string()),
            make: Box::new(|worker, _| {
                let places = table_places(&worker.machine)?;
                let keys = Keys(worker.rng.u64(..));
                let count = places / 4 * 3;
                let order = draw_keys(&keys, count as u64, &mut worker.rng);
                let table = keys.build_table(count, places / 8 * 7);
                Ok(Box::new(Lookups::new(table, order, false)))
            }),
            ..hash_lookup_probe()
        },
    ]
}

fn hash_lookup_probe() -> Probe {
    Probe {
        source: "Ours: the standard library's table with its defaults.".into(),
        effort: Effort::visits(8),
        ..Probe::blank("collections.hash_lookup")
    }
}

/// Places of the large table, a power of two as the standard library has them.
fn table_places(machine: &MachineShape) -> Result<usize, WorkError> {
    let mut places = (4 * machine.last_level_bytes / PLACE_BYTES).next_power_of_two();
    while places * PLACE_BYTES > machine.largest_bytes {
        places /= 2;
    }
    if places * PLACE_BYTES < 2 * machine.last_level_bytes {
        return Err(Reason::wrong(format!(
            "a hash table of twice the last level ({}) does not fit into the memory that may be used",
            model::size::format_size(machine.last_level_bytes)
        )).into());
    }
    usize::try_from(places).map_err(|_| "no such address space".into())
}

/// Keys without a list of them: all different, since every step of the mixing
/// can be undone, and as good as random.
struct Keys(u64);

impl Keys {
    /// Key of this number: Steele's SplitMix64.
    fn key(&self, number: u64) -> u64 {
        let mut x = self.0 ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ x >> 31
    }

    /// A table of the first `count` keys, made for `capacity` at once; the
    /// value is the key's complement.
    fn build_table(&self, count: usize, capacity: usize) -> HashMap<u64, u64> {
        let mut table = HashMap::with_capacity(capacity);
        table.extend((0..count as u64).map(|k| (self.key(k), !self.key(k))));
        table
    }
}

fn draw_keys(keys: &Keys, count: u64, rng: &mut Rng) -> Vec<u64> {
    (0..ORDER).map(|_| keys.key(rng.u64(..count))).collect()
}

struct Lookups {
    table: HashMap<u64, u64>,
    /// Keys in the order of their lookups, a multiple of the unrolled ones.
    order: Vec<u64>,
    at: usize,
    short: bool,
    /// All ones as long as each lookup gave its key's complement.
    right: u64,
}

impl Lookups {
    fn new(table: HashMap<u64, u64>, order: Vec<u64>, short: bool) -> Lookups {
        Lookups { table, order, at: 0, short, right: u64::MAX }
    }

    #[inline(always)]
    fn look_up<const COUNT: usize>(&mut self, turns: u64) {
        for _ in 0..turns {
            if self.at + COUNT > self.order.len() {
                self.at = 0;
            }
            for key in &self.order[self.at..self.at + COUNT] {
                self.right &= self.table.get(key).map_or(0, |value| value ^ key);
            }
            self.at += COUNT;
        }
    }
}

impl Work for Lookups {
    fn ops_per_turn(&self) -> f64 {
        LOOKUPS as f64
    }
    fn paired(&self) -> bool {
        self.short
    }
    fn restore(&mut self) {
        if self.short {
            self.run(2 * (self.order.len() / LOOKUPS) as u64, false);
        }
    }
    fn run(&mut self, turns: u64, double: bool) {
        if double {
            self.look_up::<{ 2 * LOOKUPS }>(turns);
        } else {
            self.look_up::<LOOKUPS>(turns);
        }
    }
    fn verify(&self) -> Result<(), WorkError> {
        if self.right == u64::MAX {
            Ok(())
        } else {
            Err(Reason::wrong("a lookup did not find its key's value").into())
        }
    }
    fn notes(&self) -> Vec<String> {
        if self.short {
            return Vec::new();
        }
        let bytes = self.table.capacity() as u64 * 8 / 7 * PLACE_BYTES;
        vec![format!("size of the table: {}", model::size::about(bytes))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing;

    #[test]
    fn both_tables_are_looked_up() {
        for variant in ["in_cache", "out_of_cache"] {
            let row = format!("collections.hash_lookup/{variant}");
            testing::run_row(&hash_lookup_probes(), &row).expect("it runs");
        }
    }

    #[test]
    fn a_miss_is_noticed() {
        let keys = Keys(7);
        let order: Vec<u64> = (0..64).map(|k| keys.key(k)).collect();
        let mut lookups = Lookups::new(keys.build_table(64, 64), order.clone(), true);
        lookups.run(8, false);
        lookups.verify().expect("all there");
        let mut lookups = Lookups::new(keys.build_table(63, 64), order, true);
        lookups.run(8, false);
        lookups.verify().expect_err("the last is missing");
    }

    #[test]
    fn the_double_loop_looks_up_twice_as_many() {
        let keys = Keys(7);
        let order: Vec<u64> = (0..64).map(|k| keys.key(k)).collect();
        let mut lookups = Lookups::new(keys.build_table(64, 64), order, true);
        lookups.run(3, false);
        assert_eq!(lookups.at, 3 * LOOKUPS);
        lookups.run(1, true);
        assert_eq!(lookups.at, 5 * LOOKUPS);
    }

    #[test]
    fn keys_are_different_and_all_that_are_drawn_are_there() {
        let keys = Keys(1);
        let table = keys.build_table(10_000, 10_000);
        assert_eq!(table.len(), 10_000);
        let drawn = draw_keys(&keys, 10_000, &mut Rng::with_seed(1));
        assert!(drawn.iter().all(|key| table.contains_key(key)));
        let different: std::collections::HashSet<u64> = drawn.into_iter().collect();
        assert!(different.len() > 9900, "{}", different.len());
    }

    #[test]
    fn the_large_table_is_beyond_the_caches_or_not_there() {
        let sized = |last_level: u64, largest: u64| {
            let machine = MachineShape {
                last_level_bytes: last_level << 20,
                largest_bytes: largest << 20,
                ..testing::small_machine()
            };
            table_places(&machine).map(|places| (places as u64 * PLACE_BYTES) >> 20)
        };
        assert_eq!(sized(32, 256), Ok(136));
        assert_eq!(sized(32, 80), Ok(68));
        assert!(sized(32, 60).is_err());
        // The size is what the standard library really makes.
        let keys = Keys(1);
        let table = keys.build_table(48 << 10, (64 << 10) / 8 * 7);
        assert_eq!(table.capacity() * 8 / 7, 64 << 10);
    }
}
