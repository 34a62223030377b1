//! The rows of hand-offs, by means and placement.

use super::means::{EventFd, Futex, Lanes, MutexCondvar, Spin, Streams};
use super::pair::{Pair, PairResult};
use super::placement::Placement;
use super::plan::HandoffPlan;
use super::plan::Waiting;
use crate::engine::threads::alone;
use meter::probe::{Effort, MachineShape, Probe, SharedPart};
use model::run::{Bound, Regime, Scale};
use std::io;
use sys::semaphore::Semaphore;

/// A means, in words and in code.
pub(crate) struct HandoffRow {
    pub(crate) id: &'static str,
    /// By [`Placement`].
    pub(crate) variants: [&'static str; 3],
    pub(crate) title: &'static str,
    /// How it hands over and waits.
    pub(crate) how: &'static str,
    pub(crate) waiting: Waiting,
    /// Where the definition comes from, and what others measure under the
    /// name.
    pub(crate) source: &'static str,
    pub(crate) work: fn(HandoffPlan, &MachineShape) -> PairResult,
}

const ROWS: [HandoffRow; 6] = [
    HandoffRow {
        id: "sync.semaphore_switch",
        variants: ["same_cpu", "other_cpu", "free"],
        title: "semaphore",
        how: "A semaphore for each direction: sem_post and sem_wait of unnamed POSIX semaphores (libdispatch's on Apple systems).",
        waiting: Waiting::Sleeps,
        source: "Kurkin's semaphore test: two threads, two dispatch semaphores, reported per one-way hand-off, threads placed by the system as in /free. LMbench's lat_sem is another operation: two processes, and one System V semop that takes its own semaphore and posts the other's at once; the kernel completes it for a sleeper, so that it sleeps once in three calls across CPUs, and it is reported by half an iteration. There is no System V row, because such semaphores outlive a killed process.",
        work: |plan, machine| {
            Pair::made(Lanes::new("a semaphore", || Semaphore::new(0))?, plan, machine)
        },
    },
    HandoffRow {
        id: "sync.handoff",
        variants: ["futex/same_cpu", "futex/other_cpu", "futex"],
        title: "futex",
        how: "A word of memory for each direction, private to the process: a store and FUTEX_WAKE, and FUTEX_WAIT while the word is 0, without spinning first.",
        waiting: Waiting::Sleeps,
        source: "Ours; what mutexes, semaphores and condition variables are made of on Linux.",
        work: |plan, machine| Pair::made(Lanes::new("a futex", Futex::new)?, plan, machine),
    },
    HandoffRow {
        id: "sync.handoff",
        variants: ["condvar/same_cpu", "condvar/other_cpu", "condvar"],
        title: "mutex and condition variable",
        how: "The standard library's Mutex and Condvar, a pair for each direction, notified after the unlock.",
        waiting: Waiting::Sleeps,
        source: "Ours; how most programs wait for another thread.",
        work: |plan, machine| {
            let lanes = Lanes::new("a condition variable", || Ok(MutexCondvar::default()));
            Pair::made(lanes?, plan, machine)
        },
    },
    HandoffRow {
        id: "sync.handoff",
        variants: ["pipe/same_cpu", "pipe/other_cpu", "pipe"],
        title: "pipe",
        how: "A pipe for each direction, one byte written and read.",
        waiting: Waiting::Sleeps,
        source: "LMbench's lat_pipe with two differences: it uses two processes, so that each switch also changes the address space, and it reports the whole round trip, twice this row. It does not pin them: run on one CPU (taskset) it compares with /same_cpu, with LMBENCH_SCHED=UNIQUE with /other_cpu. perf bench sched pipe is the same with 4 bytes, round trips too.",
        work: |plan, machine| Pair::made(Lanes::new("a pipe", io::pipe)?, plan, machine),
    },
    HandoffRow {
        id: "sync.handoff",
        variants: ["eventfd/same_cpu", "eventfd/other_cpu", "eventfd"],
        title: "eventfd",
        how: "An eventfd for each direction: 8 bytes written and read.",
        waiting: Waiting::Sleeps,
        source: "Ours; how event loops are woken on Linux.",
        work: |plan, machine| Pair::made(Lanes::new("an eventfd", EventFd::new)?, plan, machine),
    },
    HandoffRow {
        id: "sync.handoff",
        variants: ["unix_socket/same_cpu", "unix_socket/other_cpu", "unix_socket"],
        title: "unix socket",
        how: "A connected pair of unix stream sockets, one byte written and read.",
        waiting: Waiting::SleepsStirred,
        source: "LMbench's lat_unix with two differences: it uses two processes, so that each switch also changes the address space, and it reports the whole round trip, twice this row. It does not pin them: run on one CPU (taskset) it compares with /same_cpu, with LMBENCH_SCHED=UNIQUE with /other_cpu.",
        work: |plan, machine| Pair::made(Streams::unix()?, plan, machine),
    },
];

struct PlacedRow {
    placement: Placement,
    title: &'static str,
    method: &'static str,
    /// How long a round trip takes there, about.
    round_trip_ns: f64,
}

const PLACEMENTS: [PlacedRow; 3] = [
    PlacedRow {
        placement: Placement::Free,
        title: "free placement",
        method: "Both threads may use every allowed CPU, as in most programs; each hand-off records where the scheduler put them, and each mode has its share; a mode of its own, where the kernel counts it, is a woken thread's CPU that goes idle in less than half of a batch's round trips, since other programs keep it busy (busy CPU).",
        round_trip_ns: 40_000.0,
    },
    PlacedRow {
        placement: Placement::SameCpu,
        title: "same CPU",
        method: "Both threads are pinned to the measuring CPU, so that each hand-off is a switch between them.",
        round_trip_ns: 5_000.0,
    },
    PlacedRow {
        placement: Placement::OtherCpu,
        title: "other CPU",
        method: "The second thread is pinned to another CPU, which is idle and may be in a sleep state: waking it is part of the hand-off. Where the kernel counts how often it goes idle, batches in which it does so in less than half of the round trips, since other programs keep it busy, are a mode of their own (busy CPU).",
        round_trip_ns: 80_000.0,
    },
];

pub(crate) fn handoff_probes() -> Vec<Probe> {
    let mut probes: Vec<Probe> = ROWS.iter().flat_map(HandoffRow::placed_probes).collect();
    probes.push(spin());
    probes
}

impl HandoffRow {
    /// One probe for each placement.
    pub(crate) fn placed_probes(&'static self) -> impl Iterator<Item = Probe> {
        PLACEMENTS.into_iter().map(|place| self.placed_probe(place))
    }

