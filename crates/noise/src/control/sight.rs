//! What a control needs to know beyond its own file to be shown: who asks,
//! what is below, how two looks at /proc differ.

use super::absent::Absent;
use super::look::Look;
use super::places::Scene;
use model::machine::Fact;
use model::noise::control as document;
use model::noise::control::{Hindrance, Kind, Setting, State, Wanted, Who};
use sys::files::Writing;
use sys::groups::read_only_mount;
use sys::power::Power;

/// A machine with its surroundings, seen by a process.
pub(super) struct Sight<'a> {
    pub(super) scene: Scene<'a>,
    pub(super) hypervisor: Option<String>,
    /// Kinds of cores with their CPUs, the fastest first; empty where all are
    /// alike.
    pub(super) kinds: Vec<(String, Vec<u32>)>,
    /// Whether this process is the machine's root.
    pub(super) root: bool,
    /// Whether it may give itself and its children any priority.
    pub(super) may_raise: bool,
    /// /proc/self/status; empty where there is none.
    pub(super) status: String,
    mounts: String,
    pub(super) before: Look,
    pub(super) after: Look,
    /// What an Apple system says; `None` on others.
    pub(super) apple: Option<Power>,
}

/// A control that is no file to be written.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) now: Fact<String>,
    /// The values by themselves, where there are several.
    pub(super) parts: Vec<document::Part>,
    pub(super) state: State,
    pub(super) wanted: Option<Wanted>,
    pub(super) setting: Option<Setting>,
    pub(super) hindrance: Option<Hindrance>,
    /// Whether this kind of it was only ever seen on made-up machines.
    pub(super) fixtures_only: bool,
}

impl Told {
    pub(super) fn new(now: String, source: &str, state: State) -> Told {
        Told {
            now: Fact::known(now).from_source(source),
            parts: Vec::new(),
            state,
            wanted: None,
            setting: None,
            hindrance: None,
            fixtures_only: false,
        }
    }

    /// Something that the reader should know.
    pub(super) fn information(now: String, source: &str) -> Told {
        Told::new(now, source, State::Information)
    }

    /// Something that is not here.
    pub(super) fn absent(kind: Kind, why: impl Into<String>) -> Told {
        let why = why.into();
        Told {
            now: Fact::unknown(why.clone()),
            hindrance: Some(Hindrance { kind, why }),
            ..Told::new(String::new(), "", State::Unknown)
        }
    }

    pub(super) fn wanting(self, value: &str, why: &str) -> Told {
        Told {
            wanted: Some(Wanted {
                value: value.to_owned(),
                why: why.to_owned(),
            }),
            ..self
        }
    }

    pub(super) fn set_by(self, who: Who, command: String) -> Told {
        Told {
            setting: Some(Setting { who, command }),
            ..self
        }
    }

    pub(super) fn hindered(self, hindrance: Option<Hindrance>) -> Told {
        Told { hindrance, ..self }
    }
}

