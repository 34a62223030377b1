//! The rows of hand-offs, by means and placement.

use super::means::{Condvars, EventFds, Futexes, Pipes, Semaphores, Spin, Streams};
use super::pair::{Made, Manner, Pair, WARM_UP};
use super::placement::Placement;
use super::switches::Waiting;
use crate::across::alone;
use meter::probe::{Effort, Probe, Terrain};
use model::run::{Bound, Regime, Scale};

/// A means, in words and in code, and the row of its free placement.
struct Row {
    id: &'static str,
    variant: &'static str,
    title: &'static str,
    /// How it hands over and waits.
    how: &'static str,
    waiting: Waiting,
    /// Where the definition comes from, and what others measure under the
    /// name.
    source: &'static str,
    work: fn(Manner, &Terrain) -> Made,
}

const ROWS: [Row; 6] = [
    Row {
        id: "sync.semaphore_switch",
        variant: "",
        title: "semaphore",
        how: "A semaphore for each direction: sem_post and sem_wait of unnamed POSIX semaphores (libdispatch's on Apple systems).",
        waiting: Waiting::Sleeps,
        source: "Kurkin's semaphore test: two threads, two dispatch semaphores, reported per one-way hand-off, threads placed by the system as in /free. LMbench's lat_sem is another operation: two processes, and one System V semop that takes its own semaphore and posts the other's at once; the kernel completes it for a sleeper, so that it sleeps once in three calls across CPUs, and it is reported by half an iteration. There is no System V row, because such semaphores outlive a killed process.",
        work: |manner, terrain| Pair::made(Semaphores::new()?, manner, terrain),
    },
    Row {
        id: "sync.handoff",
        variant: "futex",
        title: "futex",
        how: "A word of memory for each direction, private to the process: a store and FUTEX_WAKE, and FUTEX_WAIT while the word is 0, without spinning first.",
        waiting: Waiting::Sleeps,
        source: "Ours; what mutexes, semaphores and condition variables are made of on Linux.",
        work: |manner, terrain| Pair::made(Futexes::new()?, manner, terrain),
    },
    Row {
        id: "sync.handoff",
        variant: "condvar",
        title: "mutex and condition variable",
        how: "The standard library's Mutex and Condvar, a pair for each direction, notified after the unlock.",
        waiting: Waiting::Sleeps,
        source: "Ours; how most programs wait for each other.",
        work: |manner, terrain| Pair::made(Condvars::default(), manner, terrain),
    },
    Row {
        id: "sync.handoff",
        variant: "pipe",
        title: "pipe",
        how: "A pipe for each direction, one byte written and read.",
        waiting: Waiting::Sleeps,
        source: "LMbench's lat_pipe with two differences: it uses two processes, so that each switch also changes the address space, and it reports the whole round trip, twice ours. It does not pin them: on one CPU (taskset) it stands beside /same_cpu, with LMBENCH_SCHED=UNIQUE beside /other_cpu. perf bench sched pipe is the same with 4 bytes, round trips too.",
        work: |manner, terrain| Pair::made(Pipes::new()?, manner, terrain),
    },
    Row {
        id: "sync.handoff",
        variant: "eventfd",
        title: "eventfd",
        how: "An eventfd for each direction: 8 bytes written and read.",
        waiting: Waiting::Sleeps,
        source: "Ours; how event loops are woken on Linux.",
        work: |manner, terrain| Pair::made(EventFds::new()?, manner, terrain),
    },
    Row {
        id: "sync.handoff",
        variant: "unix_socket",
        title: "unix socket",
        how: "A connected pair of unix stream sockets, one byte written and read.",
        waiting: Waiting::SleepsStirred,
        source: "LMbench's lat_unix with two differences: it uses two processes, so that each switch also changes the address space, and it reports the whole round trip, twice ours. It does not pin them: on one CPU (taskset) it stands beside /same_cpu, with LMBENCH_SCHED=UNIQUE beside /other_cpu.",
        work: |manner, terrain| Pair::made(Streams::unix()?, manner, terrain),
    },
];

