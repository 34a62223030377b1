//! Work that waits for memory: a chase through more of it than the caches
//! hold, in which no address is known before the load of the last.

use super::JobReport;
use std::hint::black_box;
use std::io;

/// Words of a cache line of 64 bytes.
const WORDS: u64 = 8;

/// Memory that was written, ready to be chased through.
pub struct ChaseMemory {
    words: Vec<u64>,
    lines: u64,
}

impl ChaseMemory {
    /// Writes all of it.
    ///
    /// # Errors
    /// `InvalidInput` for a size that is no power of two or less than two
    /// lines.
    pub fn written(bytes: u64) -> io::Result<ChaseMemory> {
        let lines = bytes / (WORDS * 8);
        if !lines.is_power_of_two() || lines < 2 || !bytes.is_multiple_of(WORDS * 8) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the memory of a job is a power of two of bytes, 128 or more",
            ));
        }
        let words = vec![black_box(0x1405_7b7e_f767_814f_u64); (lines * WORDS) as usize];
        Ok(ChaseMemory { words, lines })
    }

    /// So many steps through it: the steps that were taken, and the line where
    /// they end.
    ///
    /// The lines are visited in the order of a linear congruential generator
    /// (Hull and Dobell, SIAM Rev. 4, 1962, 230-254: of full period for a power
    /// of two where the factor is 1 modulo 4 and the increment is odd), whose
    /// increment is what the line holds. So the order needs no preparation, and
    /// every line is visited once before any is visited again.
    pub fn chase(&self, steps: u64) -> (u64, u64) {
        const FACTOR: u64 = 0x5851_f42d_4c95_7f2d;
        let mut line = 0_u64;
        let mut done = 0;
        while done < steps {
            let held = self.words[(line * WORDS) as usize];
            line = line.wrapping_mul(FACTOR).wrapping_add(held) & (self.lines - 1);
            done += 1;
        }
        (done, line)
    }
}

/// Writes all the memory, then takes so many steps through it.
pub fn chase_memory(steps: u64, bytes: u64) -> io::Result<JobReport> {
    let (done, check) = ChaseMemory::written(bytes)?.chase(steps);
    Ok(JobReport { done, check, ..JobReport::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_visited_before_any_again() {
        let after = |steps| chase_memory(steps, 64 << 6).expect("64 lines").check;
        let mut seen: Vec<u64> = (1..=64).map(after).collect();
        assert_eq!(after(64), 0, "back at the first");
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 64);
        for odd in [0, 64, 96, 1000] {
            assert!(chase_memory(1, odd).is_err(), "{odd}");
        }
    }
}