impl<'a> Sight<'a> {
    pub(super) fn new(
        scene: Scene<'a>,
        hypervisor: Option<String>,
        kinds: Vec<(String, Vec<u32>)>,
        before: Look,
    ) -> Sight<'a> {
        let files = scene.files;
        let status = files.read("/proc/self/status").unwrap_or_default();
        let uid_map = files.read("/proc/self/uid_map").ok();
        let root = is_root(&status, uid_map.as_deref());
        Sight {
            root,
            may_raise: has_sys_nice(&status, uid_map.as_deref()).unwrap_or(root),
            status,
            mounts: files.read("/proc/self/mountinfo").unwrap_or_default(),
            after: Look::take(files),
            hypervisor,
            kinds,
            before,
            apple: None,
            scene,
        }
    }

    pub(super) fn absent(&self) -> Absent<'_> {
        Absent {
            files: self.scene.files,
            hypervisor: self.hypervisor.as_deref(),
        }
    }

    /// What stands before a command that only root may give.
    pub(super) fn sudo(&self) -> &'static str {
        if self.root { "" } else { "sudo " }
    }

    /// The content of a file, or what to say without.
    pub(super) fn read(&self, path: &str) -> Result<String, Box<Told>> {
        self.scene.files.read(path).map_err(|error| {
            let (kind, why) = match error.kind() {
                std::io::ErrorKind::NotFound => self.absent().without(path),
                std::io::ErrorKind::PermissionDenied => {
                    (Kind::NoPrivilege, format!("{path} may not be read"))
                }
                _ => (
                    Kind::AbsentInKernel,
                    format!("{path} can't be read: {error}"),
                ),
            };
            Box::new(Told::absent(kind, why))
        })
    }

    /// What keeps this process from writing a file.
    pub(super) fn hindrance(&self, path: &str) -> Option<Hindrance> {
        let hindered = |kind, why: String| Some(Hindrance { kind, why });
        if let Some(mount) = read_only_mount(&self.mounts, path) {
            return hindered(
                Kind::ReadOnly,
                format!("{mount} is mounted for reading only"),
            );
        }
        match self.scene.files.writing(path) {
            // Who owns a copied tree says nothing of the machine.
            Writing::Allowed if self.root || self.scene.files.is_the_systems() => None,
            Writing::Allowed | Writing::NoPrivilege => needs_root(),
            Writing::ReadOnlyMount => hindered(
                Kind::ReadOnly,
                format!("{path} is on a file system for reading only"),
            ),
            Writing::Never => hindered(
                Kind::ReadOnly,
                format!("the kernel offers {path} for reading only"),
            ),
            Writing::Missing => hindered(Kind::AbsentInKernel, format!("there is no {path}")),
            Writing::Refused(why) => hindered(Kind::NoPrivilege, format!("{path}: {why}")),
        }
    }

    /// What keeps this process from a higher priority.
    pub(super) fn hindrance_to_raise(&self) -> Option<Hindrance> {
        match (self.may_raise, self.root) {
            (true, _) => None,
            (false, false) => needs_root(),
            (false, true) => Some(Hindrance {
                kind: Kind::NoCapability,
                why: "this root lacks CAP_SYS_NICE: whoever starts its container can give it (docker run --cap-add SYS_NICE)".to_owned(),
            }),
        }
    }

    /// Who this process is, for what it can do itself.
    pub(super) fn who(&self) -> Who {
        if self.root { Who::Root } else { Who::Anybody }
    }

    /// Who can raise a priority and what stands before the command; `limit`
    /// says whether this process's own limit allows it.
    pub(super) fn raising(&self, limit: bool) -> (Who, &'static str, Option<Hindrance>) {
        match (limit, self.may_raise) {
            (true, _) => (Who::Anybody, "", None),
            (false, true) => (self.who(), "", None),
            (false, false) => (Who::Root, self.sudo(), self.hindrance_to_raise()),
        }
    }

    /// The number of a resource's limit (proc_pid_limits(5)), the soft one;
    /// the largest number where there is none.
    pub(super) fn limit(&self, name: &str) -> Option<u64> {
        let limits = self.scene.files.read("/proc/self/limits").ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        match line.split_whitespace().next()? {
            "unlimited" => Some(u64::MAX),
            number => number.parse().ok(),
        }
    }
}

fn needs_root() -> Option<Hindrance> {
    Some(Hindrance {
        kind: Kind::NoPrivilege,
        why: "needs root".to_owned(),
    })
}

/// The value of a line `key:\tvalue`.
pub(super) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))
        .map(str::trim)
}

/// Whether the user namespace is the first: others map another user to 0, and
/// their capabilities are good for nothing outside (user_namespaces(7)).
fn is_first_namespace(uid_map: Option<&str>) -> bool {
    uid_map.is_none_or(|map| {
        let ids: Vec<&str> = map.split_whitespace().collect();
        ids == ["0", "0", "4294967295"]
    })
}

/// Whether the effective user is root, and that of the machine.
fn is_root(status: &str, uid_map: Option<&str>) -> bool {
    let effective = field(status, "Uid").and_then(|ids| ids.split_whitespace().nth(1));
    effective == Some("0") && is_first_namespace(uid_map)
}

/// Whether CAP_SYS_NICE is in force (capabilities(7); bit 23 in
/// include/uapi/linux/capability.h); `None` where the status does not tell.
fn has_sys_nice(status: &str, uid_map: Option<&str>) -> Option<bool> {
    let effective = u64::from_str_radix(field(status, "CapEff")?, 16).ok()?;
    Some(effective >> 23 & 1 == 1 && is_first_namespace(uid_map))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_the_machines_root() {
        let root = "Name:\tx\nUid:\t1000\t0\t0\t0\n";
        assert!(is_root(root, None));
        assert!(is_root(root, Some("         0          0 4294967295")));
        assert!(!is_root(root, Some("         0       1000          1")));
        assert!(!is_root("Uid:\t0\t1000\t0\t0", None));
        assert!(!is_root("", None), "unknown is not root");
    }

    #[test]
    fn the_capability_is_that_of_the_first_namespace() {
        let all = "CapEff:\t000001ffffffffff";
        assert_eq!(has_sys_nice(all, None), Some(true));
        assert_eq!(has_sys_nice("CapEff:\t0000000000800000", None), Some(true));
        // What Docker leaves to a root.
        assert_eq!(has_sys_nice("CapEff:\t00000000a80425fb", None), Some(false));
        let mapped = Some("         0       1000          1");
        assert_eq!(has_sys_nice(all, mapped), Some(false));
        assert_eq!(has_sys_nice("Uid:\t0", None), None);
    }
}
