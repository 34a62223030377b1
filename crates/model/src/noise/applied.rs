//! What was set for the processes of a run, and for no others.

pub use crate::setting::Policy;
use crate::setting::Setting;
use serde::{Deserialize, Serialize};

/// The controls that the measuring processes (the workers of a run, the
/// commands of `exec`) ran under. Nothing of it outlives them.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Applied {
    /// What was asked for, by the user or by default.
    pub asked: Settings,
    /// What the kernel granted: read back in the measuring processes, or for
    /// commands in a child that got the same just before. Also what was
    /// not asked for.
    pub granted: Settings,
    /// Why something that was asked for was not granted, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// Whether all dirty pages were written back and the whole page cache was
    /// dropped before the first visit. Commands have it in their own record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub page_cache_dropped: bool,
}

/// Controls of a process: those that were asked for, or all that it has, as
/// far as the system tells. Absent: not asked for, or not known.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settings {
    /// The only CPUs it may run on, rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// Whether it leads a session of its own, or is to; where the kernel has
    /// autogroups, that makes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_session: Option<bool>,
    /// Nice value of its autogroup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autogroup: Option<i32>,
    /// Its own nice value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nice: Option<i32>,
    /// How it is scheduled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Slack of its timers, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_slack_ns: Option<u64>,
    /// Whether it may get transparent huge pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages: Option<bool>,
    /// The CPUs of the shield that it was to be in: from there others were
    /// moved away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shield: Vec<u32>,
    /// Its cpuset, as `/proc/PID/cpuset` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpuset: Option<String>,
}

impl Settings {
    /// Each that is there, in the order in which they are set.
    pub fn each(&self) -> Vec<Setting> {
        let cpus = Some(&self.cpus).filter(|cpus| !cpus.is_empty());
        let all = [
            cpus.map(|cpus| Setting::Cpus(cpus.clone())),
            self.own_session.map(Setting::OwnSession),
            self.nice.map(Setting::Nice),
            self.autogroup.map(Setting::Autogroup),
            self.policy.map(Setting::Policy),
            self.timer_slack_ns.map(Setting::TimerSlackNs),
            self.transparent_huge_pages.map(Setting::TransparentHugePages),
        ];
        all.into_iter().flatten().collect()
    }

    /// One of each that can be here, with whatever value.
    pub fn one_of_each() -> Vec<Setting> {
        let all = Settings {
            cpus: vec![0],
            own_session: Some(true),
            autogroup: Some(0),
            nice: Some(0),
            policy: Some(Policy::Other),
            timer_slack_ns: Some(0),
            transparent_huge_pages: Some(true),
            ..Settings::default()
        };
        all.each()
    }

    /// Puts one of them in.
    pub fn put(&mut self, setting: Setting) {
        match setting {
            Setting::Cpus(cpus) => self.cpus = cpus,
            Setting::OwnSession(own) => self.own_session = Some(own),
            Setting::Nice(nice) => self.nice = Some(nice),
            Setting::Autogroup(nice) => self.autogroup = Some(nice),
            Setting::Policy(policy) => self.policy = Some(policy),
            Setting::TimerSlackNs(ns) => self.timer_slack_ns = Some(ns),
            Setting::TransparentHugePages(may) => self.transparent_huge_pages = Some(may),
            _ => {}
        }
    }
}

impl Applied {
    /// What was asked for, and what came of it, where that is something else.
    pub fn new(asked: Settings, granted: Settings) -> Applied {
        let refused = differing(&asked, &granted);
        Applied { asked, granted, refused, page_cache_dropped: false }
    }

