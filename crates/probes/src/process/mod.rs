//! Rows of processes: fork, execve, posix_spawn and a shell, each with the wait for the child. The rows are
//! in this file; `child.rs` has the work that they share. The system calls are in `crates/sys/src/child.rs`.

mod child;

use child::{Children, METHOD, blank, full_name, program};
use meter::probe::Probe;
use sys::child::{Environment, fork_exec_wait, spawn_wait};

/// A program that ends at once with status 0.
const TRUE: [&str; 3] = ["/bin/true", "/usr/bin/true", "/system/bin/true"];

pub(crate) fn process_probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "a process: fork, exit, wait".into(),
            operation: "One fork() of the measuring process, whose child ends at once by _exit(0), and the parent's waitpid() for it.".into(),
            method: format!("{METHOD} What is left for a fork to copy is in the notes.").into(),
            source: "LMbench's lat_proc fork, whose child ends by exit(1) and so runs the C library's clean-up too, and which leaves parent and child to the scheduler.".into(),
            make: Box::new(|worker, _| {
                let operation = Box::new(sys::child::fork_exit_wait);
                let children = Children::new(worker, 0, Vec::new(), operation)?;
                children.with_size().boxed()
            }),
            ..blank("process.fork_exit", 16, 3e5)
        },
        Probe {
            title: "a program: fork, execve, wait".into(),
            operation: "One fork() of the measuring process, whose child becomes /bin/true by execve() with an empty environment, and the parent's waitpid() for it.".into(),
            method: format!("{METHOD} What is left for a fork to copy is in the notes.").into(),
            source: "LMbench's lat_proc exec, whose program is its own: as small and as dynamically linked, it tries to write a line to the standard output that its child closed before; /bin/true writes nothing.".into(),
            make: Box::new(|worker, _| {
                let (program, path) = program(&TRUE, &[], Environment::Empty)?;
                let operation = Box::new(move || fork_exec_wait(&program));
                let children = Children::new(worker, 0, vec![format!("program: {}", full_name(path))], operation)?;
                children.with_size().boxed()
            }),
            ..blank("process.fork_exec", 8, 1.1e6)
        },
        Probe {
            title: "a program through the shell: fork, sh -c, wait".into(),
            operation: "One fork() of the measuring process, whose child becomes /bin/sh -c /bin/true, and the parent's waitpid() for it.".into(),
            method: format!("{METHOD} What is left for a fork to copy is in the notes, and which shell /bin/sh is: some shells fork once more for the program, some become it.").into(),
            source: "LMbench's lat_proc shell, whose program is its own, as in process.fork_exec, and whose shell is looked for by execlp(); the environment is the worker's own in both.".into(),
            make: Box::new(|worker, _| {
                let (_, path) = program(&TRUE, &[], Environment::Empty)?;
                let shells = ["/bin/sh", "/system/bin/sh"];
                let (program, shell) = program(&shells, &["-c", path], Environment::Inherited)?;
                let note = format!("program: {} -c {path}", full_name(shell));
                let operation = Box::new(move || fork_exec_wait(&program));
                let children = Children::new(worker, 0, vec![note], operation)?;
                children.with_size().boxed()
            }),
            ..blank("process.shell", 6, 2.5e6)
        },
        Probe {
            title: "a program: posix_spawn, wait".into(),
            operation: "One posix_spawn() of /usr/bin/false with the worker's own environment, and the waitpid() for it.".into(),
            method: format!("{METHOD} The C library's posix_spawn lets the child borrow the parent's memory until it becomes the program, so no page table is copied, whatever the parent's size.").into(),
            source: "Mike Ash, Friday Q&A (2016), with an NSTask object created, launched and waited for, for each /usr/bin/false; this row has neither the object nor its notifications.".into(),
            make: Box::new(|worker, _| {
                let paths = ["/usr/bin/false", "/bin/false", "/system/bin/false"];
                let (program, path) = program(&paths, &[], Environment::Inherited)?;
                let notes = vec![format!("program: {}", full_name(path))];
                let operation = Box::new(move || spawn_wait(&program));
                Children::new(worker, 1, notes, operation)?.boxed()
            }),
            ..blank("process.spawn_wait", 8, 1e6)
        },
    ]
}
