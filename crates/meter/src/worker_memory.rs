//! A worker's bench: the memory that its cells share, and the order in which
//! chases go through it.

use crate::machine_shape::MachineShape;
use crate::scratch::{ScratchDir, ScratchError};
use fastrand::Rng;
use sys::pages::{Backing, Buffer, PageKind};

/// A cache line as every machine here has it (Apple's 128-byte lines are two
/// of these to a chase).
pub const LINE_BYTES: usize = 64;

/// Why a worker has no memory as it is wanted.
#[derive(thiserror::Error, Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum MemoryError {
    #[error(
        "the working set of {} does not fit in this worker's buffer of {}",
        model::size::format_size(*.wanted), model::size::format_size(*.buffer)
    )]
    TooLarge { wanted: u64, buffer: u64 },
    #[error("can't allocate a buffer of {}: {error}", model::size::format_size(*.bytes))]
    Refused { bytes: u64, error: String },
    /// A NUMA node has too little: one that runs out gets the process killed.
    #[error(
        "NUMA node {node} has {} free, too little for a buffer of {}",
        model::size::about(*.free), model::size::format_size(*.bytes)
    )]
    NodeFull { node: u32, free: u64, bytes: u64 },
    #[error(
        "can't bind memory to NUMA node {node}: {error} (a cpuset or a container's policy may forbid it)"
    )]
    NotBound { node: u32, error: String },
    #[error("only {there} of {all} pages are on NUMA node {node}, which they were bound to")]
    Elsewhere { node: u32, there: u64, all: u64 },
    #[error("can't read {what}: {error}")]
    Unread { what: &'static str, error: String },
}

impl MemoryError {
    fn unread(what: &'static str, error: &dyn std::fmt::Display) -> MemoryError {
        let error = error.to_string();
        MemoryError::Unread { what, error }
    }
}

/// What a worker gives to the work of its cells.
pub struct WorkerMemory {
    /// The machine as the plan sees it.
    pub machine: MachineShape,
    /// Random numbers of this worker, seeded by the plan.
    pub rng: Rng,
    /// Room for a chase's order; 4 bytes an element.
    pub order: ChaseOrder,
    huge: Store,
    base: Store,
}

/// One buffer of the bench, made when it is first wanted.
struct Store {
    bytes: usize,
    kind: PageKind,
    /// The NUMA node it is bound to; unbound, its pages lie where the worker
    /// first touched them.
    node: Option<u32>,
    buffer: Option<Buffer>,
    backing: Option<Result<Backing, MemoryError>>,
}

impl Store {
    fn get(&mut self, bytes: u64, node: Option<u32>) -> Result<&mut Buffer, MemoryError> {
        if bytes > self.bytes as u64 {
            return Err(MemoryError::TooLarge { wanted: bytes, buffer: self.bytes as u64 });
        }
        if self.node != node {
            // The old one goes first: there is room for one.
            (self.buffer, self.backing, self.node) = (None, None, node);
        }
        let buffer = match self.buffer.take() {
            Some(buffer) => buffer,
            None => self.make_buffer()?,
        };
        Ok(self.buffer.insert(buffer))
    }

    fn make_buffer(&self) -> Result<Buffer, MemoryError> {
        let bytes = self.bytes as u64;
        let Some(node) = self.node else {
            return Buffer::new(self.bytes, self.kind)
                .map_err(|e| MemoryError::Refused { bytes, error: e.to_string() });
        };
        let free = sys::numa::free_bytes(node).unwrap_or(0);
        if free / 10 * 9 < bytes {
            return Err(MemoryError::NodeFull { node, free, bytes });
        }
        sys::numa::buffer_on(node, self.bytes, self.kind)
            .map_err(|e| MemoryError::NotBound { node, error: e.to_string() })
    }
}

impl WorkerMemory {
    /// A bench whose buffers are at most this large. Nothing is allocated
    /// before it is wanted.
    pub fn new(machine: MachineShape, huge_bytes: u64, base_bytes: u64, seed: u64) -> WorkerMemory {
        let store = |bytes: u64, kind| Store {
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            kind,
            node: None,
            buffer: None,
            backing: None,
        };
        WorkerMemory {
            machine,
            rng: Rng::with_seed(seed),
            order: ChaseOrder::default(),
            huge: store(huge_bytes, PageKind::Huge),
            base: store(base_bytes, PageKind::Base),
        }
    }

    /// The directory for files, which the run made and will remove, and what
    /// it is on.
    pub fn scratch(&self) -> Result<&ScratchDir, ScratchError> {
        self.machine.scratch.as_ref().map_err(Clone::clone)
    }

