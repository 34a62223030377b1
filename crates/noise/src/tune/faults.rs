//! Where a test stops everything: a hook before each action of the journal
//! and each touch of a kernel's file, numbered by the listener.

use std::fmt;
use std::io;
use std::rc::Rc;
use sys::files::Files;

/// Called before each action with its name. It may end the program, or panic
/// as a crash would look like; it returns for the action to happen.
#[derive(Clone, Default)]
pub struct Faults(Option<Hook>);

type Hook = Rc<dyn Fn(&str)>;

impl Faults {
    pub fn new(hook: impl Fn(&str) + 'static) -> Faults {
        Faults(Some(Rc::new(hook)))
    }

    /// Whether anybody listens.
    pub(crate) fn listened(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn on_action(&self, action: &str) {
        if let Some(hook) = &self.0 {
            hook(action);
        }
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Faults({})", self.0.is_some())
    }
}

/// Files with the hook before all that is read and changed.
pub(crate) struct Faulty<'f> {
    pub(crate) inner: &'f dyn Files,
    pub(crate) faults: Faults,
}

impl Files for Faulty<'_> {
    fn read(&self, path: &str) -> io::Result<String> {
        self.faults.on_action("read");
        self.inner.read(path)
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        self.faults.on_action("write");
        self.inner.write(path, text)
    }

    fn exists(&self, path: &str) -> bool {
        self.inner.exists(path)
    }

    fn try_exists(&self, path: &str) -> io::Result<bool> {
        self.inner.try_exists(path)
    }

    fn names(&self, path: &str) -> Vec<String> {
        self.inner.names(path)
    }

    fn make_directory(&self, path: &str) -> io::Result<()> {
        self.faults.on_action("make directory");
        self.inner.make_directory(path)
    }

    fn remove_directory(&self, path: &str) -> io::Result<()> {
        self.faults.on_action("remove directory");
        self.inner.remove_directory(path)
    }

    fn set_affinity(&self, task: u32, cpus: &[u32]) -> io::Result<()> {
        self.faults.on_action("set affinity");
        self.inner.set_affinity(task, cpus)
    }
}

impl Faults {
    /// Kills this process at the action that `LATLAS_FAULT_STEP` counts to: in
    /// builds for tests only.
    pub fn of_the_environment() -> Faults {
        killing("LATLAS_FAULT_STEP")
    }

    /// The same for the watchdog.
    pub(crate) fn of_the_watchdog() -> Faults {
        killing("LATLAS_FAULT_STEP_OF_WATCHDOG")
    }
}

#[cfg(debug_assertions)]
fn killing(variable: &str) -> Faults {
    let Some(last) = std::env::var(variable).ok().and_then(|n| n.parse::<u32>().ok()) else {
        return Faults::default();
    };
    let count = std::cell::Cell::new(0);
    Faults::new(move |_| {
        count.set(count.get() + 1);
        if count.get() == last {
            sys::process::kill_self();
        }
    })
}

#[cfg(not(debug_assertions))]
fn killing(_variable: &str) -> Faults {
    Faults::default()
}
