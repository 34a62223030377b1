//! The controls of the measuring processes: what is asked for them, whether it
//! can be had here, and what a reader of the figures must know of it.

use model::noise::applied::{Applied, Policy, Settings};
use model::setting::{Setting, SettingRow};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use sys::controls::NotSet;

/// What is asked for the workers of a run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct WorkerControls {
    /// Whether they are pinned to the measuring CPU.
    pub pinned: bool,
    /// Everything else.
    pub asked: RequestedControls,
    /// Whether all dirty pages are written back and the page cache is dropped
    /// before the first visit. Rows of files bring back what they read with
    /// each visit, so not before each.
    pub drop_page_cache: bool,
}

impl Default for WorkerControls {
    /// The best that needs no right: pinned, each in a session of its own. None
    /// of it changes what a row measures; SCHED_BATCH and another timer slack
    /// would (the rows of wake-ups).
    fn default() -> WorkerControls {
        WorkerControls {
            pinned: true,
            asked: RequestedControls {
                settings: Settings { own_session: Some(true), ..Settings::default() },
                groups: Vec::new(),
            },
            drop_page_cache: false,
        }
    }
}

impl WorkerControls {
    /// None at all: workers as any process of this session is.
    pub fn none() -> WorkerControls {
        WorkerControls {
            pinned: false,
            asked: RequestedControls::default(),
            drop_page_cache: false,
        }
    }

    /// The same where this process makes the visits: it leads no session of its own for them. `None` if more
    /// was asked for.
    pub(crate) fn without_processes(&self) -> Option<WorkerControls> {
        let none = || WorkerControls { asked: RequestedControls::default(), ..self.clone() };
        (!self.may_be_refused()).then(none)
    }

    /// Whether anything was asked for that may be refused.
    fn may_be_refused(&self) -> bool {
        ![WorkerControls::default().asked, RequestedControls::default()].contains(&self.asked)
    }

    /// Before the measuring lock: whether these controls can be had, without an effect on what is
    /// measured meanwhile. Those of a shield are known once it is there.
    ///
    /// # Errors
    /// As [`check`](WorkerControls::check).
    pub fn may_be_had(&self) -> Result<(), ControlError> {
        if self.may_be_refused() {
            self.asked.may_be_had()?;
        }
        if self.drop_page_cache {
            sys::page_cache::may_drop_all().map_err(ControlError::PageCache)?;
        }
        Ok(())
    }

    /// Before anything runs: whether these controls can be had, and the page
    /// cache dropped.
    ///
    /// # Errors
    /// What is refused here, and what would give the right to it.
    pub fn check(&self) -> Result<(), ControlError> {
        if self.may_be_refused() {
            self.asked.try_out()?;
        }
        if self.drop_page_cache {
            sys::page_cache::drop_all().map_err(ControlError::PageCache)?;
        }
        Ok(())
    }
}

/// What is asked for measuring processes.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedControls {
    /// Settings of each process.
    pub settings: Settings,
    /// Control groups that each process joins: the way into a cpuset shield.
    pub groups: Vec<PathBuf>,
}

/// Why controls can't be had: one line that says what to do.
#[derive(thiserror::Error, Debug)]
pub enum ControlError {
    /// The kernel refused one.
    #[error("{refused}{}", hint(.refused.row, &.refused.error))]
    Refused {
        /// Which, and what it said.
        refused: NotSet,
    },
    /// The kernel took one and did another thing.
    #[error("the kernel took the controls, but {0}")]
    NotGranted(String),
    /// The page cache can't be dropped.
    #[error(
        "can't drop the page cache: {0}; --cold needs root and a writable \
         /proc/sys/vm/drop_caches"
    )]
    PageCache(io::Error),
    /// The nice value of an autogroup would do nothing.
    #[error("--autogroup can do nothing here: {0}")]
    NoAutogroups(sys::controls::NoAutogroups),
}

