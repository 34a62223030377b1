//! The values that the measured instructions work on: one set for every
//! architecture, so that their rows can be set side by side.
//!
//! Additions, multiplications and bitwise operations take the same time for
//! any normal value, so theirs only have to stay normal. The time of an
//! integer division depends on the size of its quotient on many cores, so the
//! divisions keep theirs at half the width of the type.

/// Added to, multiplied with and XOR-ed into a 32-bit chain. Odd, so that a
/// product never runs out into zero; dense, so that no core sees an easy case.
pub(crate) const DENSE_32: u32 = 0x9E37_79B9;
/// The same for 64 bits.
pub(crate) const DENSE_64: u64 = 0x9E37_79B9_7F4A_7C15;

/// `r = DIVIDEND_32 / r` toggles between [`DIVISOR_32`] and a neighbour:
/// LMbench's chain (`lat_ops`, integer div), where the divisor is the last
/// quotient and quotients have 16 bits.
pub(crate) const DIVIDEND_32: i32 = i32::MAX;
/// Where the 32-bit division chain starts; below the square root of the
/// dividend, which is what makes it toggle instead of drifting.
pub(crate) const DIVISOR_32: i32 = 41_003;
/// As [`DIVIDEND_32`], for quotients of 31 and 32 bits.
pub(crate) const DIVIDEND_64: i64 = (1 << 62) - 1;
/// Where the 64-bit division chain starts.
pub(crate) const DIVISOR_64: i64 = 2_000_000_011;

/// `r = (DIVIDEND_32 % r) | REMAINDER_FLOOR_32` keeps the next divisor at 16
/// bits (LMbench's chain, integer mod): without the OR the remainders shrink
/// to zero and the division traps.
pub(crate) const REMAINDER_FLOOR_32: i32 = 1 << 15;
/// The same for 64 bits: divisors of 31 bits.
pub(crate) const REMAINDER_FLOOR_64: i64 = 1 << 30;

/// Where a chain of additions or multiplications of floats starts.
pub(crate) const START_F32: f32 = 1.234_567_9;
/// The same for doubles.
pub(crate) const START_F64: f64 = 1.234_567_890_123_456_7;
/// Added, and then its negative: the sum goes up and comes back, for ever.
pub(crate) const ADDEND_F32: f32 = 2.718_281_7;
/// The same for doubles.
pub(crate) const ADDEND_F64: f64 = core::f64::consts::E;
/// Multiplied with, and then its inverse: the product goes up and comes back.
pub(crate) const FACTOR_F32: f32 = 1.618_034;
/// The inverse of [`FACTOR_F32`].
pub(crate) const INVERSE_F32: f32 = 1.0 / FACTOR_F32;
/// As [`FACTOR_F32`], for doubles.
pub(crate) const FACTOR_F64: f64 = 1.618_033_988_749_895;
/// The inverse of [`FACTOR_F64`].
pub(crate) const INVERSE_F64: f64 = 1.0 / FACTOR_F64;
/// `r = DIVIDEND_F32 / r` toggles, both values with full mantissas.
pub(crate) const DIVIDEND_F32: f32 = core::f32::consts::PI;
/// The same for doubles.
pub(crate) const DIVIDEND_F64: f64 = core::f64::consts::PI;

/// OR-ed into the double after each square root. A chain of square roots
/// alone runs into 1.0, the easiest operand of all; these bits put a dense
/// mantissa back (the value stays between 1.6 and 2).
pub(crate) const SQRT_FLOOR_F64: f64 = f64::from_bits(0x0009_E377_9B97_F4A7);

/// The double whose root the throughput row takes: as dense as the latency
/// row's, and of its size.
pub(crate) const RADICAND_F64: f64 = f64::from_bits(0x3FFA_6666_9B97_F4A7);

/// Ash's floating-point division: 1e8 / 42.3.
pub(crate) const ASH_F64: [f64; 2] = [1e8, 42.3];
/// Ash's integer division: 1000000000 / i.
pub(crate) const ASH_U64: u64 = 1_000_000_000;

/// A block for the copy of 16 bytes, which goes from and to its second half;
/// aligned, so that the copy lies within one cache line.
#[repr(C, align(64))]
pub(crate) struct CopyBlock(pub(crate) [u8; 32]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_divisors_toggle_and_keep_their_size() {
        let next = DIVIDEND_32 / DIVISOR_32;
        assert_ne!(next, DIVISOR_32);
        assert_eq!(DIVIDEND_32 / next, DIVISOR_32);
        assert!((1 << 15..1 << 16).contains(&next));
        let next = DIVIDEND_64 / DIVISOR_64;
        assert_ne!(next, DIVISOR_64);
        assert_eq!(DIVIDEND_64 / next, DIVISOR_64);
        assert!((1 << 30..1 << 32).contains(&next));
    }

    #[test]
    fn remainders_keep_their_size_and_vary() {
        let (mut narrow, mut wide) = (DIVISOR_32, DIVISOR_64);
        let (mut narrow_changes, mut wide_changes) = (0, 0);
        for _ in 0..100_000 {
            let next = (DIVIDEND_32 % narrow) | REMAINDER_FLOOR_32;
            narrow_changes += u32::from(next != narrow);
            narrow = next;
            assert!((1 << 15..1 << 16).contains(&narrow));
            let next = (DIVIDEND_64 % wide) | REMAINDER_FLOOR_64;
            wide_changes += u32::from(next != wide);
            wide = next;
            assert!((1 << 30..1 << 31).contains(&wide));
        }
        assert_eq!((narrow_changes, wide_changes), (100_000, 100_000));
    }

    #[test]
    fn floats_come_back() {
        let (mut sum, mut product, mut ratio) = (START_F32, START_F32, START_F32);
        let (mut wide_sum, mut wide_product, mut wide_ratio) = (START_F64, START_F64, START_F64);
        for _ in 0..1_000_000 {
            sum = sum + ADDEND_F32 - ADDEND_F32;
            product = product * FACTOR_F32 * INVERSE_F32;
            ratio = DIVIDEND_F32 / (DIVIDEND_F32 / ratio);
            wide_sum = wide_sum + ADDEND_F64 - ADDEND_F64;
            wide_product = wide_product * FACTOR_F64 * INVERSE_F64;
            wide_ratio = DIVIDEND_F64 / (DIVIDEND_F64 / wide_ratio);
        }
        for value in [sum, product, ratio] {
            assert!((value - START_F32).abs() < 1e-5, "{value}");
        }
        for value in [wide_sum, wide_product, wide_ratio] {
            assert!((value - START_F64).abs() < 1e-13, "{value}");
        }
    }

    #[test]
    fn square_roots_stay_dense() {
        let mut bits = START_F64.to_bits() | SQRT_FLOOR_F64.to_bits();
        for _ in 0..1000 {
            let value = f64::from_bits(bits);
            assert!(value > 1.6 && value < 2.0 && bits.count_ones() > 30);
            // `core` has no square root: Newton's three steps are near enough.
            let root = (0..5).fold(1.3, |root, _| (root + value / root) / 2.0);
            bits = root.to_bits() | SQRT_FLOOR_F64.to_bits();
        }
    }
}