    /// The controls that the processes had, in words: what was asked for, and
    /// what they had from elsewhere that an ordinary process has not.
    pub fn in_force(&self) -> Vec<String> {
        let Applied { asked, granted, .. } = self;
        let mut all = Vec::new();
        match (asked.own_session, granted.own_session) {
            (Some(true), Some(true)) => all.push("separate sessions".into()),
            (Some(true), None) => all.push("separate sessions (not read back)".into()),
            _ => {}
        }
        let is_unusual = |had: &Setting| match had {
            Setting::Nice(nice) | Setting::Autogroup(nice) => *nice != 0,
            Setting::Policy(policy) => *policy != Policy::Other,
            Setting::TimerSlackNs(_) => asked.timer_slack_ns.is_some(),
            Setting::TransparentHugePages(may) => !may,
            _ => false,
        };
        all.extend(granted.each().iter().filter(|had| is_unusual(had)).map(Setting::label));
        if !asked.shield.is_empty() {
            let cpus: Vec<String> = asked.shield.iter().map(u32::to_string).collect();
            all.push(format!("shield on CPU {}", cpus.join(", ")));
        }
        if self.page_cache_dropped {
            all.push("the page cache dropped before".into());
        }
        all.extend(self.refused.iter().cloned());
        all
    }
}

/// What was asked for and is known to be otherwise, a sentence each. Real-time processes have no timer slack.
fn differing(asked: &Settings, granted: &Settings) -> Vec<String> {
    let real_time = granted.policy.is_some_and(|policy| policy.real_time().is_some());
    let had = granted.each();
    let differs = |asked: Setting| {
        let had = had.iter().find(|had| had.is_like(&asked))?;
        let counts = !(real_time && matches!(asked, Setting::TimerSlackNs(_)));
        (counts && !asked.is_met_by(had))
            .then(|| format!("{} asked for, {} granted", asked.label(), had.label()))
    };
    asked.each().into_iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            cpus: vec![1],
            own_session: Some(true),
            autogroup: Some(-10),
            nice: Some(-5),
            policy: Some(Policy::Fifo(2)),
            timer_slack_ns: Some(1),
            transparent_huge_pages: Some(false),
            shield: Vec::new(),
            cpuset: None,
        }
    }

    #[test]
    fn what_was_granted_as_asked_is_no_refusal() {
        let applied = Applied::new(settings(), settings());
        assert_eq!(applied.refused, [""; 0]);
        assert_eq!(
            applied.in_force().join("; "),
            "separate sessions; nice -5; autogroup nice -10; SCHED_FIFO 2; timer slack 1 ns; \
             no transparent huge pages"
        );
        assert_eq!(Applied::default().in_force(), [""; 0]);
    }

    #[test]
    fn each_differing_control_is_listed() {
        let other = Settings {
            cpus: vec![0, 1],
            own_session: Some(false),
            autogroup: Some(0),
            nice: Some(0),
            policy: Some(Policy::Other),
            timer_slack_ns: Some(50_000),
            transparent_huge_pages: Some(true),
            ..Settings::default()
        };
        let refused = Applied::new(settings(), other).refused;
        assert_eq!(refused.len(), 7, "{refused:?}");
        assert_eq!(refused[0], "CPU 1 asked for, CPU 0-1 granted");
        assert_eq!(refused[4], "SCHED_FIFO 2 asked for, SCHED_OTHER granted");
        // What can't be read is neither granted nor refused.
        assert_eq!(Applied::new(settings(), Settings::default()).refused, [""; 0]);
    }

    #[test]
    fn inherited_controls_are_listed_too() {
        let elsewhere =
            Settings { nice: Some(10), policy: Some(Policy::RoundRobin(3)), ..Settings::default() };
        let applied = Applied::new(Settings::default(), elsewhere);
        assert_eq!(applied.in_force(), ["nice 10", "SCHED_RR 3"]);
    }

    #[test]
    fn it_comes_back_from_a_document() {
        let mut applied = Applied::new(settings(), settings());
        applied.granted.shield = vec![1];
        applied.granted.cpuset = Some("/latlas".into());
        applied.page_cache_dropped = true;
        let text = serde_json::to_string(&applied).expect("written");
        assert_eq!(serde_json::from_str::<Applied>(&text).expect("read"), applied);
        let least = r#"{"asked":{},"granted":{"policy":"other"}}"#;
        let read: Applied = serde_json::from_str(least).expect("read");
        assert_eq!(read.granted.policy, Some(Policy::Other));
    }
}
