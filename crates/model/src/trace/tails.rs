//! Why the slowest operations of a row took longer than the others: their time is
//! followed backwards from the last stamp, to the thread that was waited for, and what is
//! beyond the median of each kind of time is the excess. Of spans that a program marked, see `spans.rs`.

mod counted;
mod path;
mod prices;
mod quota;
mod spans;
mod steps;
mod stretches;
mod sums;
mod threads;
mod usual;

use super::row::TracedOperation;
use super::{InterruptKind, Target, Trace, TracedRow};
use counted::KernelCounts;
use path::{Index, Path};
use std::collections::{BTreeMap, HashMap};
use steps::Steps;
use usual::Usual;

pub use prices::Spin;
pub(super) use prices::prices;
pub use spans::{Over, span_tails, spans_named};

/// The slowest operations are those beyond this share, and so many at least.
pub const SHARE: f64 = 0.999;
const LEAST: usize = 10;

/// What an operation lost time to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Another thread got its CPU: this one, where that is recorded.
    Preempted(Option<u32>),
    /// It was ready, and this thread had the CPU; the idle task (0) where the CPU
    /// had to leave idle first.
    Queued(u32),
    /// A thread of latlas that records had its CPU.
    Recorder,
    /// Its CPU quota was used up.
    Throttled,
    /// A signal or a debugger had stopped it.
    Stopped,
    /// It waited for something outside of the row: a disk, a timer.
    Blocked,
    /// It waited, and CLOCK_REALTIME was set back by as much during that time.
    ClockStep,
    /// Interrupts on its CPU, at the price of one in this run.
    Interrupts(InterruptKind),
    /// Page faults, at the price of one in this run.
    Faults,
    /// It was ready, and it is not recorded which thread it waited for.
    Runnable,
    /// It gave its CPU up.
    Yielded,
    /// It waited for something else than a CPU: in this call, until this thread woke it.
    Waits {
        /// The system call.
        call: Option<u32>,
        /// The thread that woke it.
        by: Option<u32>,
    },
    /// It waited for a CPU or something else, in this call.
    WaitsOrRunnable(Option<u32>),
    /// It ran in this system call.
    Call(u32),
    /// Records of it are missing.
    Unrecorded,
    /// It was on a CPU, and nothing recorded says why it took longer.
    OnCpu,
    /// It was not on a CPU, and the recording can't tell why.
    OffCpu,
}

impl Cause {
    /// Whether it names something.
    pub fn is_explained(self) -> bool {
        !matches!(self, Cause::OnCpu | Cause::OffCpu | Cause::Unrecorded)
    }
}

/// A slow operation, or span.
#[derive(Clone, Debug, PartialEq)]
pub struct Slow {
    /// Its place in [`TracedRow::operations`], or among the spans.
    pub number: usize,
    /// When, and of which thread.
    pub operation: TracedOperation,
    /// What it took longer than the median.
    pub excess_ns: f64,
    /// Where that went; its sum is the excess.
    pub causes: Vec<(Cause, f64)>,
}

/// The slowest operations of a row, of one kind, or the slowest spans of a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tails {
    /// What marks them: of operations, if each has one mark.
    pub name: Option<String>,
    /// How many there are of the kind.
    pub operations: usize,
    /// The median length of all.
    pub median_ns: u64,
    /// All listed are longer.
    pub limit_ns: u64,
    /// The operations, the slowest first.
    pub slow: Vec<Slow>,
}

