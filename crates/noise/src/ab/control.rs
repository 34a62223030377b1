//! The controls that can be weighed, each a line of one table.

use meter::controls::Asked;
use model::noise::applied::{Policy, Settings};
use model::noise::effect::Workload;

/// Nice value that is tried, of processes and of autogroups.
pub const NICE: i32 = -10;
/// Priority of SCHED_FIFO that is tried, that of `latlas exec --fifo`: any is
/// before everybody ordinary.
pub const FIFO: u8 = 1;

/// The arm without any control.
pub const NONE: &str = "none";
/// The arm that is pinned, and nothing else.
pub const PIN: &str = "pin";
/// The arm whose files are dropped from memory before each run.
pub const COLD: &str = "cold";

/// One control.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Name on the command line.
    pub name: &'static str,
    /// Another name that it goes by.
    pub alias: Option<&'static str>,
    /// What it is with the control on.
    pub on: &'static str,
    /// And off.
    pub off: &'static str,
    /// What it needs.
    pub needs: Option<&'static str>,
    /// How it is applied to what one measures; `{cpu}` stands for the CPU that
    /// was pinned to.
    pub apply: &'static str,
    /// How it is tried.
    pub kind: Kind,
}

/// How a control is tried.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Set for the job's process alone.
    Process(Own),
    /// The job finds its files in memory, or on the disk.
    Cache,
    /// Switched for the whole system while the job runs.
    System,
}

/// What is set for a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Own {
    pin: bool,
    nice: bool,
    session: bool,
    autogroup: bool,
    fifo: bool,
    no_huge_pages: bool,
}

const NOTHING: Own = Own {
    pin: false,
    nice: false,
    session: false,
    autogroup: false,
    fifo: false,
    no_huge_pages: false,
};

impl Own {
    /// What is asked for a process that may use these CPUs, and only the
    /// pinned one if it is pinned.
    pub fn asked(self, cpus: &[u32], pin: Option<u32>) -> Asked {
        Asked {
            settings: Settings {
                cpus: match pin.filter(|_| self.pin) {
                    Some(cpu) => vec![cpu],
                    None => cpus.to_vec(),
                },
                nice: self.nice.then_some(NICE),
                own_session: self.session.then_some(true),
                autogroup: self.autogroup.then_some(NICE),
                policy: self.fifo.then_some(Policy::Fifo(FIFO)),
                transparent_huge_pages: self.no_huge_pages.then_some(false),
                ..Settings::default()
            },
            groups: Vec::new(),
        }
    }

    /// Whether it goes without huge pages.
    pub fn goes_without_huge_pages(self) -> bool {
        self.no_huge_pages
    }

    /// Whether it is pinned.
    pub fn pins(self) -> bool {
        self.pin
    }

    /// Whether it is a session of its own, whose autogroup has no nice value.
    pub fn is_session_alone(self) -> bool {
        self.session && !self.autogroup
    }
}

impl Spec {
    /// Whether it is tried with this job.
    pub fn applies_to(&self, workload: Workload) -> bool {
        match workload {
            Workload::Command => true,
            Workload::Files => matches!(self.kind, Kind::Cache),
            _ => !matches!(self.kind, Kind::Cache),
        }
    }

    /// Names of the arms that have it on and off. What pins its job is set
    /// against a pinned one: else the pinning would be part of its effect.
    pub fn arms(&self) -> (&'static str, &'static str) {
        match self.kind {
            Kind::Cache => (NONE, COLD),
            Kind::System if self.keeps_to_one_cpu() => (self.name, PIN),
            _ => (self.name, NONE),
        }
    }

    /// Whether it is about one CPU, and its job is kept there.
    pub fn keeps_to_one_cpu(&self) -> bool {
        matches!(self.name, "shield" | "irq-affinity")
    }

