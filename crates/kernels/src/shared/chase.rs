//! See `crate::chase`. The numbers after `.rept` are `CHASE_UNROLL` and
//! `PARALLEL_CHASE_UNROLL`.

use core::arch::asm;

/// # Safety
/// As `crate::chase` for `turns * CHASE_UNROLL` loads; `turns` is at least 1.
#[inline(always)]
pub(crate) unsafe fn chase(start: *const u8, turns: u64) -> *const u8 {
    let reached;
    // SAFETY: loads only through pointers that the caller vouches for.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".rept 64",
            load_pointer!(p),
            ".endr",
            again!(),
            p = inout(reg) start => reached,
            turns = inout(reg) turns => _,
            options(readonly, nostack),
        );
    }
    reached
}

pub(crate) use crate::arch::chase_on_stack::chase_on_stack;

/// Defines the loop over so many chases, one register each. A function of its
/// own for each number, because the registers are part of the instruction.
macro_rules! parallel {
    ($name:ident: $count:literal, $($p:ident = $index:literal),+) => {
        /// # Safety
        /// As [`parallel`].
        #[inline(never)]
        unsafe fn $name(starts: &mut [*const u8; $count], turns: u64) {
            // SAFETY: loads only through pointers that the caller vouches for.
            unsafe {
                asm!(
                    ".p2align 6",
                    "2:",
                    ".rept 16",
                    $(load_pointer!($p),)+
                    ".endr",
                    again!(),
                    turns = inout(reg) turns => _,
                    $($p = inout(reg) starts[$index],)+
                    options(readonly, nostack),
                );
            }
        }
    };
}

parallel!(parallel_1: 1, a = 0);
parallel!(parallel_2: 2, a = 0, b = 1);
parallel!(parallel_3: 3, a = 0, b = 1, c = 2);
parallel!(parallel_4: 4, a = 0, b = 1, c = 2, d = 3);
parallel!(parallel_5: 5, a = 0, b = 1, c = 2, d = 3, e = 4);
parallel!(parallel_6: 6, a = 0, b = 1, c = 2, d = 3, e = 4, f = 5);
parallel!(parallel_8: 8, a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7);
parallel!(parallel_10: 10, a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7, i = 8, j = 9);
parallel!(parallel_12: 12, a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7, i = 8, j = 9,
    k = 10, l = 11);

/// # Safety
/// As `crate::chase_parallel` for `turns * PARALLEL_CHASE_UNROLL` loads each;
/// `turns` is at least 1.
#[inline(always)]
pub(crate) unsafe fn parallel(starts: &mut [*const u8], turns: u64) {
    /// Calls the loop whose number of chases is the length of the slice.
    macro_rules! by_length {
        ($($count:literal => $name:ident),+) => {
            match starts.len() {
                $($count => if let Ok(starts) = starts.try_into() {
                    // SAFETY: the caller's promise.
                    unsafe { $name(starts, turns) }
                },)+
                _ => unreachable!("crate::chase_parallel has checked the number"),
            }
        };
    }
    by_length!(
        1 => parallel_1, 2 => parallel_2, 3 => parallel_3, 4 => parallel_4, 5 => parallel_5,
        6 => parallel_6, 8 => parallel_8, 10 => parallel_10, 12 => parallel_12
    );
}
