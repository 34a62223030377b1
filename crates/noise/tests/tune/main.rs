//! Setting and putting back, on kernels in memory: whatever the machine,
//! whatever is set, wherever it is broken off, all is as before.

mod crashes;
mod journals;
mod kernel;
mod machine;
mod others;
mod property;
mod shields;

use kernel::{Groups, Kernel, Snapshot};
use noise::change::Change;
use noise::control::{changes, tunable};
use noise::tune::{Restored, SetOutcome, StateDir, Step, TuneError, Tuned, restore};
use std::fs::Permissions;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const RATE: &str = "/proc/sys/kernel/perf_event_max_sample_rate";
const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
const CPU_1: &str = "/sys/devices/system/cpu/cpu1/online";
const IRQ_7: &str = "/proc/irq/7/smp_affinity";
const IRQ_8: &str = "/proc/irq/8/smp_affinity";

/// A kernel, a state directory, and how the kernel was before.
struct Bench {
    kernel: Kernel,
    directory: TempDir,
    state: StateDir,
    before: Snapshot,
}

impl Bench {
    fn new(kernel: Kernel) -> Bench {
        // Thousands of syncs cost nothing in memory.
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let directory = directory.expect("a directory");
        Bench {
            state: StateDir::at(&directory.path().join("state")),
            before: kernel.snapshot(),
            directory,
            kernel,
        }
    }

    /// Two CPUs, with these values.
    fn with_groups(groups: Groups, values: &[(&str, &str)]) -> Bench {
        let kernel = two_cpus(groups);
        for (path, value) in values {
            kernel.force(path, value);
        }
        Bench::new(kernel)
    }

    fn begin(&self, steps: &[Step]) -> Tuned<'_> {
        self.try_begin(steps).expect("begun")
    }

    fn try_begin(&self, steps: &[Step]) -> Result<Tuned<'_>, TuneError> {
        Tuned::begin(&self.kernel, &self.state, steps)
    }

    /// Sets these, and leaves them set.
    fn leave(&self, steps: &[Step]) {
        self.begin(steps).leave().expect("left");
    }

    fn restore(&self) -> Restored {
        self.try_restore().expect("restored")
    }

    fn try_restore(&self) -> Result<Restored, TuneError> {
        restore(&self.kernel, &self.state)
    }

    #[track_caller]
    fn assert_as_before(&self) {
        assert_eq!(self.kernel.snapshot(), self.before);
    }

    /// Whether something waits to be put back, in words.
    fn pending(&self) -> Option<String> {
        noise::tune::pending(&self.state)
    }

    fn journal(&self) -> PathBuf {
        self.state.path().join("journal")
    }

    fn write_journal(&self, text: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.state.path()).expect("a directory");
        std::fs::write(self.journal(), text).expect("written");
        set_mode(&self.journal(), 0o600);
    }
}

impl Deref for Bench {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.kernel
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
}

fn set(path: &str, wanted: &str) -> Step {
    Step::Set(Change { control: "test".into(), path: path.into(), wanted: wanted.into() })
}

fn shield(cpus: &[u32]) -> Step {
    Step::Shield { cpus: cpus.to_vec() }
}

/// Every control there is, for these quiet CPUs.
fn everything(kernel: &Kernel, quiet: &[u32]) -> Vec<Step> {
    let names = tunable().into_iter().map(|(name, _)| name.to_owned());
    let names: Vec<String> = names.collect();
    let changes = changes(kernel, &names, quiet).expect("known controls");
    changes.into_iter().map(Step::Set).collect()
}

/// Two CPUs behind cpusets of version 1, as where this was built.
fn two_cpus(groups: Groups) -> Kernel {
    let kernel = Kernel::new(&noise::machines::virtual_machine(), groups);
    kernel.force(CPU_1, "1");
    kernel
}

/// The innermost group has this CPU alone.
fn free_inner(kernel: &Kernel, cpu: &str) {
    use sys::files::Files;
    if kernel.exists("/cg/cpuset/docker/inner") {
        let inner = "/cg/cpuset/docker/inner/cpuset.cpus";
        kernel.write(inner, cpu).expect("a CPU");
    }
}

fn outcomes(tuned: &Tuned) -> Vec<SetOutcome> {
    let applied = tuned.applied().iter();
    applied.map(|one| one.outcome.clone()).collect()
}

fn why(outcome: &SetOutcome) -> String {
    match outcome {
        SetOutcome::Failed(why) => why.clone(),
        other => panic!("{other:?}"),
    }
}

/// What others changed.
fn foreign(restored: &Restored) -> Vec<&str> {
    restored.foreign().map(|value| value.what.as_str()).collect()
}
