//! What a control needs beyond its own file: the privileges of this process,
//! the hypervisor, CPU activity.

use super::activity::Activity;
use super::system::{CPUS, System, field};
use model::machine::Fact;
use model::noise::control as document;
use model::noise::control::{Hindrance, HindranceKind, Privilege, SetBy, ValueState, Wanted};
use std::io::ErrorKind;
use sys::files::{Writing, bracketed};
use sys::groups::read_only_mount;
use sys::power::Power;

/// A machine as this process sees it.
pub(super) struct ControlContext<'a> {
    pub(super) system: System<'a>,
    pub(super) hypervisor: Option<String>,
    /// Core kinds with their CPUs, the fastest first; empty if all are alike.
    pub(super) kinds: Vec<(String, Vec<u32>)>,
    /// Whether this process is root of the machine.
    pub(super) root: bool,
    /// Whether it may raise its priority (CAP_SYS_NICE).
    pub(super) may_raise: bool,
    /// /proc/self/status; empty if there is none.
    pub(super) status: String,
    mounts: String,
    pub(super) before: Activity,
    pub(super) after: Activity,
    /// What an Apple system reports.
    pub(super) apple: Option<Power>,
}

#[derive(Clone, Debug)]
pub(super) struct Status {
    pub(super) now: Fact<String>,
    /// The single values, if there are several files.
    pub(super) parts: Vec<document::FileValue>,
    pub(super) state: ValueState,
    pub(super) wanted: Option<Wanted>,
    pub(super) setting: Option<SetBy>,
    pub(super) hindrance: Option<Hindrance>,
    /// Whether this variant was only tested on made-up machines.
    pub(super) fixtures_only: bool,
}

/// A status; the error is one too, for `?`.
pub(super) type StatusResult = Result<Status, Box<Status>>;

impl Status {
    pub(super) fn new(now: impl Into<String>, source: &str, state: ValueState) -> Status {
        Status {
            now: Fact::known(now.into()).from_source(source),
            parts: Vec::new(),
            state,
            wanted: None,
            setting: None,
            hindrance: None,
            fixtures_only: false,
        }
    }

    /// A value without a better one.
    pub(super) fn information(now: impl Into<String>, source: &str) -> Status {
        Status::new(now, source, ValueState::Information)
    }

    /// A value that is good, or could be better.
    pub(super) fn good_if(good: bool, now: impl Into<String>, source: &str) -> Status {
        let state = if good { ValueState::Good } else { ValueState::Improvable };
        Status::new(now, source, state)
    }

    /// A control that does not exist here.
    pub(super) fn absent(kind: HindranceKind, why: impl Into<String>) -> Status {
        hindrance(kind, why).into()
    }

    pub(super) fn wanting(self, value: &str, why: &str) -> Status {
        let wanted = Wanted { value: value.to_owned(), why: why.to_owned() };
        Status { wanted: Some(wanted), ..self }
    }

    pub(super) fn set_by(self, who: Privilege, command: impl Into<String>) -> Status {
        let command = command.into();
        Status { setting: Some(SetBy { who, command }), ..self }
    }

    pub(super) fn hindered(self, hindrance: Option<Hindrance>) -> Status {
        Status { hindrance, ..self }
    }
}

impl From<Hindrance> for Status {
    fn from(hindrance: Hindrance) -> Status {
        Status {
            now: Fact::unknown(hindrance.why.clone()),
            hindrance: Some(hindrance),
            ..Status::new("", "", ValueState::Unknown)
        }
    }
}

pub(super) fn hindrance(kind: HindranceKind, why: impl Into<String>) -> Hindrance {
    let why = why.into();
    Hindrance { kind, why }
}

fn needs_root() -> Hindrance {
    hindrance(HindranceKind::NoPrivilege, "needs root")
}

