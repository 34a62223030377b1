//! What each control of the Linux scheduler does here: the recording of
//! `latlas qos knobs`.

use super::predict::{self, REAL_TIME_SHARE, Weights};
use super::{Outcome, Setting};
use crate::compare::finding::Finding;
use crate::interleaved::{self, Rounds};
use crate::machine::Fact;
use crate::stats;
use serde::{Deserialize, Deserializer, Serialize};

/// What `latlas qos knobs` records.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// What is turned for a group of threads: these settings, or nothing.
#[derive(Serialize, Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Knob(pub Vec<Setting>);

/// A knob as documents have it: its settings, and before those were a list, one of these.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredKnob {
    None,
    Part(Setting),
    IdleWithAutogroup(i32),
    #[serde(untagged)]
    One(Setting),
    #[serde(untagged)]
    All(Vec<Setting>),
}

impl<'de> Deserialize<'de> for Knob {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Knob, D::Error> {
        Ok(Knob(match StoredKnob::deserialize(from)? {
            StoredKnob::None => Vec::new(),
            StoredKnob::Part(setting) | StoredKnob::One(setting) => vec![setting],
            StoredKnob::IdleWithAutogroup(nice) => vec![Setting::IDLE, Setting::Autogroup(nice)],
            StoredKnob::All(settings) => settings,
        }))
    }
}

crate::words! {
    /// Where the competitor runs.
    #[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Session: text {
        /// In the same session: threads compete.
        Same = "same",
        /// In another one: with autogroups, sessions compete.
        Other = "other",
    }
}

/// A knob with all that is known of it here.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// A share may differ by this and be called the same.
const SAME: f64 = 0.05;

impl Knobs {
    /// What each knob does to the share on all CPUs, over that of no knob in the same session, round by round and
    /// judged together. Those that were not measured are not among them.
    pub fn share_effects(&self) -> Vec<ShareEffect<'_>> {
        let none = |session| {
            let is_it = |row: &&KnobRow| row.knob.0.is_empty() && row.session == session;
            self.knobs.iter().find(is_it)
        };
        let pairs = self.knobs.iter().filter_map(|row| {
            let is_measured = !row.knob.0.is_empty() && !row.all_cpus.measured.is_empty();
            Some((row, none(row.session)?)).filter(|_| is_measured)
        });
        let pairs: Vec<(&KnobRow, &KnobRow)> = pairs.collect();
        let effects = pairs.iter().map(|&(row, none)| {
            let [off, on] = [&none.all_cpus.measured, &row.all_cpus.measured];
            let ratios = Rounds(off, on).ratios();
            ShareEffect {
                row,
                ratio: ratios.and_then(stats::median),
                found: interleaved::finding(off, on, pairs.len(), SAME),
            }
        });
        effects.collect()
    }
}

/// What a knob does to the share of CPU time.
#[derive(Clone, Copy, Debug)]
pub struct ShareEffect<'k> {
    /// The knob.
    pub row: &'k KnobRow,
    /// Median over the rounds of the share with it over that without.
    pub ratio: Option<f64>,
    /// What may be said of it, with the interval where there are rounds enough.
    pub found: Finding,
}

/// How late a small thread woke up.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub fn from_delays(late_ns: &[u64], never_late: u64) -> Wakes {
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
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Permission {
    /// Turning it.
    pub set: Outcome,
    /// Turning it back; `None` where it could not be turned.
    pub undo: Option<Outcome>,
}

impl Knob {
    /// As in a table.
    pub fn label(&self) -> String {
        let texts: Vec<String> = self.0.iter().map(Setting::label).collect();
        match texts.is_empty() {
            true => "none".into(),
            // Short: a table has it.
            false => texts.join(" + ").replace(" + autogroup nice ", " + autogroup "),
        }
    }

    /// Whether it is this setting alone.
    pub fn is_one(&self, setting: &Setting) -> bool {
        self.0 == [setting.clone()]
    }

    /// Whether its threads run before all ordinary ones.
    pub fn is_real_time(&self) -> bool {
        self.0.iter().any(|setting| setting.real_time().is_some())
    }

    /// Whether it is a control group, which its process joins.
    pub fn is_group(&self) -> bool {
        self.0.iter().any(|s| matches!(s, Setting::GroupShares(_) | Setting::GroupIdle))
    }

    /// What it acts on.
    pub fn scope(&self) -> String {
        let scopes: Vec<&str> = self.0.iter().map(|setting| setting.row().acts_on).collect();
        match scopes.is_empty() {
            true => "-".into(),
            false => scopes.join(", "),
        }
    }