    /// Why it is tried only where it is named, if so.
    pub fn only_by_name(&self) -> Option<&'static str> {
        (self.name == "smt").then_some(
            "not tried unless it is named: it takes CPUs offline, for everybody, once in each \
             round",
        )
    }
}

const AS_STARTED: &str = "as a command is started";
const AS_FOUND: &str = "as the system is set";
const PINNED: &str = "pinned to the same CPU, the system as it is set";
const PRIVILEGED: Option<&str> = Some("root or CAP_SYS_NICE");
const ROOT: Option<&str> = Some("root");

/// All of them, in the order in which they are shown.
pub const ALL: [Spec; 15] = [
    Spec {
        name: "pin",
        alias: Some("affinity"),
        on: "pinned to one CPU",
        off: AS_STARTED,
        needs: None,
        apply: "latlas exec --pin -- CMD",
        kind: Kind::Process(Own {
            pin: true,
            ..NOTHING
        }),
    },
    Spec {
        name: "nice",
        alias: Some("priority"),
        on: "nice -10",
        off: AS_STARTED,
        needs: PRIVILEGED,
        apply: "latlas exec --nice -10 -- CMD",
        kind: Kind::Process(Own {
            nice: true,
            ..NOTHING
        }),
    },
    Spec {
        name: "pin+nice",
        alias: None,
        on: "pinned to one CPU, nice -10",
        off: AS_STARTED,
        needs: PRIVILEGED,
        apply: "latlas exec --pin --nice -10 -- CMD",
        kind: Kind::Process(Own {
            pin: true,
            nice: true,
            ..NOTHING
        }),
    },
    Spec {
        name: "session",
        alias: None,
        on: "in a session, and so in an autogroup, of its own",
        off: AS_STARTED,
        needs: None,
        apply: "latlas exec --own-session -- CMD",
        kind: Kind::Process(Own {
            session: true,
            ..NOTHING
        }),
    },
    Spec {
        name: "autogroup",
        alias: None,
        on: "in an autogroup of its own with nice -10",
        off: AS_STARTED,
        needs: PRIVILEGED,
        apply: "latlas exec --autogroup -10 -- CMD",
        kind: Kind::Process(Own {
            session: true,
            autogroup: true,
            ..NOTHING
        }),
    },
    Spec {
        name: "autogroup+pin+nice",
        alias: None,
        on: "in an autogroup of its own with nice -10, pinned to one CPU; nice -10 too, which \
             weighs nothing for a process alone in its autogroup",
        off: AS_STARTED,
        needs: PRIVILEGED,
        apply: "latlas exec --autogroup -10 --pin -- CMD",
        kind: Kind::Process(Own {
            session: true,
            autogroup: true,
            pin: true,
            nice: true,
            ..NOTHING
        }),
    },
    Spec {
        name: "fifo",
        alias: None,
        on: "SCHED_FIFO, priority 1",
        off: AS_STARTED,
        needs: PRIVILEGED,
        apply: "latlas exec --fifo -- CMD",
        kind: Kind::Process(Own {
            fifo: true,
            ..NOTHING
        }),
    },
    Spec {
        name: "shield",
        alias: Some("cpuset"),
        on: "alone in a cpuset that everybody else who may be moved was moved out of",
        off: PINNED,
        needs: ROOT,
        apply: "latlas exec --shield {cpu} -- CMD",
        kind: Kind::System,
    },
    Spec {
        name: "turbo",
        alias: None,
        on: "no frequency above the nominal one",
        off: AS_FOUND,
        needs: ROOT,
        apply: "latlas noise tune --only turbo -- CMD",
        kind: Kind::System,
    },
    Spec {
        name: "smt",
        alias: None,
        on: "one thread a core",
        off: AS_FOUND,
        needs: ROOT,
        apply: "latlas noise tune --only smt -- CMD",
        kind: Kind::System,
    },
    Spec {
        name: "governor",
        alias: None,
        on: "frequency governor performance",
        off: AS_FOUND,
        needs: ROOT,
        apply: "latlas noise tune --only governor -- CMD",
        kind: Kind::System,
    },
    Spec {
        name: "thp",
        alias: None,
        on: "transparent huge pages for every process (always)",
        off: AS_FOUND,
        needs: ROOT,
        apply: "madvise(2) in the program, or always in /sys/kernel/mm/transparent_hugepage/enabled",
        kind: Kind::System,
    },
    Spec {
        name: "no-thp",
        alias: None,
        on: "no transparent huge pages",
        off: AS_STARTED,
        needs: None,
        apply: "PR_SET_THP_DISABLE (prctl(2)) before the program",
        kind: Kind::Process(Own {
            no_huge_pages: true,
            ..NOTHING
        }),
    },
    Spec {
        name: "irq-affinity",
        alias: Some("irq"),
        on: "interrupts kept off the pinned CPU, and the job on it",
        off: PINNED,
        needs: ROOT,
        apply: "latlas noise tune --only irq-affinity --cpus {cpu} -- latlas exec --pin={cpu} -- CMD",
        kind: Kind::System,
    },
    Spec {
        name: "cache",
        alias: None,
        on: "files in memory",
        off: "files on the disk only: sync, then drop the page cache",
        needs: ROOT,
        apply: "run it once before it is measured, as latlas exec does (--warmup 1)",
        kind: Kind::Cache,
    },
];

