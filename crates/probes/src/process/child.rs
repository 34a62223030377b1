//! What the rows share: a work that makes one child after the other, and the
//! programs that children become.

use crate::engine::reason::{Doing, Reason};
use crate::engine::single::{Single, Singles};
use meter::probe::{Effort, Probe, Work, WorkError};
use meter::worker_memory::{ChaseOrder, WorkerMemory};
use model::run::{Bound, Regime};
use model::share::percent;
use std::io;
use std::path::Path;
use sys::child::{Environment, NOT_STARTED, Program};

/// What every row's text says of the measuring process.
pub(super) const METHOD: &str = "Single operations between two stamps of the parent, after one that is not counted; parent and child share the worker's one CPU. The worker's buffers are kept from children (MADV_DONTFORK) and its standard input and output are /dev/null before any child is made, so nothing of that is inside the time.";

/// Share of a visit's CPU time that other programs may take: above it the
/// times are not the children's.
const OTHERS_AT_MOST: f64 = 0.2;

/// A probe of the group without its texts and its work.
pub(super) fn blank(id: &'static str, samples: u32, sample_ns: f64) -> Probe {
    Probe {
        bound: Bound::Memory,
        regime: Regime::Stamped,
        effort: Effort::stamped(3, samples, sample_ns),
        ..Probe::blank(id)
    }
}

/// Makes a child, waits for it and gives its exit status.
pub(super) type MakeChild = Box<dyn Fn() -> io::Result<i32>>;

/// One child after the other.
pub(super) struct Children {
    operation: MakeChild,
    /// The exit status that each must have.
    status: i32,
    notes: Vec<String>,
    /// When the visit began, and the CPU time of parent and children then, ns.
    began_ns: u64,
    cpu_before_ns: Option<u64>,
    /// Time of the last visit in which neither the parent nor a child ran.
    none_ran_ns: u64,
}

impl Children {
    /// Makes the process ready, and one child to see that it works.
    pub(super) fn new(
        worker: &mut WorkerMemory,
        status: i32,
        notes: Vec<String>,
        operation: MakeChild,
    ) -> Result<Children, WorkError> {
        // Room that other rows needed and this one would copy.
        worker.order = ChaseOrder::default();
        sys::heap::give_back();
        sys::child::hear_of_children().doing("can't receive SIGCHLD")?;
        let children =
            Children { operation, status, notes, began_ns: 0, cpu_before_ns: None, none_ran_ns: 0 };
        children.one()?;
        Ok(children)
    }

    /// As a worker wants it: each child counts, since one was made before.
    pub(super) fn boxed(self) -> Result<Box<dyn Work>, WorkError> {
        Ok(Box::new(Singles::new(self).warm_up(0)))
    }

    /// Says how much of the process a fork copies.
    pub(super) fn with_size(mut self) -> Children {
        self.notes.push(match sys::pages::copied_by_fork_bytes() {
            Ok(bytes) => format!(
                "resident memory of the forking process that a fork copies: {}",
                model::size::about(bytes)
            ),
            Err(e) => format!("how much a fork copies is unknown: {e}"),
        });
        self
    }

    fn one(&self) -> Result<(), Reason> {
        match (self.operation)() {
            Ok(status) if status == self.status => Ok(()),
            Ok(NOT_STARTED) => Err(Reason::wrong(format!(
                "the program could not be started in the child (it ended with {NOT_STARTED})"
            ))),
            Ok(status) => Err(Reason::wrong(format!(
                "the child ended with {status} where {} was expected",
                self.status
            ))),
            Err(e) => Err(refusal(&e)),
        }
    }
}

