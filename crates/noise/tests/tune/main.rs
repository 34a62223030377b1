//! Setting and putting back, on kernels in memory: whatever the machine,
//! whatever is set, wherever it is broken off, all is as before.

mod crashes;
mod damage;
mod kernel;
mod others;
mod property;

use kernel::{Groups, Kernel};
use noise::change::Change;
use noise::control::{changes, tunable};
use noise::tune::{StateDir, Step, Tuned};
use sys::files::Files;
use tempfile::TempDir;

fn state() -> (TempDir, StateDir) {
    // Thousands of syncs cost nothing in memory.
    let directory = match std::path::Path::new("/dev/shm").is_dir() {
        true => tempfile::tempdir_in("/dev/shm"),
        false => tempfile::tempdir(),
    };
    let directory = directory.expect("a directory");
    let state = StateDir::at(&directory.path().join("state"));
    (directory, state)
}

fn set(path: &str, wanted: &str) -> Step {
    Step::Set(Change {
        control: "test".into(),
        path: path.into(),
        wanted: wanted.into(),
    })
}

/// Every control there is, for these quiet CPUs.
fn everything(kernel: &Kernel, quiet: &[u32]) -> Vec<Step> {
    let names: Vec<String> = tunable()
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    changes(kernel, &names, quiet)
        .expect("known controls")
        .into_iter()
        .map(Step::Set)
        .collect()
}

/// Two CPUs behind cpusets of version 1, as where this was built.
fn two_cpus(groups: Groups) -> Kernel {
    let machine = noise::machines::virtual_machine();
    let kernel = Kernel::new(&machine, groups);
    kernel.force("/sys/devices/system/cpu/cpu1/online", "1");
    kernel
}

/// The innermost group has this CPU alone.
fn free_inner(kernel: &Kernel, cpu: &str) {
    if kernel.exists("/cg/cpuset/docker/inner") {
        let inner = "/cg/cpuset/docker/inner/cpuset.cpus";
        kernel.write(inner, cpu).expect("a CPU");
    }
}

fn outcomes(tuned: &Tuned) -> Vec<noise::tune::SetOutcome> {
    tuned
        .applied()
        .iter()
        .map(|one| one.outcome.clone())
        .collect()
}
