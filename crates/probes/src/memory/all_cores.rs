//! Streaming on all CPUs at once.

use super::team::{TeamJob, workers};
use crate::engine::team::{Team, others};
use crate::engine::threads::alone;
use meter::probe::{Effort, MachineShape, Probe, Shape, Work, WorkingSet};
use model::run::{Axis, Bound, Regime, Scale};
use model::unit::Unit;

const PROBES: [(&str, TeamJob, &str); 3] = [
    ("memory.read_all_cores", TeamJob::Read, "sum += p[i]"),
    ("memory.write_all_cores", TeamJob::Write, "p[i] = 1"),
    ("memory.copy_all_cores", TeamJob::Copy, "memcpy"),
];

pub(crate) fn all_cores_probes() -> Vec<Probe> {
    PROBES
        .iter()
        .map(|&(id, job, words)| Probe {
            title: format!("speed of {words} on all CPUs together, by working set of each").into(),
            operation: format!("One byte by {words}, counted over all threads: one thread on each CPU that may be used, each with its own memory.").into(),
            method: "Threads, one pinned to each CPU, spin until the signal; a sample lasts from the signal until the last of them is done. One canary can't show that several CPUs are quiet, so the distribution is reported.".into(),
            source: "Ours; the loops are those of memory.read, memory.write and memory.copy.".into(),
            unit: Unit::Bandwidth { bytes_per_op: 1.0 },
            bound: Bound::Memory,
            regime: Regime::Distribution,
            since: Scale::Default,
            shape: Shape::Curve(Axis::WorkingSetBytes, points),
            effort: Effort::of_memory(1, 10, WorkingSet::Point(1), 2.0),
            second_buffer: true,
            unavailable: alone,
            make: Box::new(move |worker, site| {
                let bytes = site.at[0];
                let cpus = others(&worker.machine);
                let team = workers(&cpus, job, bytes as usize)?;
                let (memory, ..) = worker.huge(bytes)?;
                let bytes = (cpus.len() + 1) * job.bytes(memory.len());
                Ok(Box::new(Together { team, job, memory, bytes: bytes as f64 }))
            }),
            ..Probe::blank(id)
        })
        .collect()
}

/// All threads' passes, begun and ended together.
struct Together<'m> {
    team: Team,
    job: TeamJob,
    memory: &'m mut [u8],
    /// Bytes of a pass of all of them.
    bytes: f64,
}

impl Work for Together<'_> {
    fn ops_per_turn(&self) -> f64 {
        self.bytes
    }
    fn restore(&mut self) {
        self.run(2, false);
    }
    fn run(&mut self, turns: u64, _double: bool) {
        self.team.begin_passes(turns);
        for _ in 0..turns {
            self.job.pass(self.memory);
        }
        self.team.finish();
    }
    fn contradiction(&self) -> Option<String> {
        self.team.contradiction()
    }
}

/// Half of L1, half of L2, and of the last level what one CPU's share of a
/// half and of the double is.
fn points(machine: &MachineShape, _: Scale) -> Vec<u64> {
    let share = |bytes: u64| bytes / machine.cpus.len() as u64 / 4096 * 4096;
    let mut points = vec![
        machine.l1_bytes / 2,
        machine.l2_bytes / 2,
        share(machine.last_level_bytes / 2),
        share(2 * machine.last_level_bytes),
    ];
    points.retain(|&bytes| bytes > 0 && bytes <= machine.largest_bytes);
    points.sort_unstable();
    points.dedup();
    points
}
