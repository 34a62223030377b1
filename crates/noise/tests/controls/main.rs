//! What is shown of made-up machines, and what would be set on them.

mod activity;
mod rules;
mod variations;

use model::machine::Machine as Facts;
use model::noise::control::{Control, Controls};
use noise::control::show;
use noise::machines::Machine;
use std::path::Path;
use sys::files::Tree;
use sys::machine::{Live, machine_from};
use tempfile::TempDir;

const CPUS: &str = "/sys/devices/system/cpu";

/// proc_pid_status(5) of an ordinary user.
const USER: &str = "Pid:\t4242\nUid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-7";

fn written(machine: &Machine) -> TempDir {
    // Some hundred small files each: in memory where there is such a place.
    let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let root = root.expect("a directory");
    machine.write_below(root.path()).expect("a tree");
    root
}

fn facts(root: &Path) -> Facts {
    let live = Live { cpuid: None, ..Live::here() };
    machine_from(root, &live)
}

fn shown_in(root: &Path) -> Controls {
    show(&Tree::new(root), &facts(root), None, &mut || ())
}

fn shown(machine: &Machine) -> Controls {
    shown_in(written(machine).path())
}

fn of<'a>(controls: &'a Controls, id: &str) -> &'a Control {
    let found = controls.controls.iter().find(|control| control.id == id);
    found.unwrap_or_else(|| panic!("no control {id}"))
}

fn advised(controls: &Controls) -> Vec<&str> {
    let ids = controls.advice.iter().flat_map(|advice| &advice.controls);
    ids.map(String::as_str).collect()
}
