//! The rows that make processes: each in this process, a few times, and then
//! nothing is left of it.
//!
//! One test does all, since it asks for *any* child: another test's would
//! stand in the way.

use meter::machine_shape::MachineShape;
use meter::probe::{Probe, Site};
use meter::worker_memory::WorkerMemory;
use model::run::Regime;
use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, waitid};
use std::path::Path;

fn children_left() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}

fn works(worker: &mut WorkerMemory, probe: &Probe, children: u32) {
    let site = Site { variant: String::new(), at: Vec::new() };
    let mut work = (probe.make)(worker, &site).unwrap_or_else(|why| panic!("{}: {why}", probe.id));
    let events = work.stamped(children).expect("stamped");
    assert_eq!(events.len(), children as usize, "{}", probe.id);
    for event in events {
        assert!(event.to_ticks > event.from_ticks, "{}: {event:?}", probe.id);
        assert_eq!((event.ops, event.series, event.mode), (1, 0, 0));
    }
    assert_eq!(work.ops_per_turn(), 1.0);
    work.verify().expect("it holds");
    let notes = work.notes();
    let says = |what: &str| notes.iter().any(|note| note.contains(what));
    match probe.id.as_ref() {
        "process.fork_exit" => assert!(says("a fork copies"), "{notes:?}"),
        "process.fork_exec" => assert!(says("/true") && says("a fork copies"), "{notes:?}"),
        "process.shell" => assert!(says("sh") && says("-c /"), "{notes:?}"),
        "process.spawn_wait" => assert!(says("/false"), "{notes:?}"),
        other => panic!("{other} is new: what must it say?"),
    }
}

#[test]
fn nothing_is_left_of_any_child() {
    let machine = sys::machine_facts(Path::new("/"));
    let mut worker =
        WorkerMemory::new(MachineShape::from_machine(&machine, vec![0], None), 64 << 20, 0, 1);
    let rows: Vec<Probe> =
        probes::catalogue().into_iter().filter(|probe| probe.group() == "process").collect();
    assert_eq!(rows.len(), 4);
    assert!(!children_left(), "before");
    // What another row left behind: 64 MiB in the buffer, 4 MiB of order.
    worker.huge(64 << 20).expect("memory").1.shuffle(1 << 20, 1);
    for probe in &rows {
        assert_eq!(probe.regime, Regime::Stamped);
        works(&mut worker, probe, 3);
        assert!(!children_left(), "{}", probe.id);
    }
    assert!(worker.order.elements().is_empty(), "given back");
    // An emulator in user mode does not pass the advice on.
    let emulated = machine.emulated.get().is_some_and(|by| by.present_name().is_some());
    if let (false, Ok(copied)) = (emulated, sys::pages::copied_by_fork_bytes()) {
        assert!(copied < 32 << 20, "{copied}: not the buffer");
    }

    // A parent that ignores its children hands that down: they end all the
    // same, and with a status.
    let this_test = sys::process::this_program().expect("this test");
    let ignoring = std::process::Command::new("env")
        .arg("--ignore-signal=CHLD")
        .arg(this_test.get_program())
        .args(this_test.get_args())
        .args(["--exact", "ignored_children", "--ignored"])
        .output()
        .expect("env");
    assert!(ignoring.status.success(), "{}", String::from_utf8_lossy(&ignoring.stdout));
    assert!(!children_left(), "after");
}

/// Run by the test above, with SIGCHLD ignored.
#[test]
#[ignore = "needs a parent that ignores SIGCHLD"]
fn ignored_children() {
    let machine = sys::machine_facts(Path::new("/"));
    let mut worker =
        WorkerMemory::new(MachineShape::from_machine(&machine, vec![0], None), 0, 0, 1);
    for probe in probes::catalogue() {
        if probe.group() == "process" {
            works(&mut worker, &probe, 2);
        }
    }
}
