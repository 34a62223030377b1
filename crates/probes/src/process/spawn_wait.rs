//! A program started as most programs start others.

use super::child::{Children, METHOD, blank, full_name, program};
use meter::probe::Probe;
use sys::child::{Environment, spawn_wait};

pub(super) fn probe() -> Probe {
    Probe {
        title: "a program: posix_spawn, wait".into(),
        operation: "One posix_spawn() of /usr/bin/false with the worker's own environment, and the waitpid() for it.".into(),
        method: format!("{METHOD} The C library's posix_spawn lets the child borrow the parent's memory until it becomes the program, so no page table is copied, whatever the parent's size.").into(),
        source: "Mike Ash, Friday Q&A (2016), who made an NSTask object for each /usr/bin/false, launched it and waited; the object and its notifications are not in this row.".into(),
        make: Box::new(|bench, _| {
            let paths = ["/usr/bin/false", "/bin/false", "/system/bin/false"];
            let (program, path) = program(&paths, &[], Environment::Inherited)?;
            let notes = vec![format!("program: {}", full_name(path))];
            let operation = Box::new(move || spawn_wait(&program));
            Ok(Box::new(Children::new(bench, 1, notes, operation)?))
        }),
        ..blank("process.spawn_wait", 8, 1e6)
    }
}
