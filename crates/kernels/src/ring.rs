//! A pointer chase that safe code can hold: the ring writes its links itself,
//! inside memory that it borrows for as long as it lives.

use core::marker::PhantomData;

/// Bytes that one link takes.
pub const LINK_BYTES: usize = size_of::<*const u8>();

/// A closed chain of links through a block of memory, and the place where the
/// chase stands. The place is carried from run to run: a chase that restarts
/// at its head finds its first lines in the cache.
#[derive(Debug)]
pub struct Ring<'a> {
    base: *const u8,
    at: *const u8,
    elements: usize,
    marks: [*const u8; MOST_CHASES],
    starts: [*const u8; MOST_CHASES],
    spread: usize,
    bytes: usize,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Ring<'a> {
    /// Links the elements at these byte offsets, in this order, the last back
    /// to the first.
    ///
    /// # Panics
    /// If there is no offset, or one is outside `memory` or not a multiple of
    /// [`LINK_BYTES`] (`memory` itself must be so aligned).
    pub fn link(
        memory: &'a mut [u8],
        mut offsets: impl ExactSizeIterator<Item = usize>,
    ) -> Ring<'a> {
        let base = memory.as_mut_ptr();
        let (elements, bytes) = (offsets.len(), memory.len());
        assert!(base.cast::<*const u8>().is_aligned(), "a ring's memory must be aligned for links");
        let last = memory.len().checked_sub(LINK_BYTES).expect("a ring needs memory for one link");
        let check = |offset: usize| {
            assert!(
                offset <= last && offset.is_multiple_of(LINK_BYTES),
                "a link outside the ring's memory"
            );
            offset
        };
        let first = check(offsets.next().expect("a ring needs an element"));
        let mut from = first;
        // SAFETY: `first` passed `check`.
        let at: *const u8 = unsafe { base.add(first) };
        let mut marks = [at; MOST_CHASES];
        let (mut index, mut marked) = (0, 1);
        let set = |from: usize, to: usize| {
            // SAFETY: both offsets passed `check`, so the whole link lies in
            // `memory`, which is borrowed mutably, and is aligned.
            unsafe {
                base.add(from).cast::<*const u8>().write(base.add(to).cast_const());
            }
        };
        for to in offsets {
            set(from, check(to));
            from = to;
            index += 1;
            while marked < MOST_CHASES && index >= marked * elements / MOST_CHASES {
                // SAFETY: `to` passed `check`.
                marks[marked] = unsafe { base.add(to) };
                marked += 1;
            }
        }
        set(from, first);
        Ring { base, at, elements, marks, starts: marks, spread: 0, bytes, memory: PhantomData }
    }

    /// Elements of the ring.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Byte offset of the element where the chase stands.
    pub fn offset(&self) -> usize {
        self.at as usize - self.base as usize
    }

    /// Reads the whole of the ring's memory once, forward: brings it into the
    /// caches, as far as they hold it, much faster than a round of the chase.
    pub fn linear_pass(&self) -> u64 {
        let whole = self.bytes / 1024 * 1024;
        // SAFETY: the ring borrows `bytes` bytes from `base` on.
        unsafe { crate::read_vector(self.base, whole) }
    }

    /// Follows `loads` links (rounded up to a multiple of
    /// [`crate::CHASE_UNROLL`]), each waiting for the one before.
    #[inline]
    pub fn follow(&mut self, loads: u64) {
        // SAFETY: `at` is an element of a closed ring in borrowed memory.
        self.at = unsafe { crate::chase(self.at, loads) };
    }

    /// The same with the pointer kept on the stack, as an unoptimised build
    /// does.
    #[inline]
    pub fn run_on_stack(&mut self, loads: u64) {
        // SAFETY: as in `follow`.
        self.at = unsafe { crate::chase_on_stack(self.at, loads) };
    }

    /// `count` chases at once, each following `loads` links. They start spread
    /// along the ring and never meet, since all run at the same speed; where
    /// they stop is kept for the next call with the same count.
    ///
    /// # Panics
    /// If `count` is not in [`crate::PARALLEL_CHASES`].
    #[inline]
    pub fn run_spread(&mut self, count: usize, loads: u64) {
        assert!(crate::PARALLEL_CHASES.contains(&count));
        if self.spread != count {
            for k in 0..count {
                self.starts[k] = self.marks[k * MOST_CHASES / count];
            }
            self.spread = count;
        }
        // SAFETY: every start is an element of a closed ring whose memory is
        // borrowed; the count is one that the kernel has a loop for.
        unsafe { crate::chase_parallel(&mut self.starts[..count], loads) };
    }
}

/// Most chases that one loop runs at once.
pub const MOST_CHASES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_round_in_the_order_given() {
        #[repr(align(64))]
        struct RingMemory([u8; 512]);
        let mut block = RingMemory([0; 512]);
        let order = [0_usize, 256, 64, 448];
        let mut ring = Ring::link(&mut block.0, order.iter().copied());
        assert_eq!(ring.elements(), 4);
        // 64 loads a turn, four elements: back at the start.
        ring.follow(64);
        assert_eq!(ring.offset(), 0);
        let order3 = [8_usize, 256, 64];
        let mut ring = Ring::link(&mut block.0, order3.iter().copied());
        // 64 = 21 * 3 + 1.
        ring.follow(64);
        assert_eq!(ring.offset(), 256);
        ring.run_on_stack(64);
        assert_eq!(ring.offset(), 64);
    }

    #[test]
    fn several_chases_start_apart() {
        #[repr(align(64))]
        struct RingMemory([u8; 64 * 64]);
        let mut block = RingMemory([0; 64 * 64]);
        let mut ring = Ring::link(&mut block.0, (0..64_usize).map(|e| e * 64));
        // 64 elements and 64 loads: all are back where they started.
        ring.run_spread(4, 64);
        let at: [usize; 4] = core::array::from_fn(|k| ring.starts[k] as usize - ring.base as usize);
        assert_eq!(at, [0, 16 * 64, 32 * 64, 48 * 64]);
    }

    #[test]
    #[should_panic(expected = "outside")]
    fn refuses_links_outside() {
        let mut memory = [0_u64; 4];
        // SAFETY: plain bytes of an array of integers.
        let bytes = unsafe { core::slice::from_raw_parts_mut(memory.as_mut_ptr().cast(), 32) };
        Ring::link(bytes, [0, 32].into_iter());
    }
}
