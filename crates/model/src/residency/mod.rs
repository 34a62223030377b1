//! On which cores a job ran, from its own blocks of work: each has its CPU at begin
//! and end, its CPU time, and a bound on how often its thread moved. What such a block
//! can't tell is a sum of its own, and never given to a core.

mod judge;
#[cfg(test)]
mod tests;

pub use judge::{ALONE, Carried, Share};

use crate::machine::CoreKind;
use crate::stats::middle;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// A block of work that a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkBlock {
    /// The thread.
    pub thread: u32,
    /// The CPU on which it began.
    pub begin_cpu: u32,
    /// The CPU on which it ended.
    pub end_cpu: u32,
    /// CPU time of the thread in the block.
    pub cpu_ns: u64,
    /// How often the thread moved from one CPU to another at most, counted from before
    /// the begin to after the end: its migrations, else its context switches, since a
    /// thread moves only while it does not run. `None` if nothing was counted.
    pub most_moves: Option<u64>,
    /// The clock of the CPU at its end, by a chain of additions.
    pub clock_hz: Option<u64>,
}

/// What a job did on a core or on cores of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Work {
    /// Blocks done there from begin to end.
    pub blocks: u64,
    /// Their CPU time.
    pub cpu_ns: u64,
}

impl Work {
    fn add_block(&mut self, block: &WorkBlock) {
        self.blocks += 1;
        self.cpu_ns = self.cpu_ns.saturating_add(block.cpu_ns);
    }

    fn add_all(&mut self, other: Work) {
        self.blocks += other.blocks;
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
    }

    /// Blocks per second of CPU time; `None` without any.
    pub fn blocks_per_cpu_second(&self) -> Option<f64> {
        (self.cpu_ns > 0).then(|| self.blocks as f64 / (self.cpu_ns as f64 / 1e9))
    }
}

/// Where a job ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Residency {
    /// The kinds of cores of the machine, the fastest first.
    pub kinds: Vec<KindWork>,
    /// The CPUs that it used for certain, by number.
    pub cpus: Vec<CpuWork>,
    /// Blocks that began and ended on different kinds.
    pub moved_between_kinds: Work,
    /// Blocks that began and ended on one kind, and may have been on another one
    /// in between.
    pub may_have_moved: Work,
    /// Blocks on CPUs of which the kind is not known.
    pub kind_not_known: Work,
    /// All blocks.
    pub all: Work,
}

/// What a job did on one kind of cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindWork {
    /// Name of the kind.
    pub name: String,
    /// Its CPUs on which the job was allowed to run; may be none.
    pub cpus: Vec<u32>,
    /// What it did there for certain.
    pub work: Work,
}

/// What a job did on one CPU for certain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuWork {
    /// The CPU.
    pub cpu: u32,
    /// The work.
    pub work: Work,
    /// Its clock at the ends of these blocks: their median, over several runs the mean of these by
    /// blocks. `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_hz: Option<u64>,
}

/// Where the blocks of a job were done, on a machine with these kinds of cores. The job
/// was allowed to run on `allowed`; all, if that is not known.
pub fn residency<B: Borrow<WorkBlock>>(
    blocks: impl IntoIterator<Item = B>,
    kinds: &[CoreKind],
    allowed: Option<&[u32]>,
) -> Residency {
    let is_allowed = |cpu: &u32| allowed.is_none_or(|allowed| allowed.contains(cpu));
    let kinds = kinds.iter().map(|kind| KindWork {
        name: kind.name.clone(),
        cpus: kind.cpus.iter().copied().filter(is_allowed).collect(),
        work: Work::default(),
    });
    let mut residency = Residency {
        kinds: kinds.collect(),
        cpus: Vec::new(),
        moved_between_kinds: Work::default(),
        may_have_moved: Work::default(),
        kind_not_known: Work::default(),
        all: Work::default(),
    };
    let mut clocks_hz: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for block in blocks {
        let block = block.borrow();
        if let (Some(cpu), Some(hz)) = (residency.add_block(block), block.clock_hz) {
            clocks_hz.entry(cpu).or_default().push(hz);
        }
    }
    for (cpu, clocks_hz) in clocks_hz {
        residency.on_cpu(cpu).clock_hz = middle(clocks_hz);
    }
    residency
}

impl CpuWork {
    fn add_run(&mut self, other: &CpuWork) {
        let clocks = [&*self, other].map(|of| Some((of.clock_hz?, of.work.blocks)));
        let (cycles, blocks) =
            clocks.into_iter().flatten().fold((0_u128, 0_u64), |(cycles, all), (hz, blocks)| {
                (cycles + u128::from(hz) * u128::from(blocks), all + blocks)
            });
        self.clock_hz =
            cycles.checked_div(u128::from(blocks)).and_then(|hz| u64::try_from(hz).ok());
        self.work.add_all(other.work);
    }
}

impl Residency {
    /// Adds another run of the same job on the same CPUs.
    pub fn add_run(&mut self, other: &Residency) {
        for (kind, other) in self.kinds.iter_mut().zip(&other.kinds) {
            kind.work.add_all(other.work);
        }
        for other in &other.cpus {
            self.on_cpu(other.cpu).add_run(other);
        }
        self.moved_between_kinds.add_all(other.moved_between_kinds);
        self.may_have_moved.add_all(other.may_have_moved);
        self.kind_not_known.add_all(other.kind_not_known);
        self.all.add_all(other.all);
    }

    /// The CPU on which the block was done for certain.
    fn add_block(&mut self, block: &WorkBlock) -> Option<u32> {
        self.all.add_block(block);
        let cpu = self.add_to_cpu(block);
        let kind_of = |cpu| self.kinds.iter().position(|kind| kind.cpus.contains(&cpu));
        let work = match (kind_of(block.begin_cpu), kind_of(block.end_cpu)) {
            (Some(begin), Some(end)) if begin != end => &mut self.moved_between_kinds,
            (Some(_), Some(_)) if !self.stayed_on_its_kind(block) => &mut self.may_have_moved,
            (Some(kind), Some(_)) => &mut self.kinds[kind].work,
            _ => &mut self.kind_not_known,
        };
        work.add_block(block);
        cpu
    }

    /// The kinds on which the job was allowed to run.
    fn allowed_kinds(&self) -> usize {
        self.kinds.iter().filter(|kind| !kind.cpus.is_empty()).count()
    }

    /// To another kind and back takes two moves.
    fn stayed_on_its_kind(&self, block: &WorkBlock) -> bool {
        self.allowed_kinds() == 1 || block.most_moves.is_some_and(|moves| moves < 2)
    }

    fn add_to_cpu(&mut self, block: &WorkBlock) -> Option<u32> {
        let only = self.kinds.iter().map(|kind| kind.cpus.len()).sum::<usize>() == 1;
        let stayed = only || block.most_moves.is_some_and(|moves| moves < 2);
        let cpu = (block.begin_cpu == block.end_cpu && stayed).then_some(block.begin_cpu)?;
        self.on_cpu(cpu).work.add_block(block);
        Some(cpu)
    }

    fn on_cpu(&mut self, cpu: u32) -> &mut CpuWork {
        let place = self.cpus.binary_search_by_key(&cpu, |of| of.cpu);
        let at = place.unwrap_or_else(|at| {
            let new = CpuWork { cpu, work: Work::default(), clock_hz: None };
            self.cpus.insert(at, new);
            at
        });
        &mut self.cpus[at]
    }
}
