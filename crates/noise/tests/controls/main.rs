//! What `noise show` reports, and what `noise tune` would set, on the machines of `src/machines/`.
//! `rules.rs`: rules for every machine; `variations.rs`: one thing changed at a time, as a table;
//! `activity.rs`: counters that move between two readings. Setting and restoring is tested in `tests/tune`.

mod activity;
mod rules;
mod variations;

use model::machine::Machine as Facts;
use model::noise::control::{Control, Controls};
use noise::control::inspect_controls;
use noise::machines::MachineFiles;
use std::path::Path;
use sys::files::Tree;
use sys::machine::{Live, machine_from};
use tempfile::TempDir;

const CPUS: &str = "/sys/devices/system/cpu";

/// proc_pid_status(5) of an ordinary user.
const USER: &str = "Pid:\t4242\nUid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t0-7";

fn written(machine: &MachineFiles) -> TempDir {
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
    inspect_controls(&Tree::new(root), &facts(root), None, &mut || ())
}

fn shown(machine: &MachineFiles) -> Controls {
    shown_in(written(machine).path())
}

fn control_by_id<'a>(controls: &'a Controls, id: &str) -> &'a Control {
    let found = controls.controls.iter().find(|control| control.id == id);
    found.unwrap_or_else(|| panic!("no control {id}"))
}

fn advised(controls: &Controls) -> Vec<&str> {
    let ids = controls.advice.iter().flat_map(|advice| &advice.controls);
    ids.map(String::as_str).collect()
}
