//! Hand-offs by semaphores of libdispatch.

use super::{found, missing};
use crate::engine::threads::alone;
use crate::handoff::means::{Lane, Lanes};
use crate::handoff::pair::Pair;
use crate::handoff::plan::Waiting;
use crate::handoff::rows::HandoffRow;
use meter::probe::Probe;
use std::io;
use sys::dispatch::Semaphore;

static ROW: HandoffRow = HandoffRow {
    id: "dispatch.semaphore_switch",
    variants: ["same_cpu", "other_cpu", "free"],
    title: "semaphore of libdispatch",
    how: "A semaphore for each direction: dispatch_semaphore_signal and dispatch_semaphore_wait, called through pointers.",
    waiting: Waiting::Sleeps,
    source: "Kurkin's semaphore test: two threads, two dispatch semaphores, reported per one-way hand-off, threads placed by the system as in /free. On Apple systems sync.semaphore_switch calls the same functions.",
    work: |plan, machine| {
        let dispatch = found()?;
        Pair::made(Lanes::new("a semaphore", || dispatch.semaphore())?, plan, machine)
    },
};

pub(super) fn semaphore_probes() -> impl Iterator<Item = Probe> {
    ROW.placed_probes().map(|probe| Probe {
        unavailable: match probe.variants == ["other_cpu"] {
            true => |machine| missing().or_else(|| alone(machine)),
            false => |_| missing(),
        },
        ..probe
    })
}

impl Lane for Semaphore {
    fn put(&self) -> io::Result<()> {
        self.signal();
        Ok(())
    }
    fn take(&self) -> io::Result<()> {
        self.wait();
        Ok(())
    }
}
