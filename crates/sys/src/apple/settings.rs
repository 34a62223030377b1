//! Apple systems place threads by quality of service ([`super::qos_class`]): of
//! the other settings they have only the nice value and sessions, of processes.

use std::io;

use model::setting::Setting;

use super::qos_class;
use crate::settings::Patience;

pub(crate) fn apply_setting(
    task: libc::pid_t,
    setting: &Setting,
    _patience: Patience,
) -> Result<(), i32> {
    // SAFETY: system calls on numbers.
    let status = unsafe {
        match (task, setting) {
            (0, Setting::OwnSession(true)) if libc::getsid(0) != libc::getpid() => libc::setsid(),
            (0, Setting::OwnSession(_)) => 0,
            (0, Setting::QosClass(number)) => return qos_class::set(*number),
            (0, Setting::Nice(nice)) => libc::setpriority(libc::PRIO_PROCESS, 0, *nice),
            _ => return Err(libc::ENOTSUP),
        }
    };
    match status < 0 {
        true => Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)),
        false => Ok(()),
    }
}

pub(crate) fn read_setting(task: libc::pid_t, setting: &Setting) -> Option<Setting> {
    // SAFETY: system calls on numbers. -1 is a nice value too; errno tells it
    // from an error, and no error is possible for a process of ours.
    unsafe {
        match setting {
            Setting::OwnSession(_) => {
                let (session, process) = (libc::getsid(task), libc::getpid());
                let process = if task == 0 { process } else { task };
                (session >= 0).then_some(Setting::OwnSession(session == process))
            }
            Setting::Nice(_) => {
                let who = task.cast_unsigned();
                Some(Setting::Nice(libc::getpriority(libc::PRIO_PROCESS, who)))
            }
            Setting::QosClass(_) if task == 0 => Some(Setting::QosClass(qos_class::current())),
            _ => None,
        }
    }
}

pub(crate) fn cpuset(_process: u32) -> Option<String> {
    None
}
