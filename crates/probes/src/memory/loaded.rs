//! What a load from memory costs while the other CPUs stream.

use super::chase::{self, Chase, Restore};
use super::team;
use crate::engine::team::{Team, others};
use crate::engine::threads::alone;
use meter::probe::{Effort, Probe, Shape, Work, WorkingSet};
use model::run::{Axis, Bound, Regime, Scale};
use std::time::Instant;

pub(crate) fn loaded_probe() -> Probe {
    Probe {
        title: "latency of memory while the other CPUs stream".into(),
        operation: "One dependent load from a working set far beyond the caches, while each other CPU reads its own memory for a given share of its time.".into(),
        method: "The chase of memory.latency at its largest set; the load's speed in GB/s is in the notes. Several CPUs: the distribution is reported.".into(),
        source: "The usual loaded-latency curve, as multiload and MLC draw it.".into(),
        bound: Bound::Memory,
        regime: Regime::Distribution,
        since: Scale::Full,
        shape: Shape::Curve(Axis::LoadPercent, |_, scale| match scale {
            Scale::Quick => vec![0, 40, 100],
            Scale::Default | Scale::Full => vec![0, 20, 40, 60, 80, 100],
        }),
        effort: Effort::of_memory(1, 12, WorkingSet::Largest, 1.5),
        unavailable: alone,
        make: Box::new(|worker, site| {
            let cpus = others(&worker.machine);
            let percent = site.at[0];
            let bytes = worker.machine.largest_bytes;
            // The load's memory too lies beyond the caches.
            let own = (2 * worker.machine.last_level_bytes / cpus.len().max(1) as u64).max(1 << 20);
            let team = team::load(&cpus, own as usize, percent)?;
            let chase = chase::random(worker, bytes, Restore::Rewarmed)?;
            Ok(Box::new(Loaded {
                chase,
                before: team.done(),
                team,
                percent,
                began: Instant::now(),
            }))
        }),
        ..Probe::blank("memory.loaded_latency")
    }
}

struct Loaded<'a> {
    chase: Chase<'a>,
    team: Team,
    percent: u64,
    before: u64,
    began: Instant,
}

impl Work for Loaded<'_> {
    fn restore(&mut self) {
        self.chase.restore();
    }
    fn turn_step(&self) -> u64 {
        self.chase.turn_step()
    }
    fn run(&mut self, turns: u64, double: bool) {
        self.chase.run(turns, double);
    }
    fn contradiction(&self) -> Option<String> {
        self.team.contradiction()
    }
    fn notes(&self) -> Vec<String> {
        let bytes = self.team.done() - self.before;
        let speed = bytes as f64 / self.began.elapsed().as_nanos().max(1) as f64;
        let mut notes = self.chase.notes();
        notes.push(format!("load at {:3} %: {speed:.1} GB/s", self.percent));
        notes
    }
}