impl Tails {
    /// Each cause with its time in all slow operations, and how many had it; the
    /// longest first.
    pub fn causes(&self) -> Vec<(Cause, f64, usize)> {
        let mut all: BTreeMap<Cause, (f64, usize)> = BTreeMap::new();
        for &(cause, ns) in self.slow.iter().flat_map(|slow| &slow.causes) {
            let (total, count) = all.entry(cause).or_default();
            (*total, *count) = (*total + ns, *count + 1);
        }
        let all = all.into_iter();
        let mut all: Vec<_> = all.map(|(cause, (ns, count))| (cause, ns, count)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    /// What the slow operations took longer, together.
    pub fn excess_ns(&self) -> f64 {
        self.slow.iter().map(|slow| slow.excess_ns).sum()
    }
}

/// How many of so many are explained.
fn slowest_count(of: usize) -> usize {
    let beyond = (of as f64 * (1.0 - SHARE)) as usize;
    beyond.max(LEAST).min(of / 2)
}

/// Explains the slowest operations of each kind; nothing if there are fewer than two, or if they
/// overlap or take more time than the trace has, as only in a damaged document. Of a trace that is none of a row,
/// the slowest spans of each name, those with the most excess first.
pub fn tails(trace: &Trace) -> Vec<Tails> {
    let Target::Row(row) = &trace.target else {
        return spans::tails_by_name(trace);
    };
    let Some((interrupts, fault_ns)) = row.prices.as_ref() else {
        return Vec::new();
    };
    let prices = Prices { interrupts, fault_ns: fault_ns.unwrap_or(0) };
    let lengths = row.operations.iter().map(|o| u128::from(o.duration_ns()));
    let overlap = |pair: &[TracedOperation]| pair[0].to_ns > pair[1].from_ns;
    if lengths.sum::<u128>() > u128::from(trace.duration_ns)
        || row.operations.windows(2).any(overlap)
    {
        return Vec::new();
    }
    let index = Index::new(trace, row);
    let numbers = 0..row.operations.len();
    let paths: Vec<Path> = numbers.map(|at| index.operation_path(row, at)).collect();
    let kinds = kinds(trace, row).into_iter();
    let kinds: Vec<(Option<u32>, Vec<usize>, Usual)> = kinds
        .map(|(name, numbers)| {
            let paths: Vec<&Path> = numbers.iter().map(|&at| &paths[at]).collect();
            (name, numbers, Usual::from_paths(&paths))
        })
        .collect();
    let mut longer_ns = vec![0; paths.len()];
    for (_, numbers, usual) in &kinds {
        for &at in numbers {
            longer_ns[at] = usual.longer_ns(&paths[at]) as u64;
        }
    }
    let counted = KernelCounts::from_trace(trace, row, &longer_ns);
    let watch = row.watch.as_ref();
    let steps = Steps::from_clock_steps(watch.map_or(&[][..], |watch| &watch.clock_steps));
    let length_ns = |at: usize| row.operations[at].duration_ns();
    let explained = kinds.into_iter().filter_map(|(name, mut order, usual)| {
        order.sort_by_key(|&at| std::cmp::Reverse(length_ns(at)));
        let count = slowest_count(order.len());
        if count == 0 {
            return None;
        }
        let median_ns = length_ns(order[(order.len() - 1) / 2]);
        let slow = order[..count].iter().map(|&number| {
            let (operation, path) = (&row.operations[number], &paths[number]);
            let excess_ns = length_ns(number) as f64 - median_ns as f64;
            let mut causes = usual.causes(path, excess_ns, &prices, |left_ns| {
                counted.interrupts(operation, path, left_ns, &prices)
            });
            steps.name_steps(operation, &mut causes);
            Slow { number, operation: *operation, excess_ns, causes }
        });
        Some(Tails {
            name: name.and_then(|name| trace.signpost_names.get(name as usize).cloned()),
            operations: order.len(),
            median_ns,
            limit_ns: length_ns(order[count]),
            slow: slow.filter(|slow| slow.excess_ns > 0.0).collect(),
        })
    });
    explained.collect()
}

/// The operations by what marks them: in one where not each has exactly one mark, since these are
/// its parts.
fn kinds(trace: &Trace, row: &TracedRow) -> BTreeMap<Option<u32>, Vec<usize>> {
    let threads = trace.threads.iter();
    let marks = threads.flat_map(|thread| &thread.signposts);
    let mut names: HashMap<(u64, u64), u32> = HashMap::new();
    let mut count = 0;
    for mark in marks {
        count += 1;
        names.insert((mark.from_ns, mark.to_ns.unwrap_or(mark.from_ns)), mark.name);
    }
    let all = 0..row.operations.len();
    let operations = row.operations.iter();
    let of = operations.map(|o| names.get(&(o.from_ns, o.to_ns)).copied());
    let of: Option<Vec<u32>> = of.collect();
    let mut kinds: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
    match of.filter(|of| of.len() == count) {
        None => {
            kinds.insert(None, all.collect());
        }
        Some(of) => {
            for (at, name) in all.zip(of) {
                kinds.entry(Some(name)).or_default().push(at);
            }
        }
    }
    kinds
}

/// What events cost on this machine, in ns.
pub(super) struct Prices<'r> {
    pub(super) interrupts: &'r BTreeMap<InterruptKind, u64>,
    pub(super) fault_ns: u64,
}

#[cfg(test)]
mod tests;