    fn placed_probe(&'static self, place: PlacedRow) -> Probe {
        let plan = HandoffPlan::round_trips(place.placement, self.waiting);
        let (work, waiting) = (self.work, self.waiting.assumption(place.placement));
        Probe {
            variants: vec![self.variants[place.placement as usize].into()],
            title: format!("hand-off by {}, {}", self.title, place.title).into(),
            operation: "One hand-off from a thread to another that sleeps until then, one way: half of a round trip.".into(),
            method: format!("{} {} The first thread stamps each of 100 round trips, after 100 that warm up. {waiting}", self.how, place.method).into(),
            source: self.source.into(),
            since: match self.id {
                "sync.handoff" if place.placement != Placement::Free => Scale::Default,
                _ => Scale::Quick,
            },
            effort: Effort::stamped(2, 100, place.round_trip_ns),
            unavailable: match place.placement {
                Placement::OtherCpu => alone,
                _ => |_| None,
            },
            make: Box::new(move |worker, _| work(plan, &worker.machine)),
            ..blank(self.id)
        }
    }
}

fn spin() -> Probe {
    const TRIPS: u32 = 100;
    Probe {
        variants: vec!["spin".into()],
        title: "hand-off by a spinning thread on another CPU".into(),
        operation: "One hand-off from a thread to another that polls a word of memory on its own CPU, one way: half of a round trip.".into(),
        method: format!("One word says whose turn it is; each thread, pinned to its own CPU, loads it in a loop without a pause instruction until it is its turn, and stores the other's. 100 round trips between two stamps, since the stamps would show in one. {}", Waiting::Spins.assumption(Placement::OtherCpu)).into(),
        source: "Ours: the cost without sleeping; memory.core_to_core has it for each pair of CPUs.".into(),
        since: Scale::Default,
        effort: Effort::stamped(2, 30, TRIPS as f64 * 400.0),
        unavailable: alone,
        depends_on: Some(SharedPart::CpuPlacement),
        make: Box::new(|worker, _| {
            let plan = HandoffPlan {
                trips_per_event: TRIPS,
                ..HandoffPlan::round_trips(Placement::OtherCpu, Waiting::Spins)
            };
            Pair::made(Spin::default(), plan, &worker.machine)
        }),
        ..blank("sync.handoff")
    }
}

fn blank(id: &'static str) -> Probe {
    Probe { bound: Bound::Memory, regime: Regime::Stamped, ..Probe::blank(id) }
}
