//! Random numbers that are always the same ones: what is computed from a
//! document must come out alike twice.

/// Marsaglia's xorshift64* (Vigna, ACM Trans. Math. Softw. 42, 2016, 30). The
/// state must not be 0.
pub(crate) struct Xorshift(pub(crate) u64);

impl Xorshift {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 up to, and without, 1.
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Two values of the standard normal distribution (Box and Muller, Ann.
    /// Math. Statist. 29, 1958, 610-611).
    pub(crate) fn normals(&mut self) -> [f64; 2] {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        [radius * cos, radius * sin]
    }
}
