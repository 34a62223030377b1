//! Times of new processes on a shared and on a quiet machine.

use super::random::Random;

/// SlotNoise of one machine.
#[derive(Clone, Debug)]
pub struct SlotNoise {
    random: Random,
    /// Share of the processes that are disturbed from beginning to end,
    disturbed: f64,
    /// which take longer by at most this share.
    by: f64,
    /// What the others take longer, on average.
    floor: f64,
    /// Standard deviation of all.
    deviation: f64,
}

impl SlotNoise {
    /// Of a virtual machine whose neighbours slow two of five processes down throughout: medians of the same
    /// program differ by a tenth.
    pub fn of_shared_machine(seed: u64) -> SlotNoise {
        SlotNoise { random: Random(seed), disturbed: 0.4, by: 0.9, floor: 0.003, deviation: 0.0 }
    }

    /// Of a machine whose noise has two sides, as that of layouts.
    pub fn of_quiet_machine(seed: u64, deviation: f64) -> SlotNoise {
        SlotNoise { random: Random(seed), disturbed: 0.0, by: 0.0, floor: 0.0, deviation }
    }

    /// The shortest sample of a process whose operation takes so long, ns.
    pub fn slot_ns(&mut self, true_ns: f64) -> f64 {
        let slow = match self.random.share() < self.disturbed {
            true => 0.02 + self.by * self.random.share(),
            false => -self.floor * self.random.share().max(1e-300).ln(),
        };
        true_ns * (1.0 + slow) * (1.0 + self.deviation * self.random.normal())
    }

    /// Its samples, ns per operation.
    pub fn samples_ns(&mut self, true_ns: f64, samples: u32) -> Vec<f64> {
        let shortest = self.slot_ns(true_ns);
        let lowest = self.random.share() * f64::from(samples);
        let above = |random: &mut Random| 1.0 - 0.02 * random.share().max(1e-300).ln();
        (0..samples)
            .map(|at| match at == lowest as u32 {
                true => shortest,
                false => shortest * above(&mut self.random),
            })
            .collect()
    }
}
