//! The ring of processes on bad days: a member is killed, descriptors run
//! out, its parent is killed. What is left of it is looked for in /proc.
#![allow(clippy::disallowed_methods)]
#![cfg(any(target_os = "linux", target_os = "android"))]

use meter::probe::{Event, MachineShape, Probe, Site, WorkError};
use meter::worker_memory::WorkerMemory;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Set where this program runs once more to play a part.
const PART: &str = "LATLAS_TEST_PART";

/// Samples that take many minutes.
const FOREVER: u32 = 1_000_000;

/// Members of one ring, forked while another is made, would hold its pipes;
/// and each test counts this process's children.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn worker() -> WorkerMemory {
    let machine = MachineShape {
        largest_bytes: 64 << 20,
        cpus: sys::affinity::allowed_cpus().expect("affinity"),
        ..MachineShape::default()
    };
    WorkerMemory::new(machine, 0, 0, 1)
}

fn probe() -> Probe {
    probes::catalogue()
        .into_iter()
        .find(|probe| probe.id == "sched.ring")
        .expect("in the catalogue")
}

/// Samples of a ring that is made for it, and its notes.
fn samples(
    processes: u64,
    array: u64,
    samples: u32,
) -> Result<(Vec<Event>, Vec<String>), WorkError> {
    let mut worker = worker();
    let site = Site { variant: String::new(), at: vec![processes, array] };
    let mut work = (probe().make)(&mut worker, &site)?;
    let events = work.stamped(samples)?;
    Ok((events, work.notes()))
}

/// Children of a process, zombies among them.
fn children_of(parent: u32) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .expect("readable")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // The name in parentheses may hold anything; fields follow it.
            let fields = stat.rsplit(')').next().unwrap_or_default();
            fields.split_whitespace().nth(1) == Some(&parent.to_string())
        })
        .collect()
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(180);
    while Instant::now() < until {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("waited three minutes for {what}");
}

fn kill(pid: u32) {
    let done =
        Command::new("sh").args(["-c", &format!("kill -KILL {pid}")]).status().expect("sh runs");
    assert!(done.success());
}

/// This program again, in a part, after what `before` does in a shell.
fn actor(part: &str, before: &str) -> Child {
    let program = std::env::current_exe().expect("it has a name");
    Command::new("sh")
        .args(["-c", &format!("{before}; exec \"$0\" --exact a_part --nocapture")])
        .arg(program)
        .env(PART, part)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts")
}

/// No test: what this program does in a part.
#[test]
fn a_part() {
    match std::env::var(PART).as_deref() {
        Ok("two rings") => {
            for processes in [4, 64] {
                let printed = match samples(processes, 0, 1) {
                    Ok((events, _)) => format!("{} events", events.len()),
                    Err(error) => error.to_string(),
                };
                println!("ring of {processes}: {printed}");
            }
            println!("children left: {}", children_of(std::process::id()).len());
        }
        Ok("hold") => {
            // Until it is killed.
            let _ = samples(8, 0, FOREVER);
        }
        _ => {}
    }
}

#[test]
fn a_sample_is_many_hops_and_nothing_is_left() {
    let _alone = alone();
    for (processes, array) in [(2, 0), (5, 16 << 10)] {
        let (events, notes) = samples(processes, array, 3).expect("a ring");
        assert_eq!(events.len(), 3);
        for event in events {
            assert!(event.ops >= 500 && event.ops.is_multiple_of(processes));
            assert!(event.from_ticks > 0 && event.to_ticks > 0, "both are stamped");
        }
        assert!(
            notes[0].starts_with(&format!("context switches per hop, ring of {processes}: ")),
            "{notes:?}"
        );
        assert!(children_of(std::process::id()).is_empty());
    }
}

#[test]
fn a_killed_member_is_a_reason_and_ends_the_others() {
    let _alone = alone();
    let this = std::process::id();
    // That it comes back is half of the test.
    let error = std::thread::scope(|scope| {
        scope.spawn(move || {
            let members = wait_for("the ring", || {
                let members = children_of(this);
                (members.len() == 7).then_some(members)
            });
            // Into the measuring.
            std::thread::sleep(Duration::from_millis(50));
            kill(members[3]);
        });
        samples(8, 16 << 10, FOREVER).expect_err("a member was killed")
    });
    assert!(error.to_string().starts_with("a ring member was killed by signal 9"), "{error}");
    assert!(children_of(this).is_empty(), "no zombie either");
}

#[test]
#[cfg_attr(
    target_arch = "aarch64",
    ignore = "a shell starts this program again, which it can't where an emulator runs it"
)]
fn too_few_descriptors_are_a_reason_for_large_rings_only() {
    let _alone = alone();
    let Output { stdout, .. } =
        actor("two rings", "ulimit -n 32").wait_with_output().expect("ends");
    let printed = String::from_utf8_lossy(&stdout);
    assert!(printed.contains("ring of 4: 1 events"), "{printed}");
    assert!(printed.contains("ring of 64: the pipes can't be opened: "), "{printed}");
    assert!(printed.contains("ulimit -n"), "{printed}");
    assert!(printed.contains("children left: 0"), "{printed}");
}

#[test]
#[cfg_attr(
    target_arch = "aarch64",
    ignore = "a shell starts this program again, which it can't where an emulator runs it"
)]
fn members_end_with_a_killed_parent() {
    let _alone = alone();
    let mut parent = actor("hold", ":");
    let members = wait_for("the ring", || {
        let members = children_of(parent.id());
        (members.len() == 7).then_some(members)
    });
    parent.kill().expect("killed");
    parent.wait().expect("reaped");
    wait_for("the members' end", || {
        let alive = |pid: &u32| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            !status.is_empty() && !status.contains("State:\tZ")
        };
        (!members.iter().any(alive)).then_some(())
    });
}
