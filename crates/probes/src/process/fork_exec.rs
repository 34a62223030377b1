//! A process that becomes the smallest of programs.

use super::child::{Children, METHOD, blank, full_name, program};
use meter::probe::Probe;
use sys::child::{Environment, fork_exec_wait};

/// A program that ends at once with status 0.
pub(super) const TRUE: [&str; 3] = ["/bin/true", "/usr/bin/true", "/system/bin/true"];

pub(super) fn probe() -> Probe {
    Probe {
        title: "a program: fork, execve, wait".into(),
        operation: "One fork() of the measuring process, whose child becomes /bin/true by execve() with an empty environment, and the parent's waitpid() for it.".into(),
        method: format!("{METHOD} What is left for a fork to copy stands in the notes.").into(),
        source: "LMbench's lat_proc exec, whose program is its own: as small and as dynamically linked, it tries to write a line to the standard output that its child closed before; /bin/true writes nothing.".into(),
        make: Box::new(|bench, _| {
            let (program, path) = program(&TRUE, &[], Environment::Empty)?;
            let operation = Box::new(move || fork_exec_wait(&program));
            let children = Children::new(bench, 0, vec![format!("program: {}", full_name(path))], operation)?;
            Ok(Box::new(children.with_size()))
        }),
        ..blank("process.fork_exec", 8, 1.1e6)
    }
}