/// Placement, its part of a row's id, its words in a title, its sentence in a
/// method, and how long a round trip takes there, about.
const PLACEMENTS: [(Placement, &str, &str, &str, f64); 3] = [
    (
        Placement::Free,
        "free",
        "free placement",
        "Both threads may use every allowed CPU, which is what a program gets; where the scheduler put them is recorded at each hand-off, and each mode is told with its share.",
        40_000.0,
    ),
    (
        Placement::SameCpu,
        "same_cpu",
        "same CPU",
        "Both threads are pinned to the measuring CPU, so that each hand-off is a switch between them.",
        5_000.0,
    ),
    (
        Placement::OtherCpu,
        "other_cpu",
        "other CPU",
        "The second thread is pinned to another CPU, which has nothing else to do and may have gone to sleep: waking it is part of the hand-off.",
        80_000.0,
    ),
];

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = Vec::new();
    for row in &ROWS {
        for (placement, name, label, sentence, round_trip_ns) in PLACEMENTS {
            let variant = match (row.variant, placement) {
                // The catalogue names all three of this one.
                ("", _) => name.to_string(),
                (means, Placement::Free) => means.to_string(),
                (means, _) => format!("{means}/{name}"),
            };
            let work = row.work;
            let manner = Manner {
                placement,
                warm_up: WARM_UP,
                trips_per_event: 1,
                ops_per_trip: 2,
                waiting: row.waiting,
            };
            probes.push(Probe {
                variants: vec![variant.into()],
                title: format!("hand-off by {}, {}", row.title, label).into(),
                operation: "One hand-off from a thread to another that sleeps until then, one way: half of a round trip.".into(),
                method: format!(
                    "{} {sentence} The first thread stamps each of 100 round trips after 20 that warm up. {}",
                    row.how,
                    row.waiting.text(placement)
                )
                .into(),
                source: row.source.into(),
                since: match (row.variant, placement) {
                    ("", _) | (_, Placement::Free) => Scale::Quick,
                    _ => Scale::Default,
                },
                effort: effort(100, round_trip_ns),
                unavailable: if placement == Placement::OtherCpu { alone } else { |_| None },
                make: Box::new(move |bench, _| work(manner, &bench.terrain)),
                ..blank(row.id)
            });
        }
    }
    probes.push(spin());
    probes
}

fn spin() -> Probe {
    const TRIPS: u32 = 100;
    Probe {
        variants: vec!["spin".into()],
        title: "hand-off by a spinning thread on another CPU".into(),
        operation: "One hand-off from a thread to another that watches a word of memory on its own CPU, one way: half of a round trip.".into(),
        method: format!("One word says whose turn it is; each thread, pinned to a CPU of its own, loads it in a loop without a pause instruction until it is its own, and stores the other's. 100 round trips between two stamps, since the stamps would show in one. {}", Waiting::Spins.text(Placement::OtherCpu)).into(),
        source: "Ours, for the price of not sleeping; memory.core_to_core has it for each pair of CPUs.".into(),
        since: Scale::Default,
        effort: effort(30, f64::from(TRIPS) * 400.0),
        unavailable: alone,
        make: Box::new(|bench, _| {
            let manner = Manner {
                placement: Placement::OtherCpu,
                warm_up: WARM_UP,
                trips_per_event: TRIPS,
                ops_per_trip: 2,
                waiting: Waiting::Spins,
            };
            Pair::made(Spin::default(), manner, &bench.terrain)
        }),
        ..blank("sync.handoff")
    }
}

fn blank(id: &'static str) -> Probe {
    Probe {
        bound: Bound::Memory,
        regime: Regime::Stamped,
        ..Probe::blank(id)
    }
}

fn effort(samples: u32, sample_ns: f64) -> Effort {
    Effort {
        visits: 2,
        samples,
        sample_ns: Some(sample_ns),
        ..Effort::SCALAR
    }
}