/// The control of that name.
pub fn find(name: &str) -> Option<&'static Spec> {
    ALL.iter()
        .find(|spec| spec.name == name || spec.alias == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_arms_differ() {
        let mut names: Vec<&str> = ALL.iter().map(|s| s.name).collect();
        names.extend(ALL.iter().filter_map(|s| s.alias));
        names.extend([NONE, COLD]);
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        for spec in &ALL {
            let (on, off) = spec.arms();
            assert_ne!(on, off, "{}", spec.name);
            assert_ne!(spec.on, spec.off, "{}", spec.name);
            assert_eq!(find(spec.name).map(|s| s.name), Some(spec.name));
        }
        assert_eq!(find("priority").map(|s| s.name), Some("nice"));
        assert!(find("none").is_none());
    }

    #[test]
    fn each_sets_what_it_says_and_nothing_else() {
        let set = |name: &str| match find(name).expect(name).kind {
            Kind::Process(own) => own.asked(&[0, 1, 2], Some(2)).settings,
            _ => panic!("{name} is no process's"),
        };
        let plain = Settings {
            cpus: vec![0, 1, 2],
            ..Settings::default()
        };
        let pinned = Settings {
            cpus: vec![2],
            ..Settings::default()
        };
        assert_eq!(NOTHING.asked(&[0, 1, 2], Some(2)).settings, plain);
        assert_eq!(set("pin"), pinned);
        assert_eq!(
            set("nice"),
            Settings {
                nice: Some(-10),
                ..plain.clone()
            }
        );
        assert_eq!(
            set("pin+nice"),
            Settings {
                nice: Some(-10),
                ..pinned.clone()
            }
        );
        assert_eq!(
            set("session"),
            Settings {
                own_session: Some(true),
                ..plain.clone()
            }
        );
        let autogroup = Some(-10);
        assert_eq!(
            set("autogroup"),
            Settings {
                own_session: Some(true),
                autogroup,
                ..plain.clone()
            }
        );
        assert_eq!(
            set("autogroup+pin+nice"),
            Settings {
                own_session: Some(true),
                autogroup,
                nice: Some(-10),
                ..pinned
            }
        );
        let transparent_huge_pages = Some(false);
        assert_eq!(
            set("no-thp"),
            Settings {
                transparent_huge_pages,
                ..plain.clone()
            }
        );
        let policy = Some(Policy::Fifo(1));
        assert_eq!(set("fifo"), Settings { policy, ..plain });
    }
}