/// What controls do to figures.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
pub enum ControlRemark {
    /// What the nice value weighs.
    #[error("{0}")]
    Nice(String),
    /// RT throttling.
    #[error("{0}")]
    Throttled(String),
    /// No RT throttling.
    #[error("SCHED_FIFO: no RT throttling here; a task that never sleeps keeps its CPU")]
    Unthrottled,
    /// SCHED_FIFO on a machine with one CPU.
    #[error(
        "SCHED_FIFO on the only CPU: latlas runs one priority above, to be able to end the \
         command; no other task runs"
    )]
    OnlyCpu,
}

impl RequestedControls {
    /// Whether each process gets its own session: an autogroup belongs to one, which the user's other processes
    /// share.
    pub fn own_session(&self) -> bool {
        self.settings.own_session == Some(true) || self.settings.autogroup.is_some()
    }

    /// All of them, in the order in which they are set.
    pub fn in_order(&self) -> Vec<Setting> {
        let mut settings = self.settings.clone();
        settings.own_session = self.own_session().then_some(true);
        let groups = self.groups.iter().cloned().map(Setting::Group);
        groups.chain(settings.each()).collect()
    }

    /// Tries them out in a child that does nothing else, before anything runs:
    /// what it was granted.
    ///
    /// # Errors
    /// What is refused here, and what would give the right to it.
    pub fn try_out(&self) -> Result<Applied, ControlError> {
        if self.settings.autogroup.is_some() {
            sys::controls::autogroups().map_err(ControlError::NoAutogroups)?;
        }
        let granted = sys::controls::try_out(&self.in_order())
            .map_err(|refused| ControlError::Refused { refused })?;
        let applied = Applied::new(self.settings.clone(), granted);
        match applied.refused.is_empty() {
            true => Ok(applied),
            false => Err(ControlError::NotGranted(applied.refused.join("; "))),
        }
    }

    /// [`try_out`](RequestedControls::try_out) where there is no shield, whose groups are made later.
    ///
    /// # Errors
    /// As it.
    pub fn may_be_had(&self) -> Result<(), ControlError> {
        match self.settings.shield.is_empty() {
            true => self.try_out().map(drop),
            false => Ok(()),
        }
    }

    /// What a reader must know of what these controls do to figures.
    pub fn remarks(&self, cpus: usize) -> Vec<ControlRemark> {
        let mut all = Vec::new();
        if sys::controls::autogroups().is_ok() {
            all.extend(of_nice(&self.settings).map(ControlRemark::Nice));
        }
        if self.real_time().is_none() {
            return all;
        }
        match sys::controls::real_time_share() {
            Some(share) => all.push(ControlRemark::Throttled(real_time(share))),
            None => all.push(ControlRemark::Unthrottled),
        }
        if cpus == 1 {
            all.push(ControlRemark::OnlyCpu);
        }
        all
    }

    /// Whether such a process gets another share of a CPU than this one: another
    /// weight, or a shield.
    pub fn changes_the_share(&self) -> bool {
        let settings = &self.settings;
        settings.nice.is_some()
            || settings.autogroup.is_some()
            || settings.policy.is_some()
            || !self.groups.is_empty()
    }

    /// The real-time priority, where one is asked for.
    pub fn real_time(&self) -> Option<u8> {
        self.settings.policy.and_then(Policy::real_time)
    }
}

/// What a nice value weighs where autogroups are in force (sched(7)).
fn of_nice(settings: &Settings) -> Option<String> {
    let nice = settings.nice?;
    Some(match settings.autogroup {
        Some(autogroup) => format!(
            "nice {nice}: each process is alone in its autogroup, so what it weighs against others \
             is the nice value of that, {autogroup}; its own nice value adds nothing"
        ),
        None if settings.own_session == Some(true) => format!(
            "nice {nice}: each process is alone in its autogroup, where its nice value has no effect"
        ),
        None => format!(
            "nice {nice} weighs against work of this session only: each session is an autogroup \
             here, and these weigh by their own nice values (--autogroup)"
        ),
    })
}