impl<'a> ControlContext<'a> {
    pub(super) fn new(
        system: System<'a>,
        hypervisor: Option<String>,
        kinds: Vec<(String, Vec<u32>)>,
        before: Activity,
        apple: Option<Power>,
    ) -> ControlContext<'a> {
        let files = system.files;
        let status = files.read("/proc/self/status").unwrap_or_default();
        let uid_map = files.read("/proc/self/uid_map").ok();
        let root = is_root(&status, uid_map.as_deref());
        ControlContext {
            root,
            may_raise: has_sys_nice(&status, uid_map.as_deref()).unwrap_or(root),
            status,
            mounts: files.read("/proc/self/mountinfo").unwrap_or_default(),
            after: Activity::now(files),
            hypervisor,
            kinds,
            before,
            apple,
            system,
        }
    }

    pub(super) fn no_sys(&self) -> bool {
        let files = self.system.files;
        !files.exists("/sys/devices") && !files.exists("/sys/kernel")
    }

    pub(super) fn no_proc(&self) -> bool {
        let files = self.system.files;
        !files.exists("/proc/self") && !files.exists("/proc/stat")
    }

    /// Why a file that any Linux may have does not exist.
    pub(super) fn missing(&self, path: &str) -> Hindrance {
        if path.starts_with("/proc") && self.no_proc() {
            return hindrance(HindranceKind::NotOnThisSystem, "no /proc here");
        }
        if path.starts_with("/sys") && self.no_sys() {
            return hindrance(HindranceKind::NotOnThisSystem, "no /sys here");
        }
        hindrance(HindranceKind::AbsentInKernel, "not built into this kernel")
    }

    pub(super) fn has_policies(&self) -> bool {
        let names = self.system.files.names(&format!("{CPUS}/cpufreq"));
        names.iter().any(|name| name.starts_with("policy"))
    }

    /// The mode of kernel_lockdown(7), if it is in force.
    pub(super) fn lockdown(&self) -> Option<String> {
        let text = self.system.files.read("/sys/kernel/security/lockdown");
        bracketed(&text.ok()?).filter(|mode| mode != "none")
    }

    /// What precedes a command that needs root.
    pub(super) fn sudo(&self) -> &'static str {
        if self.root { "" } else { "sudo " }
    }

    /// The content of a file, or a status without it.
    pub(super) fn read_or_status(&self, path: &str) -> Result<String, Box<Status>> {
        self.system.files.read(path).map_err(|error| {
            let why = match error.kind() {
                ErrorKind::NotFound => self.missing(path),
                ErrorKind::PermissionDenied => {
                    hindrance(HindranceKind::NoPrivilege, format!("{path} may not be read"))
                }
                _ => {
                    hindrance(HindranceKind::AbsentInKernel, format!("can't read {path}: {error}"))
                }
            };
            Box::new(why.into())
        })
    }

    /// What keeps this process from writing a file.
    pub(super) fn hindrance(&self, path: &str) -> Option<Hindrance> {
        if let Some(mount) = read_only_mount(&self.mounts, path) {
            return Some(hindrance(
                HindranceKind::ReadOnly,
                format!("{mount} is mounted read-only"),
            ));
        }
        Some(match self.system.files.writing(path) {
            // The owner of a copied tree says nothing about the machine.
            Writing::Allowed if self.root || self.system.files.is_the_systems() => return None,
            Writing::Allowed | Writing::NoPrivilege => needs_root(),
            Writing::ReadOnlyMount => {
                hindrance(HindranceKind::ReadOnly, format!("{path} is on a read-only file system"))
            }
            Writing::Never => hindrance(HindranceKind::ReadOnly, format!("{path} is read-only")),
            Writing::Missing => hindrance(HindranceKind::AbsentInKernel, format!("no {path}")),
            Writing::Refused(why) => {
                hindrance(HindranceKind::NoPrivilege, format!("{path}: {why}"))
            }
        })
    }

    /// What keeps this process from raising its priority.
    pub(super) fn hindrance_to_raise(&self) -> Option<Hindrance> {
        match (self.may_raise, self.root) {
            (true, _) => None,
            (false, false) => Some(needs_root()),
            (false, true) => Some(hindrance(
                HindranceKind::NoCapability,
                "this root lacks CAP_SYS_NICE: start the container with it (docker run --cap-add SYS_NICE)",
            )),
        }
    }

    pub(super) fn who(&self) -> Privilege {
        if self.root { Privilege::Root } else { Privilege::AnyUser }
    }

    /// Adds the privilege needed to raise a priority with this command; `limit`
    /// says whether the resource limit of this process allows it.
    pub(super) fn raised_by(&self, status: Status, limit: bool, command: &str) -> Status {
        let (who, sudo, hindrance) = match (limit, self.may_raise) {
            (true, _) => (Privilege::AnyUser, "", None),
            (false, true) => (self.who(), "", None),
            (false, false) => (Privilege::Root, self.sudo(), self.hindrance_to_raise()),
        };
        status.set_by(who, format!("{sudo}{command}")).hindered(hindrance)
    }

    /// A soft resource limit (proc_pid_limits(5)); the largest number if
    /// unlimited.
    pub(super) fn limit(&self, name: &str) -> Option<u64> {
        let limits = self.system.files.read("/proc/self/limits").ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        match line.split_whitespace().next()? {
            "unlimited" => Some(u64::MAX),
            number => number.parse().ok(),
        }
    }
}

/// Whether this is the initial user namespace: others map another user to 0,
/// whose capabilities hold only inside (user_namespaces(7)).
fn is_initial_namespace(uid_map: Option<&str>) -> bool {
    uid_map.is_none_or(|map| {
        let ids: Vec<&str> = map.split_whitespace().collect();
        ids == ["0", "0", "4294967295"]
    })
}

fn is_root(status: &str, uid_map: Option<&str>) -> bool {
    let effective = field(status, "Uid").and_then(|ids| ids.split_whitespace().nth(1));
    effective == Some("0") && is_initial_namespace(uid_map)
}

/// Whether CAP_SYS_NICE is effective (bit 23, capabilities(7)); `None` if the
/// status has no capabilities.
fn has_sys_nice(status: &str, uid_map: Option<&str>) -> Option<bool> {
    let effective = u64::from_str_radix(field(status, "CapEff")?, 16).ok()?;
    Some(effective >> 23 & 1 == 1 && is_initial_namespace(uid_map))
}
