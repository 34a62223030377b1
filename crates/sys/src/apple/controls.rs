//! Apple systems place threads by quality of service: of the controls they have
//! only the nice value and sessions.

use std::io;

use model::noise::applied::Settings;

use crate::controls::{Controls, NoAutogroups, NotSet, Patience, Step};
use crate::files::Tree;
use crate::platform::unsupported;

/// Controls laid out for a child that must neither allocate nor lock.
#[derive(Debug)]
pub(crate) struct Laid {
    own_session: bool,
    nice: Option<i32>,
}

impl Laid {
    pub(crate) fn new(controls: &Controls) -> Result<Laid, NotSet> {
        let absent = [
            (Step::Group, !controls.groups.is_empty()),
            (Step::Autogroup, controls.autogroup.is_some()),
            (Step::Cpus, !controls.cpus.is_empty()),
            (Step::Policy, controls.policy.is_some()),
            (Step::TimerSlack, controls.timer_slack_ns.is_some()),
            (Step::HugePages, controls.transparent_huge_pages.is_some()),
        ];
        match absent.into_iter().find(|(_, asked)| *asked) {
            Some((step, _)) => Err(step.refused(unsupported("this control"))),
            None => Ok(Laid { own_session: controls.own_session, nice: controls.nice }),
        }
    }

    pub(crate) fn set(&self, _patience: Patience) -> Result<(), (Step, i32)> {
        let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
        // SAFETY: system calls on numbers.
        unsafe {
            if self.own_session && libc::getsid(0) != libc::getpid() && libc::setsid() < 0 {
                return Err((Step::Session, errno()));
            }
            if let Some(nice) = self.nice
                && libc::setpriority(libc::PRIO_PROCESS, 0, nice) != 0
            {
                return Err((Step::Nice, errno()));
            }
        }
        Ok(())
    }
}

pub(crate) fn granted_to(process: u32) -> Settings {
    let pid = libc::pid_t::try_from(process).unwrap_or(0);
    // SAFETY: system calls on numbers. -1 is a nice value too; errno tells it
    // from an error, and no error is possible for a process of ours.
    let (session, nice) =
        unsafe { (libc::getsid(pid), libc::getpriority(libc::PRIO_PROCESS, process)) };
    Settings {
        own_session: (session >= 0).then_some(session == pid),
        nice: Some(nice),
        ..Settings::default()
    }
}

pub(crate) fn autogroups(_tree: &Tree) -> Result<(), NoAutogroups> {
    Err(NoAutogroups::Apple)
}

pub(crate) fn real_time_share(_tree: &Tree) -> Option<f64> {
    None
}

#[derive(Debug)]
pub struct Above(());

impl Above {
    pub fn start(_priority: u8) -> io::Result<Above> {
        Err(unsupported("SCHED_FIFO for processes"))
    }
}