    /// The share of so many threads that have it against as many that don't, on so
    /// many CPUs, by the scheduler's weights.
    pub fn predicted(&self, session: Session, cpus: u32, autogroups: bool) -> Option<f64> {
        if self.is_real_time() {
            return Some(REAL_TIME_SHARE);
        }
        // It has one CPU at most, and the competitor moves away from there.
        if self.is_one(&Setting::OneCpu) {
            return (cpus > 1).then(|| 1.0 / f64::from(cpus));
        }
        // Outside of autogroups, the group competes with threads.
        if self.is_group() && !autogroups {
            return None;
        }
        let by_group = session == Session::Other && autogroups;
        let of = |settings: &[Setting]| Weights::from_settings(settings, cpus);
        predict::predicted_share(&of(&self.0), &of(&[]), cpus, by_group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Policy;

    fn predicted(knob: &Knob, session: Session) -> f64 {
        let share = knob.predicted(session, 1, true).expect("it has weights");
        (share * 1e4).round() / 1e4
    }

    #[test]
    fn shares_by_weights() {
        let nice = |nice| vec![Setting::Nice(nice)];
        let group = |nice| vec![Setting::Autogroup(nice)];
        for (settings, same, other) in [
            (vec![], 0.5, 0.5),
            (nice(5), 0.2465, 0.5),
            (nice(10), 0.0970, 0.5),
            (nice(19), 0.0144, 0.5),
            (nice(-10), 0.9031, 0.5),
            (group(10), 0.5, 0.0970),
            (group(-10), 0.5, 0.9031),
            (vec![Setting::BATCH], 0.5, 0.5),
            (vec![Setting::IDLE], 0.0029, 0.5),
            (vec![Setting::IDLE, Setting::Autogroup(19)], 0.0029, 0.0144),
            (vec![Setting::SliceNs(100_000)], 0.5, 0.5),
            (vec![Setting::GroupShares(100)], 0.5, 0.0890),
            (vec![Setting::GroupIdle], 0.5, 0.0029),
            (vec![Setting::Policy(Policy::Fifo(10))], 0.95, 0.95),
        ] {
            let knob = Knob(settings);
            assert_eq!(predicted(&knob, Session::Same), same, "{knob:?}");
            assert_eq!(predicted(&knob, Session::Other), other, "{knob:?}");
        }
        // Without autogroups nice values weigh between sessions too.
        let share = Knob(nice(10)).predicted(Session::Other, 2, false);
        assert_eq!(share.map(|share| (share * 1e3).round()), Some(97.0));
        let one_cpu = Knob(vec![Setting::OneCpu]);
        assert_eq!(one_cpu.predicted(Session::Same, 1, true), None);
        assert_eq!(one_cpu.predicted(Session::Same, 4, true), Some(0.25));
        let group = Knob(vec![Setting::GroupIdle]);
        assert_eq!(group.predicted(Session::Other, 1, false), None);
    }

    #[test]
    fn knobs_of_earlier_documents_are_read() {
        for (stored, settings) in [
            (r#""none""#, vec![]),
            (r#"{"part":{"nice":10}}"#, vec![Setting::Nice(10)]),
            (r#"{"part":"batch"}"#, vec![Setting::BATCH]),
            (r#"{"idle_with_autogroup":19}"#, vec![Setting::IDLE, Setting::Autogroup(19)]),
            (r#"{"fifo":10}"#, vec![Setting::Policy(Policy::Fifo(10))]),
            (r#""one_cpu""#, vec![Setting::OneCpu]),
            (r#""group_idle""#, vec![Setting::GroupIdle]),
            (r#"["idle",{"autogroup":19}]"#, vec![Setting::IDLE, Setting::Autogroup(19)]),
        ] {
            assert_eq!(serde_json::from_str::<Knob>(stored).expect(stored), Knob(settings));
        }
        assert!(serde_json::from_str::<Knob>(r#"{"turn":1}"#).is_err());
        let tried = r#"{"set":"done","undo":{"no_effect":"nice 0"}}"#;
        let read: Permission = serde_json::from_str(tried).expect("read");
        assert_eq!(read.set, Outcome::ReadBack);
        assert_eq!(read.undo, Some(Outcome::Differs("nice 0".into())));
    }

    #[test]
    fn wakeups_that_are_missing_are_counted() {
        let wakes = Wakes::from_delays(&[10, 30, 20, 4100], 6);
        assert_eq!((wakes.count, wakes.missed), (4, 2));
        assert_eq!(Wakes::from_delays(&[1, 2], 1).missed, 0);
        assert_eq!((wakes.p50_ns, wakes.max_ns), (Some(25.0), Some(4100.0)));
        assert_eq!(wakes.p99_ns, None, "four are too few");
        let many: Vec<u64> = (0..=1000).collect();
        assert_eq!(Wakes::from_delays(&many, 1001).p99_ns, Some(990.0));
        assert_eq!(Wakes::from_delays(&[], 0), Wakes::default());
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