    /// The first `bytes` of the worker's one buffer on huge pages (where the
    /// system gives them: a row's note says), and the room for a
    /// chase's order with it.
    pub fn huge(
        &mut self,
        bytes: u64,
    ) -> Result<(&mut [u8], &mut ChaseOrder, &mut Rng), MemoryError> {
        let memory = &mut self.huge.get(bytes, None)?.as_mut_slice()[..bytes as usize];
        Ok((memory, &mut self.order, &mut self.rng))
    }

    /// The same with its pages on a NUMA node, verified. The worker has one
    /// buffer: it is made anew where it was elsewhere, and so is the next row's.
    pub fn on_node(
        &mut self,
        bytes: u64,
        node: u32,
    ) -> Result<(&mut [u8], &mut ChaseOrder, &mut Rng), MemoryError> {
        let buffer = self.huge.get(bytes, Some(node))?;
        let pages = sys::numa::pages_by_node(buffer)
            .map_err(|e| MemoryError::unread("which NUMA node the memory is on", &e))?;
        let there = pages.get(&node).copied().unwrap_or(0);
        let all: u64 = pages.values().sum();
        if there < all {
            return Err(MemoryError::Elsewhere { node, there, all });
        }
        let memory = &mut buffer.as_mut_slice()[..bytes as usize];
        Ok((memory, &mut self.order, &mut self.rng))
    }

    /// The same on base pages.
    pub fn base(
        &mut self,
        bytes: u64,
    ) -> Result<(&mut [u8], &mut ChaseOrder, &mut Rng), MemoryError> {
        let memory = &mut self.base.get(bytes, None)?.as_mut_slice()[..bytes as usize];
        Ok((memory, &mut self.order, &mut self.rng))
    }

    /// What pages the buffer on huge pages really has, as the system said when
    /// it was made.
    pub fn huge_backing(&mut self, bytes: u64) -> Result<Backing, MemoryError> {
        self.backing(bytes, None)
    }

    /// [`huge_backing`](WorkerMemory::huge_backing) of the buffer as
    /// [`on_node`](WorkerMemory::on_node) gives it.
    pub fn backing_on_node(&mut self, bytes: u64, node: u32) -> Result<Backing, MemoryError> {
        self.backing(bytes, Some(node))
    }

    fn backing(&mut self, bytes: u64, node: Option<u32>) -> Result<Backing, MemoryError> {
        // A buffer made anew has no backing yet.
        self.huge.get(bytes, node)?;
        if let Some(backing) = &self.huge.backing {
            return backing.clone();
        }
        let backing = self.huge.get(bytes, node)?.backing();
        let backing = backing.map_err(|e| MemoryError::unread("the kind of pages", &e));
        self.huge.backing.insert(backing).clone()
    }
}

/// The order of a chase: a random permutation of element numbers.
#[derive(Default)]
pub struct ChaseOrder(Vec<u32>);

impl ChaseOrder {
    /// A new random permutation of `0..elements`. Every cyclic order is
    /// equally likely (Fisher and Yates, as Durstenfeld wrote it).
    pub fn shuffle(&mut self, elements: u32, seed: u64) {
        self.0.clear();
        self.0.extend(0..elements);
        Rng::with_seed(seed).shuffle(&mut self.0);
    }

    /// Random within windows of `window` elements, the windows in turn: what
    /// a TLB that holds one window's pages can follow.
    pub fn shuffle_windows(&mut self, elements: u32, window: u32, seed: u64) {
        self.0.clear();
        self.0.extend(0..elements);
        let mut rng = Rng::with_seed(seed);
        for part in self.0.chunks_mut(window.max(1) as usize) {
            rng.shuffle(part);
        }
    }

    /// The order forward.
    pub fn forward(&mut self, elements: u32) {
        self.0.clear();
        self.0.extend(0..elements);
    }

    /// The elements in their order.
    pub fn elements(&self) -> &[u32] {
        &self.0
    }

    /// Lets a caller lay down an order of its own.
    pub fn set(&mut self, elements: impl Iterator<Item = u32>) {
        self.0.clear();
        self.0.extend(elements);
    }

    /// Byte offsets of the elements in their order, `apart` bytes each.
    pub fn offsets(&self, apart: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.0.iter().map(move |&e| e as usize * apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_permutations() {
        let mut order = ChaseOrder::default();
        order.shuffle(1000, 7);
        let first = order.elements().to_vec();
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..1000));
        order.shuffle(1000, 7);
        assert_eq!(order.elements(), first, "same seed, same order");
        order.shuffle(1000, 8);
        assert_ne!(order.elements(), first);
    }

    #[test]
    fn windows_keep_their_pages_together() {
        let mut order = ChaseOrder::default();
        order.shuffle_windows(1024, 64, 3);
        for (k, part) in order.elements().chunks(64).enumerate() {
            assert!(part.iter().all(|&e| e as usize / 64 == k));
        }
        assert!(!order.elements().is_sorted());
    }
}
