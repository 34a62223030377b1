//! The rules by which levels are found.

/// Fewest points of a level.
pub(super) const POINTS: usize = 4;
/// Narrowest level in octaves of working set: four points at four an octave,
/// also where they are at 1, 1.25, 1.5 and 1.75 times a power of two.
pub(super) const OCTAVES: f64 = 0.65;
/// Distance from the line, in log2 of time, where a point stops earning (15 %).
pub(super) const NEAR: f64 = 0.2;
/// Distance from where on a point lies apart, and more distance costs no more (32 %).
pub(super) const APART: f64 = 2.0 * NEAR;
/// What a stretch must earn.
pub(super) const PRICE: f64 = 2.0;
/// Steepest slope of a level: log2 of time per octave (23 % per octave).
pub(super) const SLOPE: f64 = 0.3;
/// Slope from which on a level is in doubt (15 % per octave).
pub(super) const LEANS: f64 = 0.2;
/// Largest rise of a level from end to end: log2 of time (1.52x).
pub(super) const RISE: f64 = 0.6;
/// Smallest step from the end of a level to the start of the next (1.4x).
pub(super) const STEP: f64 = 0.485;
/// What a point of a disputed stretch earns.
pub(super) const DISPUTED: f64 = 0.3;
/// Fewest points of a disputed stretch, and how many of them must be off the
/// monotone curve.
pub(super) const DISPUTED_POINTS: usize = 5;
pub(super) const DISPUTED_OFF: usize = 3;
/// Share of unsteady points from which on a level is in doubt.
pub(super) const DOUBT: f64 = 0.25;
/// Two gains this close are equal but for rounding: the earlier one wins.
pub(super) const ROUNDING: f64 = 1e-6;
/// A point whose interval's ends are farther apart than this is unsteady.
pub(super) const WIDE: f64 = 1.5;
/// DRAM is this much slower than the level before it,
pub(super) const DRAM_RATIO: f64 = 2.5;
/// and its working sets reach at least this size.
pub(super) const DRAM_BYTES: u64 = 64 << 20;
