//! Where the tests of tuning happen, and what they look at.

use noise::machines::Machine;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_latlas");

/// What a tune of this machine may touch here, and puts back.
pub(crate) const CONTROLS: &str =
    "sample-rate,khugepaged,irq-affinity,default-irq-affinity,workqueues";

/// The real values are of all tests at once.
static REAL: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    REAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A place for the journal, and a tree if a test wants one.
pub(crate) struct Bench {
    pub(crate) home: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let home = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(home.path().join("tree")).expect("a directory");
        Bench { home }
    }

    pub(crate) fn of(machine: &Machine) -> Bench {
        let bench = Bench::new();
        machine.write_below(&bench.tree()).expect("a tree");
        let boot = bench.tree().join("proc/sys/kernel/random");
        std::fs::create_dir_all(&boot).expect("a directory");
        std::fs::write(boot.join("boot_id"), "boot-1\n").expect("a file");
        bench
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.home.path().join("tree")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }

    pub(crate) fn pending(&self) -> bool {
        self.state().join("journal").exists()
    }

    pub(crate) fn noise(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command
            .arg("noise")
            .args(arguments)
            .env("LATLAS_STATE_DIR", self.state())
            .stdin(Stdio::null());
        command
    }

    /// The same on the tree of plain files.
    pub(crate) fn on_tree(&self, arguments: &[&str]) -> Command {
        let mut command = self.noise(&arguments[..1]);
        command.arg("--root").arg(self.tree()).args(&arguments[1..]);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.noise(arguments).output().expect("it runs")
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
        && before.iter().all(|(path, old)| {
            after
                .get(path)
                .is_some_and(|new| chosen(new) == chosen(old))
        })
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

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while Instant::now() < until {
        if there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited half a minute for {what}");
}

pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -{name} {pid}")])
        .status();
    assert!(sent.expect("sh runs").success());
}

/// Whether the tests of the real machine can be made; says why not.
pub(crate) fn can_tune() -> bool {
    let root = std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|s| s.lines().any(|l| l.starts_with("Uid:\t0\t0")));
    let rate = "/proc/sys/kernel/perf_event_max_sample_rate";
    let writable =
        std::fs::read_to_string(rate).is_ok_and(|value| std::fs::write(rate, value).is_ok());
    if !root || !writable {
        eprintln!("SKIPPED: not root, or {rate} can't be written");
    }
    root && writable
}

/// Several values of the real machine were changed; a machine that offers
/// fewer than three can't show much.
pub(crate) fn changed(before: &BTreeMap<String, String>) -> usize {
    let now = real();
    before
        .iter()
        .filter(|(path, old)| now.get(*path) != Some(old))
        .count()
}

/// Ends within half a minute, or is killed and fails.
pub(crate) fn ends(mut child: Child) -> Output {
    let until = Instant::now() + Duration::from_secs(30);
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > until {
            child.kill().expect("killed");
            panic!("no end within half a minute");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().expect("its output")
}
