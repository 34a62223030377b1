//! What each control of the Linux scheduler does here: the recording of
//! `latlas qos knobs`.

use super::Setting;
use super::predict::{self, IDLE_WEIGHT, REAL_TIME_SHARE, Weights};
use crate::machine::Fact;
use crate::stats;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `latlas qos knobs` records.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct Knobs {
    /// CPUs that threads may use.
    pub cpus: Vec<u32>,
    /// Rounds that were planned.
    pub rounds: u32,
    /// Seed of the order in the rounds.
    pub seed: u64,
    /// Time over which shares are measured in a round.
    pub share_window_ns: u64,
    /// Time over which wake-ups are measured in a round.
    pub wakeup_window_ns: u64,
    /// Time between a small thread's wake-up and the next.
    pub period_ns: u64,
    /// Whether sessions have autogroups that act here.
    pub autogroups: Fact<bool>,
    /// Whether this was root.
    pub root: bool,
    /// I/O scheduler of each disk, as `vda mq-deadline`: some know no I/O priorities.
    pub io_schedulers: Fact<Vec<String>>,
    /// The knobs in the order of the table.
    pub knobs: Vec<KnobRow>,
}

/// What is turned for a group of threads.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Knob {
    /// Nothing.
    None,
    /// A part of a level.
    Part(Setting),
    /// SCHED_IDLE, in a session whose autogroup has this nice value.
    IdleWithAutogroup(i32),
    /// SCHED_FIFO with this priority.
    Fifo(u8),
    /// SCHED_RR with this priority.
    RoundRobin(u8),
    /// The first CPU only.
    OneCpu,
    /// Best-effort I/O priority of this level.
    IoBestEffort(u8),
    /// The idle I/O class.
    IoIdle,
    /// A control group with these CPU shares; 1024 is the default.
    GroupShares(u64),
    /// A control group with `cpu.idle`.
    GroupIdle,
}

/// Where the competitor runs.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Session {
    /// In the same session: threads compete.
    Same,
    /// In another one: with autogroups, sessions compete.
    Other,
}

impl Session {
    /// As in a table.
    pub fn text(self) -> &'static str {
        match self {
            Session::Same => "same",
            Session::Other => "other",
        }
    }
}

/// A knob with all that is known of it here.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct KnobRow {
    /// Which.
    pub knob: Knob,
    /// Where the competitor runs.
    pub session: Session,
    /// Why nothing was measured, if nothing was.
    pub not_available: Option<String>,
    /// Share of CPU time against as many default threads, one on one CPU.
    pub one_cpu: Shares,
    /// The same with a thread for each CPU on both sides, free to move.
    pub all_cpus: Shares,
    /// Wake-ups of a small thread that has it, while default threads keep all CPUs
    /// busy.
    pub of_small_thread: Wakes,
    /// Wake-ups of a small default thread, while threads that have it keep all CPUs
    /// busy.
    pub of_default_thread: Wakes,
    /// What this user may do.
    pub permission: Permission,
    /// What an unprivileged user may do, tried as uid 65534 where this was root.
    pub unprivileged: Fact<Permission>,
}

/// A share of CPU time.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct Shares {
    /// By the scheduler's weights; `None` where they don't say.
    pub predicted: Option<f64>,
    /// Measured, a round each.
    pub measured: Vec<f64>,
    /// The part of the CPUs' time that neither side had, a round each.
    pub of_others: Vec<f64>,
}

impl Shares {
    /// Median of the rounds.
    pub fn median(&self) -> Option<f64> {
        stats::median(self.measured.iter().copied())
    }

    /// Median part of the CPUs' time that neither side had.
    pub fn median_of_others(&self) -> Option<f64> {
        stats::median(self.of_others.iter().copied())
    }

    /// The lowest and the highest round.
    pub fn range(&self) -> Option<(f64, f64)> {
        let sorted = stats::sorted(self.measured.iter().copied());
        Some((*sorted.first()?, *sorted.last()?))
    }

    /// Points by which the median differs from what is predicted.
    pub fn points_off(&self) -> Option<f64> {
        Some((self.median()? - self.predicted?) * 100.0)
    }
}

