//! The pointer chase that several probes share: a ring of links through the
//! worker's memory, and the rule by which its working set is brought back.

use kernels::ring::Ring;
use meter::probe::{MachineShape, Work, WorkError};
use meter::worker_memory::{LINE_BYTES, WorkerMemory};
use sys::pages::Backing;

/// How long a set beyond L2 stays in the last level as it was brought there.
const LAST_LEVEL_LASTS_NS: u64 = 2_000_000;

/// Loads that lead a chase beyond the caches away from what a linking left
/// there.
const SETTLING_LOADS: u64 = 2048;

/// How a chase is brought back after other rows had the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restore {
    /// As the row `memory.latency` has it: up to L2 two linear passes and one
    /// round; up to twice the last level two linear passes, good for 2 ms;
    /// beyond, nothing but some discarded loads.
    Rewarmed,
    /// As a program has it that keeps using the set: whole rounds of the
    /// chase itself.
    Steady,
}

/// A chase in the course of a visit.
pub(crate) struct Chase<'a> {
    ring: Ring<'a>,
    bytes: u64,
    sparse: bool,
    machine: MachineShape,
    restore: Restore,
    on_stack: bool,
    notes: Vec<String>,
}

impl<'a> Chase<'a> {
    /// A chase through `ring`, whose memory is `bytes` long.
    pub(crate) fn new(ring: Ring<'a>, bytes: u64, machine: MachineShape, restore: Restore) -> Self {
        // What decides is the lines touched, which may be few in a long range.
        let footprint = (ring.elements() * LINE_BYTES) as u64;
        Chase {
            sparse: footprint < bytes / 2,
            bytes: footprint.min(bytes),
            ring,
            machine,
            restore,
            on_stack: false,
            notes: Vec::new(),
        }
    }

    /// Keeps the pointer on the stack between loads.
    pub(crate) fn on_stack(mut self) -> Self {
        self.on_stack = true;
        self
    }

    /// Adds a remark for the reader.
    pub(crate) fn note(mut self, note: Option<String>) -> Self {
        self.notes.extend(note);
        self
    }
}

impl Work for Chase<'_> {
    fn restore(&mut self) {
        let round = self.ring.elements() as u64;
        match self.restore {
            // A pass over the whole range would bring in mostly other lines.
            _ if self.sparse && self.bytes <= 2 * self.machine.last_level_bytes => {
                self.ring.follow(2 * round);
            }
            Restore::Steady => self.ring.follow(round),
            Restore::Rewarmed if self.bytes <= self.machine.l2_bytes => {
                self.ring.linear_pass();
                self.ring.linear_pass();
                self.ring.follow(2 * round);
            }
            Restore::Rewarmed if self.bytes <= 2 * self.machine.last_level_bytes => {
                self.ring.linear_pass();
                self.ring.linear_pass();
            }
            Restore::Rewarmed => self.ring.follow(SETTLING_LOADS),
        }
    }

    fn lasts_ns(&self) -> u64 {
        let last_level = self.machine.l2_bytes..=2 * self.machine.last_level_bytes;
        if self.restore == Restore::Rewarmed && last_level.contains(&self.bytes) {
            LAST_LEVEL_LASTS_NS
        } else {
            u64::MAX
        }
    }

    fn turn_step(&self) -> u64 {
        kernels::CHASE_UNROLL
    }

    fn run(&mut self, turns: u64, _double: bool) {
        if self.on_stack {
            self.ring.run_on_stack(turns);
        } else {
            self.ring.follow(turns);
        }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// Share of a buffer that is on huge pages, at least, to speak of huge pages.
const MOSTLY: f64 = 0.9;

/// A chase over one line in each 64 bytes of the first `bytes` of the worker's
/// buffer, in random order on huge pages; where the system gave none, random
/// within windows that the TLB holds, with a remark.
pub(crate) fn random<'a>(
    worker: &'a mut WorkerMemory,
    bytes: u64,
    restore: Restore,
) -> Result<Chase<'a>, WorkError> {
    random_on(worker, bytes, restore, None)
}

/// [`random`] over the worker's buffer on a NUMA node, if one is given.
pub(crate) fn random_on<'a>(
    worker: &'a mut WorkerMemory,
    bytes: u64,
    restore: Restore,
    node: Option<u32>,
) -> Result<Chase<'a>, WorkError> {
    let machine = worker.machine.clone();
    let note = match node {
        Some(node) => note_of(worker.backing_on_node(bytes, node).map_err(WorkError::from)),
        None => pages_note(worker, bytes),
    };
    let windowed = note.is_some() && bytes > 32 * machine.page_bytes;
    let (memory, order, rng) = match node {
        Some(node) => worker.on_node(bytes, node)?,
        None => worker.huge(bytes)?,
    };
    let lines = elements(bytes, LINE_BYTES)?;
    if windowed {
        let window = 32 * machine.page_bytes / LINE_BYTES as u64;
        order.shuffle_windows(lines, window as u32, rng.u64(..));
    } else {
        order.shuffle(lines, rng.u64(..));
    }
    let ring = Ring::link(memory, order.offsets(LINE_BYTES));
    Ok(Chase::new(ring, bytes, machine, restore).note(note))
}

/// What to say where the buffer is not on huge pages.
pub(crate) fn pages_note(worker: &mut WorkerMemory, bytes: u64) -> Option<String> {
    note_of(worker.huge_backing(bytes).map_err(WorkError::from))
}

fn note_of(backing: Result<Backing, WorkError>) -> Option<String> {
    match backing {
        Ok(Backing {
            huge_bytes,
            resident_bytes,
            ..
        }) if huge_bytes as f64 >= MOSTLY * resident_bytes as f64 => None,
        Ok(_) => Some("on base pages: the system gave no huge pages; random within windows that the TLB holds".into()),
        Err(e) => Some(format!("kind of pages unknown ({e}); random within windows that the TLB holds")),
    }
}

/// Number of elements `apart` bytes each in `bytes`.
pub(crate) fn elements(bytes: u64, apart: usize) -> Result<u32, WorkError> {
    u32::try_from(bytes / apart as u64)
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| format!("{} hold no chase", model::size::format_size(bytes)))
        .map_err(WorkError::from)
}