/// What SCHED_FIFO does not get. Linux 6.12 gave all other tasks a server that
/// runs only while one of them waits (kernel/sched/deadline.c, `fair_server`);
/// the throttling that always takes its time stayed with CONFIG_RT_GROUP_SCHED.
fn real_time(share: f64) -> String {
    let rest_ms = (1.0 - share) * 1e3;
    format!(
        "SCHED_FIFO: a process that never sleeps stands still for up to {rest_ms:.0} ms of each \
         second: always on kernels before 6.12 or with CONFIG_RT_GROUP_SCHED \
         (sched_rt_runtime_us), on later ones only while an ordinary process waits for its CPU"
    )
}

/// What would give the right to a control that was refused, or what to do where it is not there.
pub fn hint(row: &SettingRow, error: &io::Error) -> String {
    use io::ErrorKind::{InvalidInput, NotFound, PermissionDenied};
    let hint = match error.kind() {
        PermissionDenied => row.needs,
        InvalidInput | NotFound => row.absent,
        _ => "",
    };
    match hint {
        "" => String::new(),
        hint => format!("; {hint}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(settings: Settings) -> RequestedControls {
        RequestedControls { settings, groups: Vec::new() }
    }

    #[test]
    fn controls_that_can_t_be_had_are_refused_before_anything_runs() {
        assert!(WorkerControls::default().check().is_ok());
        let nowhere = WorkerControls {
            asked: asked(Settings { cpus: vec![8_000], ..Settings::default() }),
            ..WorkerControls::default()
        };
        assert!(nowhere.may_be_had().is_err() && nowhere.check().is_err());
    }

    #[test]
    fn an_autogroup_brings_its_session_along() {
        let nice = asked(Settings { autogroup: Some(5), ..Settings::default() });
        assert_eq!(nice.in_order(), [Setting::OwnSession(true), Setting::Autogroup(5)]);
        assert!(asked(Settings::default()).in_order().is_empty());
    }

    #[test]
    fn every_setting_that_can_be_set_is_passed_on_after_its_group() {
        let mut all = asked(Settings { shield: vec![1], ..Settings::default() });
        Settings::one_of_each().into_iter().for_each(|setting| all.settings.put(setting));
        all.groups.push("/x".into());
        let groups = vec![Setting::Group("/x".into())];
        assert_eq!(all.in_order(), [groups, Settings::one_of_each()].concat());
    }

    #[test]
    fn what_is_refused_says_what_would_help() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        for (setting, what) in [
            (Setting::Nice(-1), "ulimit -e"),
            (Setting::Autogroup(-1), "ulimit -e"),
            (Setting::Policy(Policy::Fifo(1)), "ulimit -r"),
            (Setting::Group("/x".into()), "root"),
        ] {
            let refused = NotSet { row: setting.row(), error: denied() };
            let text = ControlError::Refused { refused }.to_string();
            assert!(text.starts_with(&format!("can't {}: ", setting.row().sets)), "{text}");
            assert!(text.contains(what), "{text}");
        }
    }

    #[test]
    fn real_time_says_what_it_costs() {
        let fifo = asked(Settings { policy: Some(Policy::Fifo(1)), ..Settings::default() });
        assert_eq!(fifo.remarks(2).len(), 1);
        assert_eq!(fifo.remarks(1).len(), 2);
        assert!(asked(Settings::default()).remarks(1).is_empty());
        let said = real_time(0.95);
        assert!(said.contains("up to 50 ms"), "{said}");
        assert!(said.contains("before 6.12"), "{said}");
    }

    #[test]
    fn a_nice_value_says_against_whom_it_weighs() {
        let of = |nice, autogroup, own_session| {
            of_nice(&Settings { nice, autogroup, own_session, ..Settings::default() })
        };
        assert_eq!(of(None, Some(-5), Some(true)), None);
        let both = of(Some(-10), Some(-5), Some(true)).expect("a remark");
        assert!(both.contains("the nice value of that, -5"), "{both}");
        let alone = of(Some(-10), None, Some(true)).expect("a remark");
        assert!(alone.contains("has no effect"), "{alone}");
        let shared = of(Some(-10), None, None).expect("a remark");
        assert!(shared.contains("this session only"), "{shared}");
    }
}