/// How late a small thread woke up.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct Wakes {
    /// Wake-ups in all rounds.
    pub count: u64,
    /// Wake-ups that a thread which is never late has more: one that is late wakes up
    /// less often, and its percentiles look better than they are.
    pub missed: u64,
    /// Median, ns.
    pub p50_ns: Option<f64>,
    /// 99 % of them were earlier, ns; absent of fewer than 1000.
    pub p99_ns: Option<f64>,
    /// The latest, ns.
    pub max_ns: Option<f64>,
}

/// Wake-ups beyond a percentile from which on it is given: ten.
const LEAST_FOR_P99: usize = 1000;

impl Wakes {
    /// Of all wake-ups of a thread that would have had so many if it had never been late.
    pub fn of(late_ns: &[u64], never_late: u64) -> Wakes {
        let sorted = stats::sorted(late_ns.iter().map(|&ns| ns as f64));
        let p99 = (sorted.len() >= LEAST_FOR_P99).then(|| stats::quantile_sorted(&sorted, 0.99));
        Wakes {
            count: sorted.len() as u64,
            missed: never_late.saturating_sub(sorted.len() as u64),
            p50_ns: stats::quantile_sorted(&sorted, 0.5),
            p99_ns: p99.flatten(),
            max_ns: sorted.last().copied(),
        }
    }
}

/// What a user may do with a knob.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// Turning it.
    pub set: Tried,
    /// Turning it back; `None` where it could not be turned.
    pub undo: Option<Tried>,
}

/// What came of a try.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Tried {
    /// It was done, and read back where that is possible.
    Done,
    /// The system refused it: the name of its error.
    Refused(String),
    /// It was done without an error, and had no effect: what was read back.
    NoEffect(String),
}

impl Tried {
    /// As in a table.
    pub fn text(&self) -> &str {
        match self {
            Tried::Done => "yes",
            Tried::Refused(error) => error,
            Tried::NoEffect(_) => "no effect",
        }
    }
}

impl Knob {
    /// As in a table.
    pub fn text(self) -> String {
        match self {
            Knob::None => "none".into(),
            Knob::Part(setting) => setting.text(),
            Knob::IdleWithAutogroup(nice) => format!("SCHED_IDLE + autogroup {nice}"),
            Knob::Fifo(priority) => format!("SCHED_FIFO {priority}"),
            Knob::RoundRobin(priority) => format!("SCHED_RR {priority}"),
            Knob::OneCpu => "affinity to one CPU".into(),
            Knob::IoBestEffort(level) => format!("I/O best-effort {level}"),
            Knob::IoIdle => "I/O idle class".into(),
            Knob::GroupShares(shares) => format!("cgroup shares {shares}"),
            Knob::GroupIdle => "cgroup cpu.idle".into(),
        }
    }

    /// Whether its threads run before all ordinary ones.
    pub fn is_real_time(self) -> bool {
        matches!(self, Knob::Fifo(_) | Knob::RoundRobin(_))
    }

