//! A program started through the shell.

use super::child::{Children, METHOD, blank, full_name, program};
use super::fork_exec::TRUE;
use meter::probe::Probe;
use sys::child::{Environment, fork_exec_wait};

pub(super) fn probe() -> Probe {
    Probe {
        title: "a program through the shell: fork, sh -c, wait".into(),
        operation: "One fork() of the measuring process, whose child becomes /bin/sh -c /bin/true, and the parent's waitpid() for it.".into(),
        method: format!("{METHOD} What is left for a fork to copy stands in the notes, and which shell /bin/sh is: some shells fork once more for the program, some become it.").into(),
        source: "LMbench's lat_proc shell, whose program is its own, as in process.fork_exec, and whose shell is looked for by execlp(); the environment is the worker's own in both.".into(),
        make: Box::new(|bench, _| {
            let (_, path) = program(&TRUE, &[], Environment::Empty)?;
            let shells = ["/bin/sh", "/system/bin/sh"];
            let (program, shell) = program(&shells, &["-c", path], Environment::Inherited)?;
            let note = format!("program: {} -c {path}", full_name(shell));
            let operation = Box::new(move || fork_exec_wait(&program));
            let children = Children::new(bench, 0, vec![note], operation)?;
            Ok(Box::new(children.with_size()))
        }),
        ..blank("process.shell", 6, 2.5e6)
    }
}
