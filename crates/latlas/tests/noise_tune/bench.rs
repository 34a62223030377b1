//! Where the tests of tuning happen, and what they look at.

use crate::support::processes::{is_root, wait_until};
use crate::support::{Done, Home, skip};
use noise::machines::MachineFiles;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a tune of this machine may touch here, and puts back.
pub(crate) const CONTROLS: &str =
    "sample-rate,khugepaged,irq-affinity,default-irq-affinity,workqueues";

/// The real values are of all tests at once.
static REAL: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    REAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A home, with a tree if a test wants one.
pub(crate) struct Bench {
    pub(crate) home: Home,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { home: Home::new() }
    }

    pub(crate) fn on_machine(machine: &MachineFiles) -> Bench {
        let bench = Bench::new();
        bench.home.write("tree/proc/sys/kernel/random/boot_id", "boot-1\n");
        machine.write_below(&bench.tree()).expect("a tree");
        bench
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.home.path("tree")
    }

    pub(crate) fn pending(&self) -> bool {
        self.home.path("state/journal").exists()
    }

    /// `latlas noise` with these arguments on the tree of plain files.
    pub(crate) fn command(&self, line: &str) -> Command {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        self.home.command(format!("noise {name} --root tree {rest}"))
    }

    pub(crate) fn noise(&self, line: &str) -> Done {
        Done::from_command(&mut self.command(line))
    }

    /// Whether the tree is as it was.
    #[track_caller]
    pub(crate) fn is_as(&self, before: &BTreeMap<PathBuf, String>) {
        assert!(alike(before, &contents(&self.tree())));
    }
}

/// Every file of a tree.
pub(crate) fn contents(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let text = std::fs::read_to_string(&path).expect("a text");
                    found.insert(path, text.trim().to_owned());
                }
            }
        }
    }
    found
}

/// Plain files keep what is written: no brackets come back.
pub(crate) fn alike(before: &BTreeMap<PathBuf, String>, after: &BTreeMap<PathBuf, String>) -> bool {
    let chosen = |text: &str| match text.split_once('[') {
        Some((_, rest)) => rest.split(']').next().unwrap_or_default().to_owned(),
        None => text.to_owned(),
    };
    before.len() == after.len()
        && before
            .iter()
            .all(|(path, old)| after.get(path).is_some_and(|new| chosen(new) == chosen(old)))
}

/// This machine's values, by a reader of our own.
pub(crate) fn real() -> BTreeMap<String, String> {
    let mut paths: Vec<String> = std::fs::read_dir("/proc/irq")
        .map(|entries| {
            entries
                .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.to_owned()))
                .map(|irq| format!("/proc/irq/{irq}/smp_affinity"))
                .collect()
        })
        .unwrap_or_default();
    paths.extend(
        [
            "/proc/irq/default_smp_affinity",
            "/proc/sys/kernel/perf_event_max_sample_rate",
            "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
            "/sys/devices/virtual/workqueue/cpumask",
        ]
        .map(String::from),
    );
    paths
        .into_iter()
        .filter_map(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?)))
        .collect()
}

/// Whether the tests of the real machine can be made; says why not.
pub(crate) fn can_tune() -> bool {
    let rate = "/proc/sys/kernel/perf_event_max_sample_rate";
    let writable =
        std::fs::read_to_string(rate).is_ok_and(|value| std::fs::write(rate, value).is_ok());
    let can = is_root() && writable;
    if !can {
        skip(format!("not root, or {rate} can't be written"));
    }
    can
}

/// Several values of the real machine were changed; a machine that offers
/// fewer than three can't show much.
pub(crate) fn changed(before: &BTreeMap<String, String>) -> usize {
    let now = real();
    before.iter().filter(|(path, old)| now.get(*path) != Some(old)).count()
}

/// Ends in time, or is killed and fails.
pub(crate) fn wait_for_end(mut child: Child) -> Done {
    wait_until("the end of latlas", || child.try_wait().expect("a child").is_some());
    Done::after(child)
}
