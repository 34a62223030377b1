//! What a quiet block is like on this machine now: learned from short and long
//! alternating blocks, before the watching begins.

use super::machine::DetectorMachine;
use model::stats;

/// Turns of a block. With 32 adds each: 1024 cycles, a third of a
/// microsecond. Long against the counter's own 30 ns, short against the
/// shortest interrupt.
pub(super) const TURNS: u64 = 32;

/// A long block has so many times the turns.
const LONG: u64 = 3;

/// Pairs of blocks: together below 2 ms.
const PAIRS: usize = 1000;

/// Readings of each source, of which the median is its usual time.
const READINGS: usize = 9;

/// A quiet block, in ticks of the counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quiet {
    /// Its median.
    pub block: f64,
    /// Of that, what is not adds: long blocks less short ones have only adds.
    pub overhead: f64,
    /// From the 10 % to the 90 % quantile: how blocks differ without a detour.
    pub spread: f64,
}

impl Quiet {
    /// The longest block that is not a detour, where a quiet one takes `block`:
    /// twice that. So the clock may fall to half from one block to the next
    /// and makes no detour; and as much more as quiet blocks differ.
    pub fn limit(&self, block: f64) -> u64 {
        (2.0 * block + self.spread).ceil() as u64
    }
}

/// Runs blocks and learns. `None` where the counter does not advance.
pub(super) fn quiet_block(machine: &mut impl DetectorMachine) -> Option<Quiet> {
    let (mut blocks, mut overheads) = (Vec::with_capacity(PAIRS), Vec::with_capacity(PAIRS));
    for _ in 0..PAIRS {
        let t0 = machine.now();
        let t1 = machine.spin(TURNS);
        let t2 = machine.spin(LONG * TURNS);
        let (Some(short), Some(long)) = (step(t0, t1), step(t1, t2)) else {
            continue;
        };
        blocks.push(short as f64);
        overheads.push((LONG as f64 * short as f64 - long as f64) / (LONG - 1) as f64);
    }
    let blocks = stats::sorted(blocks);
    Some(Quiet {
        block: stats::quantile_sorted(&blocks, 0.5)?,
        overhead: stats::median(overheads)?,
        spread: stats::quantile_sorted(&blocks, 0.9)? - stats::quantile_sorted(&blocks, 0.1)?,
    })
}

/// Usual time of a reading, ticks.
pub(super) fn usual<M: DetectorMachine, T>(
    machine: &mut M,
    mut read: impl FnMut(&mut M) -> Option<T>,
) -> Option<u64> {
    let mut times = Vec::with_capacity(READINGS);
    for _ in 0..READINGS {
        let begin = machine.now();
        read(machine)?;
        times.extend(step(begin, machine.now()).map(|ticks| ticks as f64));
    }
    stats::median(times).map(|ticks| ticks as u64)
}

/// Ticks from one reading of the counter to the next, if it advanced.
pub(super) fn step(from: u64, to: u64) -> Option<u64> {
    let ticks = to.wrapping_sub(from).cast_signed();
    u64::try_from(ticks).ok().filter(|&ticks| ticks > 0)
}