impl Single for Children {
    fn begin_visit(&mut self) {
        self.began_ns = sys::clock::monotonic_raw_ns();
        self.cpu_before_ns = sys::child::family_cpu_ns();
    }
    fn perform(&mut self) -> Result<(), WorkError> {
        Ok(self.one()?)
    }
    fn contradiction(&mut self, _operations: u64) -> Option<String> {
        // Only on one CPU is what is not the family's another program's.
        let alone = sys::affinity::allowed_cpus().is_ok_and(|cpus| cpus.len() == 1);
        let (before, after) = self.cpu_before_ns.zip(sys::child::family_cpu_ns())?;
        let wall_ns = sys::clock::monotonic_raw_ns().saturating_sub(self.began_ns);
        self.none_ran_ns = wall_ns.saturating_sub(after.saturating_sub(before));
        let others = self.none_ran_ns as f64 / wall_ns.max(1) as f64;
        (alone && others > OTHERS_AT_MOST).then(|| {
            format!(
                "share of a batch in which the CPU was neither the parent's nor a child's: {}",
                percent(others)
            )
        })
    }
    /// A parent that waits while its child runs waits for the operation.
    fn run_delay_ns(&self, own_ns: u64) -> u64 {
        own_ns.min(self.none_ran_ns)
    }
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// The first of these programs that is there, and its path.
pub(super) fn program<'p>(
    paths: &[&'p str],
    arguments: &[&str],
    environment: Environment,
) -> Result<(Program, &'p str), Reason> {
    let mut reasons = Vec::new();
    for path in paths {
        match Program::new(Path::new(path), arguments, environment) {
            Ok(program) => return Ok((program, path)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                reasons.push(format!("{path} does not exist"));
            }
            Err(e) => reasons.push(format!("{path} can't be executed: {e}")),
        }
    }
    Err(Reason::missing(reasons.join(", ")))
}

/// `/bin/sh (dash)`: the path, and what it leads to under another name.
pub(super) fn full_name(path: &str) -> String {
    let own = Path::new(path).file_name();
    match Path::new(path).canonicalize() {
        Ok(real) if real.file_name() != own => match real.file_name() {
            Some(name) => format!("{path} ({})", name.to_string_lossy()),
            None => path.to_string(),
        },
        _ => path.to_string(),
    }
}

/// Why there is no child, and what to do.
fn refusal(error: &io::Error) -> Reason {
    Reason::missing(match error.kind() {
        io::ErrorKind::WouldBlock => {
            let limits = sys::process::process_limits();
            let named =
                [(limits.of_user, "ulimit -u"), (limits.of_group, "the control group's pids.max")];
            let named = named.map(|(limit, name)| limit.map(|limit| format!("{limit} by {name}")));
            let limits = match named.into_iter().flatten().collect::<Vec<_>>() {
                none if none.is_empty() => "no limit is set that could be read".into(),
                limits => limits.join(", "),
            };
            format!("no further process may be started ({error}); processes allowed: {limits}")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => format!(
            "starting a process is forbidden here ({error}): a seccomp filter or a container's policy"
        ),
        _ => format!("a child could not be made and waited for: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_program_that_is_there() {
        let find =
            |paths: &[&'static str]| program(paths, &[], Environment::Empty).map(|(_, path)| path);
        let path = find(&["/no/such/thing", "/bin/sh", "/bin/true"]).expect("a shell");
        assert_eq!(path, "/bin/sh");
        assert!(full_name(path).starts_with(path));
        assert_eq!(
            find(&["/no/such/thing", "/etc/passwd"]).expect_err("neither"),
            Reason::missing(
                "/no/such/thing does not exist, /etc/passwd can't be executed: Permission denied (os error 13)"
            )
        );
    }

    #[test]
    fn a_refusal_names_the_limit() {
        let of = |kind| refusal(&io::Error::from(kind)).to_string();
        let limit = of(io::ErrorKind::WouldBlock);
        // Whatever is set here, there are words for it.
        assert!(
            limit.contains("ulimit -u") || limit.contains("pids.max") || limit.contains("no limit")
        );
        assert!(of(io::ErrorKind::PermissionDenied).contains("seccomp"));
        assert!(of(io::ErrorKind::OutOfMemory).contains("could not be made"));
    }
}
