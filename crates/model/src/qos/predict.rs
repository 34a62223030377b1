//! Which share of the CPUs the kernel's weights give each of two jobs
//! (`sched_prio_to_weight`, `WEIGHT_IDLEPRIO`: kernel/sched/).
//!
//! It holds between two sessions only where nothing else runs in either: the
//! weight of an autogroup is divided among CPUs by load, so that any other thread
//! of the session takes part of it.

use super::{Part, Setting};

/// Weights of the nice values -20 to 19.
const WEIGHTS: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];

/// Weight of a thread with SCHED_IDLE.
pub const IDLE_WEIGHT: u32 = 3;

/// Shares of a thread that waits with real-time priority: the rest is for the
/// fair server (`sched_rt_runtime_us`).
pub const REAL_TIME_SHARE: f64 = 0.95;

/// Weight of a nice value; those beyond the range count as its ends.
pub fn weight_of_nice(nice: i32) -> u32 {
    WEIGHTS[(nice.clamp(-20, 19) + 20) as usize]
}

/// What the scheduler knows of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Of each thread.
    pub thread: u32,
    /// Of its session's autogroup.
    pub group: u32,
    /// Threads that want a CPU.
    pub threads: u32,
}

impl Weights {
    /// Of so many threads that have these settings.
    pub fn from_settings<'a>(
        settings: impl IntoIterator<Item = &'a Setting>,
        threads: u32,
    ) -> Weights {
        let mut weights = Weights { thread: weight_of_nice(0), group: weight_of_nice(0), threads };
        let mut idle = false;
        for setting in settings {
            match setting {
                Setting::Nice(nice) => weights.thread = weight_of_nice(*nice),
                Setting::Autogroup(nice) => weights.group = weight_of_nice(*nice),
                Setting::GroupShares(shares) => {
                    weights.group = u32::try_from(*shares).unwrap_or(u32::MAX);
                }
                Setting::GroupIdle => weights.group = IDLE_WEIGHT,
                other => idle |= *other == Setting::IDLE,
            }
        }
        // SCHED_IDLE has no nice value.
        if idle {
            weights.thread = IDLE_WEIGHT;
        }
        weights
    }

    /// Of the parts that hold.
    pub fn of_parts(parts: &[Part], threads: u32) -> Weights {
        let held = parts.iter().filter(|part| part.holds());
        Weights::from_settings(held.map(|part| &part.setting), threads)
    }

    /// What the job weighs as a whole. Within an autogroup the threads share its
    /// weight, whatever their own.
    fn whole(&self, autogroups: bool) -> f64 {
        match autogroups {
            true => f64::from(self.group),
            false => f64::from(self.thread) * f64::from(self.threads),
        }
    }
}

/// The first job's share of the CPU time that both get while both run on so many
/// CPUs. No thread uses more than one CPU: what a job can't use, the other has.
pub fn predicted_share(own: &Weights, other: &Weights, cpus: u32, autogroups: bool) -> Option<f64> {
    let cpus = f64::from(cpus);
    let most = [own, other].map(|job| f64::from(job.threads).min(cpus));
    let weights = [own, other].map(|job| job.whole(autogroups));
    let sum = weights[0] + weights[1];
    if sum <= 0.0 || cpus < 1.0 {
        return None;
    }
    let fair = weights.map(|weight| cpus * weight / sum);
    let got = match (fair[0] > most[0], fair[1] > most[1]) {
        (true, _) => [most[0], (cpus - most[0]).min(most[1])],
        (_, true) => [(cpus - most[1]).min(most[0]), most[1]],
        _ => fair,
    };
    Some(got[0] / (got[0] + got[1]))
}
