//! LMbench's context switch: a token in a ring of processes.

use crate::engine::reason::Reason;
use crate::engine::switches::{self, Rate};
use crate::engine::threads::own_id;
use kernels::checked::{sum, words};
use meter::probe::{Effort, Event, MachineShape, Probe, Shape, Work, WorkError, WorkingSet};
use model::run::{Axis, Bound, Regime, Scale};
use model::share::percent;
use std::hint::black_box;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::time::{Duration, Instant};
use sys::clock::Counter;
use sys::evidence::{Switches, scheduled_thread};
use sys::ring::{NoRing, TokenRing};

/// Hops between two stamps: a few milliseconds.
const HOPS: u64 = 512;
/// Turns before the first stamp, in which each process touches what it needs.
const WARM_UP_TURNS: u64 = 2;
/// How long the token may stay away: a turn of the largest ring takes less
/// than a millisecond.
const PATIENCE: Duration = Duration::from_secs(10);
/// Context switches per hop that the method allows, with a tenth to either
/// side: one to the receiver; and one more where the receiver took the CPU from
/// the sender, which must be switched back to before it can wait.
const ONE_OR_TWO: std::ops::RangeInclusive<f64> = 0.9..=2.1;

/// Share of a visit in which other programs may have the ring's CPU.
const OTHERS_AT_MOST: f64 = 0.2;

pub(crate) fn ring_probe() -> Probe {
    Probe {
        title: "a context switch in a ring of processes".into(),
        operation: "One hop of a token from one process of a ring to the next through a pipe, each process summing its own array (0, 16 or 64 KiB) when it has the token; without the cost of the same write, read and sum in a single process.".into(),
        method: "N processes, the worker and those it forks, all on the CPU that the worker is pinned to. Each sample takes about 512 hops round the ring, and before them as many writes and reads of one process through N pipes in turn, with a sum each: the row is the difference, and stays negative where noise makes it so. Either is preceded by one turn that is not stamped, since the other one had the caches. What the arrays of the others evict from the caches is part of it. The kernel's counts of all processes' context switches must come to one per hop, or up to two: a receiver that is woken may take the CPU from the sender, which then runs once more before it waits. The notes have them. So must the CPU be the processes' for 80 % of a batch.".into(),
        source: "LMbench's lat_ctx, which leaves the processes to the scheduler unless LMBENCH_SCHED says otherwise (compare with LMBENCH_SCHED=SINGLE, or under taskset), takes the single process's cost once for all N, and sums 8-byte elements where we sum 4-byte ones.".into(),
        bound: Bound::Memory,
        regime: Regime::Stamped,
        since: Scale::Full,
        shape: Shape::Map {
            y: (Axis::Processes, |_: &MachineShape, _: Scale| {
                vec![2, 4, 8, 16, 24, 32, 64, 96]
            }),
            x: (Axis::WorkingSetBytes, |_, _| vec![0, 16 << 10, 64 << 10]),
        },
        effort: Effort {
            visits: 1,
            samples: 4,
            working_set: WorkingSet::None,
            restore_ns_per_byte: 0.0,
            // Samples take 3 to 17 ms; and each process of a ring, 31 on
            // average, half a millisecond to fork and to end.
            sample_ns: Some(12e6),
        },
        make: Box::new(|_, site| {
            let processes = site.at[0] as usize;
            let array = site.at[1] as usize;
            Ok(Box::new(RingWork::start_ring(processes, array)?))
        }),
        ..Probe::blank("sched.ring")
    }
}

fn sum_array(array: &[u8]) -> u64 {
    u64::from(sum(words(array)))
}

struct RingWork {
    processes: u64,
    ring: TokenRing,
    single: Single,
    note: Option<String>,
    contradiction: Option<String>,
    /// Share of the last visit in which their CPU was not the members'.
    others: Option<f64>,
}

impl RingWork {
    fn start_ring(processes: usize, array_bytes: usize) -> Result<RingWork, Reason> {
        let ring = TokenRing::start_ring(processes, array_bytes, sum_array).map_err(ring_reason)?;
        // After the ring, whose processes would inherit the pipes.
        let single =
            Single::new(processes, array_bytes).map_err(|e| ring_reason(NoRing::Pipes(e)))?;
        Ok(RingWork {
            processes: processes as u64,
            ring,
            single,
            note: None,
            contradiction: None,
            others: None,
        })
    }

    /// Turns of a sample.
    fn turns(&self) -> u64 {
        (HOPS / self.processes).max(1)
    }

    fn measure_laps(&mut self, samples: u32) -> io::Result<Vec<Event>> {
        let (turns, processes) = (self.turns(), self.processes);
        let (before_ns, began) = (self.run_time_ns(), Instant::now());
        let single = &mut self.single;
        let events =
            self.ring.watched(PATIENCE, |ring| stamp(ring, single, processes, turns, samples))?;
        let ran_ns = before_ns.zip(self.run_time_ns()).map(|(before, after)| after - before);
        self.others = ran_ns.map(|ns| others_share(ns, began.elapsed()));
        Ok(events)
    }

    /// CPU time of all members.
    fn run_time_ns(&self) -> Option<u64> {
        let own = own_id()?;
        let all = std::iter::once(own).chain(self.ring.ids());
        all.map(|id| Some(scheduled_thread(id)?.ran_ns)).sum()
    }