    /// What it acts on.
    pub fn scope(self) -> &'static str {
        match self {
            Knob::None => "-",
            Knob::Part(Setting::Autogroup(_)) => "session",
            Knob::IdleWithAutogroup(_) => "thread, session",
            Knob::GroupShares(_) | Knob::GroupIdle => "process",
            _ => "thread",
        }
    }

    /// The share of so many threads that have it against as many that don't, on so
    /// many CPUs, by the scheduler's weights.
    pub fn predicted(self, session: Session, cpus: u32, autogroups: bool) -> Option<f64> {
        let threads = cpus;
        let default = Weights {
            thread: predict::weight_of_nice(0),
            group: predict::weight_of_nice(0),
            threads,
        };
        let mut own = default;
        match self {
            Knob::None
            | Knob::IoBestEffort(_)
            | Knob::IoIdle
            | Knob::Part(Setting::Batch | Setting::SliceNs(_)) => {}
            Knob::Part(Setting::Nice(nice)) => own.thread = predict::weight_of_nice(nice),
            Knob::Part(Setting::Autogroup(nice)) => own.group = predict::weight_of_nice(nice),
            Knob::Part(Setting::Idle) => own.thread = IDLE_WEIGHT,
            Knob::IdleWithAutogroup(nice) => {
                own.thread = IDLE_WEIGHT;
                own.group = predict::weight_of_nice(nice);
            }
            Knob::Part(Setting::QosClass(_)) => return None,
            _ if self.is_real_time() => return Some(REAL_TIME_SHARE),
            Knob::Fifo(_) | Knob::RoundRobin(_) => {}
            // It has one CPU at most, and the competitor moves away from there.
            Knob::OneCpu => return (cpus > 1).then(|| 1.0 / f64::from(cpus)),
            // Outside of autogroups, the group competes with threads.
            Knob::GroupShares(_) | Knob::GroupIdle if !autogroups => return None,
            Knob::GroupShares(shares) => own.group = u32::try_from(shares).ok()?,
            Knob::GroupIdle => own.group = IDLE_WEIGHT,
        }
        let by_group = session == Session::Other && autogroups;
        predict::share(&own, &default, cpus, by_group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(knob: Knob, session: Session) -> f64 {
        let share = knob.predicted(session, 1, true).expect("it has weights");
        (share * 1e4).round() / 1e4
    }

    #[test]
    fn shares_by_weights() {
        let nice = |nice| Knob::Part(Setting::Nice(nice));
        let group = |nice| Knob::Part(Setting::Autogroup(nice));
        for (knob, same, other) in [
            (Knob::None, 0.5, 0.5),
            (nice(5), 0.2465, 0.5),
            (nice(10), 0.0970, 0.5),
            (nice(19), 0.0144, 0.5),
            (nice(-10), 0.9031, 0.5),
            (group(10), 0.5, 0.0970),
            (group(-10), 0.5, 0.9031),
            (Knob::Part(Setting::Batch), 0.5, 0.5),
            (Knob::Part(Setting::Idle), 0.0029, 0.5),
            (Knob::IdleWithAutogroup(19), 0.0029, 0.0144),
            (Knob::Part(Setting::SliceNs(100_000)), 0.5, 0.5),
            (Knob::GroupShares(100), 0.5, 0.0890),
            (Knob::GroupIdle, 0.5, 0.0029),
            (Knob::Fifo(10), 0.95, 0.95),
        ] {
            assert_eq!(predicted(knob, Session::Same), same, "{knob:?}");
            assert_eq!(predicted(knob, Session::Other), other, "{knob:?}");
        }
        // Without autogroups nice values weigh between sessions too.
        let share = nice(10).predicted(Session::Other, 2, false);
        assert_eq!(share.map(|share| (share * 1e3).round()), Some(97.0));
        assert_eq!(Knob::OneCpu.predicted(Session::Same, 1, true), None);
        assert_eq!(Knob::OneCpu.predicted(Session::Same, 4, true), Some(0.25));
        assert_eq!(Knob::GroupIdle.predicted(Session::Other, 1, false), None);
    }

    #[test]
    fn wakeups_that_are_missing_are_counted() {
        let wakes = Wakes::of(&[10, 30, 20, 4100], 6);
        assert_eq!((wakes.count, wakes.missed), (4, 2));
        assert_eq!(Wakes::of(&[1, 2], 1).missed, 0);
        assert_eq!((wakes.p50_ns, wakes.max_ns), (Some(25.0), Some(4100.0)));
        assert_eq!(wakes.p99_ns, None, "four are too few");
        let many: Vec<u64> = (0..=1000).collect();
        assert_eq!(Wakes::of(&many, 1001).p99_ns, Some(990.0));
        assert_eq!(Wakes::of(&[], 0), Wakes::default());
    }

    #[test]
    fn shares_of_rounds() {
        let shares = Shares {
            predicted: Some(0.1),
            measured: vec![0.12, 0.09, 0.11],
            of_others: vec![0.02, 0.0, 0.5],
        };
        assert_eq!(shares.median(), Some(0.11));
        assert_eq!(shares.median_of_others(), Some(0.02));
        assert_eq!(shares.range(), Some((0.09, 0.12)));
        assert!((shares.points_off().expect("both") - 1.0).abs() < 1e-9);
        assert_eq!(Shares::default().range(), None);
    }
}
