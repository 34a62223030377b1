//! Why there is no such file here.

use super::places::CPUS;
use crate::files::Files;
use model::noise::control::Kind;
use sys::files::bracketed;

/// A machine that lacks something.
pub(super) struct Absent<'a> {
    /// Its files.
    pub(super) files: &'a dyn Files,
    /// The hypervisor below, if it is known that there is one.
    pub(super) hypervisor: Option<&'a str>,
}

impl Absent<'_> {
    /// Whether nothing of /sys can be seen.
    pub(super) fn without_sys(&self) -> bool {
        !self.files.exists("/sys/devices") && !self.files.exists("/sys/kernel")
    }

    /// Whether nothing of /proc can be seen.
    pub(super) fn without_proc(&self) -> bool {
        !self.files.exists("/proc/self") && !self.files.exists("/proc/stat")
    }

    pub(super) fn no_sys(&self) -> (Kind, String) {
        (Kind::NotOnThisSystem, "there is no /sys here".to_owned())
    }

    pub(super) fn no_proc(&self) -> (Kind, String) {
        (Kind::NotOnThisSystem, "there is no /proc here".to_owned())
    }

    /// Why a file of any Linux is not there: its whole file system is missing,
    /// or this kernel has no such file.
    pub(super) fn without(&self, path: &str) -> (Kind, String) {
        if path.starts_with("/proc") && self.without_proc() {
            return self.no_proc();
        }
        if path.starts_with("/sys") && self.without_sys() {
            return self.no_sys();
        }
        (
            Kind::AbsentInKernel,
            "this kernel was built without it".to_owned(),
        )
    }

    /// Whether there is a frequency driver.
    pub(super) fn has_policies(&self) -> bool {
        let names = self.files.names(&format!("{CPUS}/cpufreq"));
        names.iter().any(|name| name.starts_with("policy"))
    }

    /// The kernel's lockdown, if it is in force (kernel_lockdown(7)).
    pub(super) fn lockdown(&self) -> Option<String> {
        let text = self.files.read("/sys/kernel/security/lockdown").ok()?;
        bracketed(&text).filter(|mode| mode != "none")
    }
}

/// The reason for a file of /proc that any Linux could have.
pub(super) fn not_in_proc(absent: &Absent) -> (Kind, String) {
    absent.without("/proc")
}

/// The reason for a file of /sys that any Linux could have.
pub(super) fn not_in_sys(absent: &Absent) -> (Kind, String) {
    absent.without("/sys")
}