    /// Whether the kernel saw what the method assumes.
    fn judge_samples(&mut self, samples: u32) -> Result<(), Reason> {
        let members = self.ring.members();
        // One more turn before each stamp.
        let turns = u64::from(samples) * (self.turns() + 1);
        let expected = WARM_UP_TURNS + turns + 2;
        if let Some(other) = members.iter().find(|m| m.turns != expected) {
            return Err(Reason::wrong(format!(
                "a member had the token {} times instead of {expected}",
                other.turns
            )));
        }
        if let Some(switches) = switches::sum(members.iter().map(|m| m.switches)) {
            // The wait for the turn that ended the counting counts too.
            self.judge_switches(switches, self.processes * (turns + 1));
        }
        Ok(())
    }

    fn judge_switches(&mut self, switches: Switches, hops: u64) {
        let hop = format!("hop, ring of {}", self.processes);
        let rate = Rate::per(switches, hops);
        self.note = Some(rate.note(&hop));
        self.contradiction = (!ONE_OR_TWO.contains(&rate.both()))
            .then(|| rate.contradiction(&format!("1 to 2 context switches per {hop}")));
    }
}

/// Which share of this time the members, one of which runs at each moment, did not run.
fn others_share(ran_ns: u64, wall: Duration) -> f64 {
    1.0 - ran_ns as f64 / wall.as_nanos().max(1) as f64
}

/// The stamps of a visit: of the single process and of the ring, alternating.
fn stamp(
    ring: &mut TokenRing,
    single: &mut Single,
    processes: u64,
    turns: u64,
    samples: u32,
) -> io::Result<Vec<Event>> {
    let counter = Counter::best();
    for _ in 0..WARM_UP_TURNS {
        ring.turn()?;
    }
    let mut events = Vec::with_capacity(samples as usize);
    ring.count_from()?;
    for _ in 0..samples {
        single.hops(processes)?;
        let start = counter.start();
        single.hops(turns * processes)?;
        let from_ticks = counter.stop().wrapping_sub(start);
        // The loop before it has evicted what the members had.
        ring.turn()?;
        let start = counter.start();
        for _ in 0..turns {
            ring.turn()?;
        }
        let to_ticks = counter.stop().wrapping_sub(start);
        events.push(Event {
            series: 0,
            from_ticks,
            to_ticks,
            ops: turns * processes,
            mode: 0,
            place: None,
        });
    }
    ring.count_to()?;
    Ok(events)
}

fn ring_reason(why: NoRing) -> Reason {
    match why {
        NoRing::Memory(e) => Reason::call("can't allocate the ring's arrays", &e),
        NoRing::Pipes(e) => Reason::missing(format!(
            "the pipes can't be opened: {e}; each process needs two descriptors (ulimit -n)"
        )),
        NoRing::Processes(e) => Reason::not_started("the processes", &e),
    }
}

impl Work for RingWork {
    fn stamped(&mut self, samples: u32) -> Result<Vec<Event>, WorkError> {
        let events = self.measure_laps(samples).map_err(|e| e.to_string())?;
        self.judge_samples(samples)?;
        Ok(events)
    }
    fn contradiction(&self) -> Option<String> {
        let others = || {
            let share = self.others.filter(|&share| share > OTHERS_AT_MOST)?;
            Some(format!("share of a batch in which no member of the ring ran: {}", percent(share)))
        };
        self.contradiction.clone().or_else(others)
    }
    fn notes(&self) -> Vec<String> {
        self.note.iter().cloned().collect()
    }
}

/// What a hop costs without a switch: one process that writes, reads and sums,
/// through as many pipes as the ring has.
struct Single {
    pipes: Vec<(PipeReader, PipeWriter)>,
    next: usize,
    array: Vec<u32>,
}

impl Single {
    fn new(pipes: usize, array_bytes: usize) -> io::Result<Single> {
        Ok(Single {
            pipes: (0..pipes).map(|_| io::pipe()).collect::<Result<_, _>>()?,
            next: 0,
            array: vec![0x0101_0101; array_bytes / 4],
        })
    }

    fn hops(&mut self, hops: u64) -> io::Result<()> {
        let mut token = [0_u8; 4];
        for _ in 0..hops {
            let (from, to) = &mut self.pipes[self.next];
            to.write_all(&token)?;
            from.read_exact(&mut token)?;
            self.next = (self.next + 1) % self.pipes.len();
            black_box(sum(&self.array));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_not_about_one_contradict() {
        let mut ring = RingWork::start_ring(2, 0).expect("a ring");
        let mut judged = |voluntary: u64, involuntary: u64| {
            let both = Switches { voluntary: 2 * voluntary, involuntary: 2 * involuntary };
            ring.judge_switches(both, 200);
            (ring.notes(), ring.contradiction())
        };
        let (notes, contradiction) = judged(60, 40);
        assert_eq!(
            notes,
            ["context switches per hop, ring of 2: 0.60 voluntary, 0.40 involuntary"]
        );
        assert_eq!(contradiction, None);
        assert!(judged(31, 0).1.is_some_and(|text| text.contains("0.31")));
        assert_eq!(judged(100, 90).1, None, "each receiver took the CPU");
        assert!(judged(130, 100).1.is_some(), "more than any order explains");
    }

    #[test]
    fn a_single_process_goes_through_all_pipes() {
        let mut single = Single::new(3, 128).expect("pipes");
        single.hops(4).expect("hops");
        assert_eq!(single.next, 1);
        assert_eq!(sum(&single.array), 32 * 0x0101_0101);
        assert_eq!(sum_array(&[]), 0);
    }
}
