//! A process that does nothing.

use super::child::{Children, METHOD, blank};
use meter::probe::Probe;

pub(super) fn probe() -> Probe {
    Probe {
        title: "a process: fork, exit, wait".into(),
        operation: "One fork() of the measuring process, whose child ends at once by _exit(0), and the parent's waitpid() for it.".into(),
        method: format!("{METHOD} What is left for a fork to copy stands in the notes.").into(),
        source: "LMbench's lat_proc fork, whose child ends by exit(1) and so runs the C library's clean-up too, and which leaves parent and child to the scheduler.".into(),
        make: Box::new(|bench, _| {
            let operation = Box::new(sys::child::fork_exit_wait);
            let children = Children::new(bench, 0, Vec::new(), operation)?;
            Ok(Box::new(children.with_size()))
        }),
        ..blank("process.fork_exit", 16, 3e5)
    }
}
