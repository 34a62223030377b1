//! Fleets made up from recorded runs: a host differs from the median by normal or heavy-tailed factors of its own, and
//! its runs by what the recorded ones differed, all elements of one run together.

use model::fit::judge::{ANOTHER_MACHINE, NOT_QUIET, OUT_OF_RANGE, VerdictWithReason};
use model::fit::noise::Noise;
use model::fit::{Element, Vector};
use model::noise::osnoise::Cause;
use model::stats::median;

/// How hosts differ.
#[derive(Clone, Copy)]
pub struct World {
    /// As printed.
    pub name: &'static str,
    /// Standard deviation between hosts in the order of the elements, in percent.
    between_percent: [f64; 10],
    /// Degrees of freedom of Student's t for it; normal where absent.
    tails: Option<u32>,
    /// Of what recorded runs differ by.
    runs: f64,
}

/// The spreads are made up; from run to run they are recorded.
pub const WORLDS: [World; 3] = [
    World {
        name: "fixed clock",
        between_percent: [0.3, 0.02, 0.02, 0.05, 1.0, 1.0, 3.0, 1.0, 10.0, 0.2],
        tails: None,
        runs: 0.5,
    },
    World {
        name: "turbo, virtual machines",
        between_percent: [1.0, 0.02, 0.02, 0.05, 2.0, 1.5, 5.0, 2.0, 20.0, 0.3],
        tails: None,
        runs: 1.0,
    },
    World {
        name: "the same, heavy tails (t of 4)",
        between_percent: [1.0, 0.02, 0.02, 0.05, 2.0, 1.5, 5.0, 2.0, 20.0, 0.3],
        tails: Some(4),
        runs: 1.0,
    },
];

model::words! {
    /// What is wrong with a host.
    #[derive(Clone, Copy)]
    pub enum Wrong: text {
        /// L2 in 12 cycles instead of 14, as on the design before; the CPU calls itself the same.
        OlderCore = "L2 12 cycles",
        /// L1 in 5 cycles instead of 4.
        OtherVendor = "L1 5 cycles",
        /// Clock, L3, memory, core to core and disk slower by a tenth.
        All = "all 10 %",
        /// The clock alone.
        Clock = "clock 10 %",
        /// L3 and memory.
        Memory = "L3+memory 10 %",
        /// Memory alone.
        Dram = "memory 10 %",
        /// Half a CPU by a quota.
        Quota = "half, quota",
        /// Half a CPU to other programs.
        Shared = "half, others",
    }
}

impl Wrong {
    /// Whether the verdict names it. Half of the CPU that others took is named by *not quiet now*.
    pub fn is_named(self, verdict: VerdictWithReason) -> bool {
        match self {
            Wrong::OlderCore | Wrong::OtherVendor => verdict == ANOTHER_MACHINE,
            Wrong::Shared => verdict == NOT_QUIET,
            _ => verdict == OUT_OF_RANGE,
        }
    }

    /// The same host with it.
    pub fn applied_to(self, host: Vector) -> Vector {
        use Element::{Clock, CoreToCore, Disk, Dram, L1, L2, L3, Share};
        const SLOW: f64 = 1.1;
        let slow = |mut host: Vector, elements: &[Element]| {
            for &element in elements {
                multiply(&mut host, element, if element == Clock { 1.0 / SLOW } else { SLOW });
            }
            host
        };
        let half = |mut host: Vector| {
            multiply(&mut host, Share, 0.5);
            host
        };
        match self {
            Wrong::OlderCore => {
                let mut host = host;
                multiply(&mut host, L2, 12.0 / 14.0);
                host
            }
            Wrong::OtherVendor => {
                let mut host = host;
                multiply(&mut host, L1, 5.0 / 4.0);
                host
            }
            Wrong::All => slow(host, &[Clock, L3, Dram, CoreToCore, Disk]),
            Wrong::Clock => slow(host, &[Clock]),
            Wrong::Memory => slow(host, &[L3, Dram]),
            Wrong::Dram => slow(host, &[Dram]),
            Wrong::Quota => Vector { throttled_share: Some(0.5), ..half(host) },
            Wrong::Shared => Vector {
                noise: vec![Noise::Lost { share: 0.5, cause: Some(Cause::Scheduler) }],
                ..half(host)
            },
        }
    }
}

/// Multiplies an element, where it is known.
fn multiply(vector: &mut Vector, element: Element, factor: f64) {
    for (own, value) in &mut vector.elements {
        if *own == element {
            *value = value.clone().map(|value| value * factor);
        }
    }
}

/// Draws hosts and runs.
pub struct Fleets<'v> {
    recorded: &'v [Vector],
    medians: [f64; 10],
    world: World,
    random: fastrand::Rng,
    drawn: u64,
}

impl Fleets<'_> {
    /// Of this world, from these quiet runs.
    pub fn new(recorded: &[Vector], world: World, seed: u64) -> Fleets<'_> {
        let of = |element: Element| median(recorded.iter().filter_map(|v| v.value(element)));
        Fleets {
            recorded,
            medians: Element::ALL.map(|element| of(element).unwrap_or(f64::NAN)),
            world,
            random: fastrand::Rng::with_seed(seed),
            drawn: 0,
        }
    }

    /// So many runs on each of so many hosts.
    pub fn runs(&mut self, hosts: usize, runs: usize) -> Vec<Vector> {
        let mut all = Vec::with_capacity(hosts * runs);
        for _ in 0..hosts {
            let factors = self.factors();
            self.drawn += 1;
            all.extend((0..runs).map(|_| self.simulated_run(&factors)));
        }
        all
    }

    /// A run on one more host.
    pub fn host(&mut self) -> Vector {
        let factors = self.factors();
        self.drawn += 1;
        self.simulated_run(&factors)
    }

    fn factors(&mut self) -> [f64; 10] {
        let between = self.world.between_percent;
        between.map(|percent| (percent / 100.0 * self.random_normal()).exp())
    }

    /// The median of the recorded runs, times what a recorded run differs from it, times the host's factors.
    fn simulated_run(&mut self, factors: &[f64; 10]) -> Vector {
        let mut run = self.recorded[self.random.usize(..self.recorded.len())].clone();
        run.host = format!("host {}", self.drawn);
        for (place, element) in Element::ALL.into_iter().enumerate() {
            let middle = self.medians[place];
            let share = self.world.runs;
            for (own, value) in &mut run.elements {
                if *own == element {
                    *value = value
                        .clone()
                        .map(|value| middle * (value / middle).powf(share) * factors[place]);
                }
            }
        }
        run
    }

    /// A value of standard deviation 1.
    fn random_normal(&mut self) -> f64 {
        let normal = self.normal();
        match self.world.tails {
            None => normal,
            Some(df) => {
                let squares: f64 = (0..df).map(|_| self.normal().powi(2)).sum();
                let df = f64::from(df);
                normal / (squares / df).sqrt() / (df / (df - 2.0)).sqrt()
            }
        }
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.random.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.random.f64()).cos()
    }
}
