//! The controls that can be compared, one entry each. The name of a control of
//! a process is what is set: `autogroup+pin+nice`.

use meter::controls::RequestedControls;
use model::noise::applied::{Policy, Settings};
use model::noise::effect::Workload;

/// Nice value that is compared, of processes and of autogroups.
pub const NICE: i32 = -10;
/// Priority of SCHED_FIFO that is compared, that of `latlas exec --fifo`.
pub const FIFO: u8 = 1;

/// The arm without any control.
pub const NONE: &str = "none";
/// The arm that is pinned, and nothing else.
pub const PIN: &str = "pin";
/// The arm whose files are dropped from the page cache before each run.
pub const COLD: &str = "cold";

/// One control.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Name on the command line.
    pub name: &'static str,
    /// Another name.
    pub alias: Option<&'static str>,
    /// The state with the control on.
    pub on: &'static str,
    /// And off.
    pub off: &'static str,
    /// Privileges.
    pub needs: Option<&'static str>,
    /// How to apply it to a command; `{cpu}` is the pinned CPU.
    pub apply: &'static str,
    /// How it is set.
    pub kind: Kind,
}

/// How a control is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// For the job's process.
    Process,
    /// By dropping the page cache.
    Cache,
    /// For the whole system while the job runs.
    System,
}

impl Spec {
    const PROCESS: Spec = Spec {
        name: "",
        alias: None,
        on: "",
        off: "as a command starts",
        needs: Some("root or CAP_SYS_NICE"),
        apply: "",
        kind: Kind::Process,
    };

    const SYSTEM: Spec = Spec {
        off: "as the system is set",
        needs: Some("root"),
        kind: Kind::System,
        ..Spec::PROCESS
    };

    /// About one CPU, which its job is pinned to.
    const ONE_CPU: Spec =
        Spec { off: "pinned to the same CPU, the system as it is set", ..Spec::SYSTEM };

    /// Whether one of the settings in its name is this.
    pub fn sets(&self, setting: &str) -> bool {
        self.kind == Kind::Process && self.name.split('+').any(|name| name == setting)
    }

    /// Whether its job is pinned.
    pub fn pins(&self) -> bool {
        self.sets(PIN) || self.keeps_to_one_cpu()
    }

    /// What is requested for the job's process on these CPUs.
    pub fn requested(&self, cpus: &[u32], pin: Option<u32>) -> RequestedControls {
        let autogroup = self.sets("autogroup");
        RequestedControls {
            settings: Settings {
                cpus: match pin.filter(|_| self.pins()) {
                    Some(cpu) => vec![cpu],
                    None => cpus.to_vec(),
                },
                nice: self.sets("nice").then_some(NICE),
                own_session: (autogroup || self.sets("session")).then_some(true),
                autogroup: autogroup.then_some(NICE),
                policy: self.sets("fifo").then_some(Policy::Fifo(FIFO)),
                transparent_huge_pages: self.sets("no-thp").then_some(false),
                ..Settings::default()
            },
            groups: Vec::new(),
        }
    }

    /// Whether it is compared with this job.
    pub fn applies_to(&self, workload: Workload) -> bool {
        match workload {
            Workload::Command => true,
            Workload::Files => self.kind == Kind::Cache,
            _ => self.kind != Kind::Cache,
        }
    }

    /// Names of the arms that have it on and off. Controls of one CPU are
    /// compared with a pinned job: pinning is no part of their effect.
    pub fn arms(&self) -> (&'static str, &'static str) {
        match self.kind {
            Kind::Cache => (NONE, COLD),
            _ if self.keeps_to_one_cpu() => (self.name, PIN),
            _ => (self.name, NONE),
        }
    }

    /// Whether it is about one CPU.
    pub fn keeps_to_one_cpu(&self) -> bool {
        self.off == Spec::ONE_CPU.off
    }

    /// Whether it is compared only if named: it takes CPUs offline.
    pub fn only_by_name(&self) -> bool {
        self.name == "smt"
    }
}

/// All of them, in the order of display.
pub const ALL: [Spec; 15] = [
    Spec {
        name: PIN,
        alias: Some("affinity"),
        on: "pinned to one CPU",
        needs: None,
        apply: "latlas exec --pin -- CMD",
        ..Spec::PROCESS
    },
    Spec {
        name: "nice",
        alias: Some("priority"),
        on: "nice -10",
        apply: "latlas exec --nice -10 -- CMD",
        ..Spec::PROCESS
    },
    Spec {
        name: "pin+nice",
        on: "pinned to one CPU, nice -10",
        apply: "latlas exec --pin --nice -10 -- CMD",
        ..Spec::PROCESS
    },
    Spec {
        name: "session",
        on: "in a separate session, and so in a separate autogroup",
        needs: None,
        apply: "latlas exec --own-session -- CMD",
        ..Spec::PROCESS
    },
    Spec {
        name: "autogroup",
        on: "in a separate autogroup with nice -10",
        apply: "latlas exec --autogroup -10 -- CMD",
        ..Spec::PROCESS
    },
    Spec {
        name: "autogroup+pin+nice",
        on: "in a separate autogroup with nice -10, pinned to one CPU; nice -10 of the process \
             has no weight there, since it is alone in its autogroup",
        apply: "latlas exec --autogroup -10 --pin -- CMD",
        ..Spec::PROCESS
    },
    Spec {
        name: "fifo",
        on: "SCHED_FIFO, priority 1",
        apply: "latlas exec --fifo -- CMD",
        ..Spec::PROCESS
    },
    Spec {
        name: "shield",
        alias: Some("cpuset"),
        on: "alone in a cpuset; all other tasks that can be moved are moved out",
        apply: "latlas exec --shield {cpu} -- CMD",
        ..Spec::ONE_CPU
    },
    Spec {
        name: "turbo",
        on: "no frequency above nominal",
        apply: "latlas noise tune --only turbo -- CMD",
        ..Spec::SYSTEM
    },
    Spec {
        name: "smt",
        on: "one thread per core",
        apply: "latlas noise tune --only smt -- CMD",
        ..Spec::SYSTEM
    },
    Spec {
        name: "governor",
        on: "governor performance",
        apply: "latlas noise tune --only governor -- CMD",
        ..Spec::SYSTEM
    },
    Spec {
        name: "thp",
        on: "transparent huge pages for every process (always)",
        apply: "madvise(2) in the program, or always in /sys/kernel/mm/transparent_hugepage/enabled",
        ..Spec::SYSTEM
    },
    Spec {
        name: "no-thp",
        on: "no transparent huge pages",
        needs: None,
        apply: "PR_SET_THP_DISABLE (prctl(2)) before the program",
        ..Spec::PROCESS
    },
    Spec {
        name: "irq-affinity",
        alias: Some("irq"),
        on: "interrupts kept off the pinned CPU",
        apply: "latlas noise tune --only irq-affinity --cpus {cpu} -- latlas exec --pin={cpu} -- CMD",
        ..Spec::ONE_CPU
    },
    Spec {
        name: "cache",
        on: "files in the page cache",
        off: "files on disk only: sync, then drop the page cache",
        apply: "run it once before measuring, as latlas exec does (--warmup 1)",
        kind: Kind::Cache,
        ..Spec::SYSTEM
    },
];

/// The control of that name.
pub fn find(name: &str) -> Option<&'static Spec> {
    ALL.iter().find(|spec| spec.name == name || spec.alias == Some(name))
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
}
