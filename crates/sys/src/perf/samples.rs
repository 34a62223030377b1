//! Samples, by the layout that each source of them asks for.

use super::Capture;
use super::bytes::{u32_at, u64_at};
use super::records::STAMP_BYTES;

/// The sample of a page fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultSample {
    /// The process,
    pub process: u32,
    /// the thread,
    pub thread: u32,
    /// when, in ns,
    pub at_ns: u64,
    /// and the address.
    pub address: u64,
}

/// The sample of a page fault: `pid tid time addr`.
pub fn fault_sample(body: &[u8]) -> Option<FaultSample> {
    Some(FaultSample {
        process: u32_at(body, 0)?,
        thread: u32_at(body, 4)?,
        at_ns: u64_at(body, 8)?,
        address: u64_at(body, 16)?,
    })
}

/// The end of a page fault that was served, and whether it was a major one: `pid tid time addr
/// cpu`, of a major one also `period`. `None` of any other sample: that of a tracepoint says how
/// long it is where this has the lower half of its time.
pub fn served_fault_sample(body: &[u8]) -> Option<(FaultSample, bool)> {
    let major = match body.len() {
        32 => false,
        40 => true,
        _ => return None,
    };
    let is_tracepoint = (u32_at(body, 8)? as usize + 12).next_multiple_of(8) == body.len();
    Some((fault_sample(body)?, major)).filter(|_| !is_tracepoint)
}

/// The stack of a thread in user mode when it left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackSample<'a> {
    /// The process,
    pub process: u32,
    /// the thread,
    pub thread: u32,
    /// when, in ns,
    pub at_ns: u64,
    /// and what is recorded of its stack.
    pub stack: UserStack<'a>,
}

/// What a sample holds of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserStack<'a> {
    /// The address of the instruction and those of returns, the innermost
    /// first: see [`addresses`].
    Addresses(&'a [u8]),
    /// To be unwound.
    Copy(StackCopy<'a>),
}

/// A stack that was copied, with the registers from which it is unwound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackCopy<'a> {
    /// Address of the instruction.
    pub instruction: u64,
    /// Stack pointer: the address of the first of `bytes`.
    pub stack: u64,
    /// Frame pointer.
    pub frame: u64,
    /// Where the function returns to, on processors with such a register.
    pub link: u64,
    /// The stack, as much as was copied.
    pub bytes: &'a [u8],
}

/// The sample of a stack: `pid tid time`, then `nr ips` or `abi regs size data
/// dyn_size`. A thread without a user mode has no addresses.
pub fn stack_sample(body: &[u8], capture: Capture) -> Option<StackSample<'_>> {
    let rest = body.get(STAMP_BYTES..)?;
    let count = u64_at(rest, 0)?;
    let rest = &rest[8..];
    let stack = match capture {
        Capture::FramePointers => {
            let bytes = usize::try_from(count).ok()?.checked_mul(8)?;
            UserStack::Addresses(rest.get(..bytes)?)
        }
        // No registers: it is ending.
        Capture::Copy(_) if count == 0 => UserStack::Addresses(&[]),
        Capture::Copy(_) => {
            let register = |bit| {
                let at = STACK_REGISTERS.iter().position(|&other| other == bit)?;
                u64_at(rest, at * 8)
            };
            let copied = rest.get(STACK_REGISTERS.len() * 8..)?;
            let room = usize::try_from(u64_at(copied, 0)?).ok()?;
            let data = copied.get(8..)?.get(..room)?;
            // Without room, its end says nothing either.
            let used = match room {
                0 => 0,
                _ => usize::try_from(u64_at(copied, 8 + room)?).ok()?,
            };
            UserStack::Copy(StackCopy {
                instruction: register(INSTRUCTION_POINTER)?,
                stack: register(STACK_POINTER)?,
                frame: register(FRAME_POINTER)?,
                link: LINK_REGISTER.map_or(Some(0), register)?,
                bytes: data.get(..used)?,
            })
        }
    };
    Some(StackSample {
        process: u32_at(body, 0)?,
        thread: u32_at(body, 4)?,
        at_ns: u64_at(body, 8)?,
        stack,
    })
}

/// The addresses of [`UserStack::Addresses`].
pub fn addresses(bytes: &[u8]) -> impl Iterator<Item = u64> {
    /// What lies above marks where those of the kernel or the user begin
    /// (`PERF_CONTEXT_MAX`).
    const LEAST_MARK: u64 = -4095_i64 as u64;
    let (words, _) = bytes.as_chunks();
    let words = words.iter().map(|word| u64::from_ne_bytes(*word));
    words.filter(|&address| address < LEAST_MARK)
}

// Bits of `sample_regs_user` (`asm/perf_regs.h`).
#[cfg(not(target_arch = "aarch64"))]
mod registers {
    pub(crate) const FRAME_POINTER: u32 = 6;
    pub(crate) const STACK_POINTER: u32 = 7;
    pub(crate) const INSTRUCTION_POINTER: u32 = 8;
    pub(crate) const LINK_REGISTER: Option<u32> = None;
    /// Those that a stack is unwound from, in the order of a sample.
    pub(crate) const STACK_REGISTERS: &[u32] = &[FRAME_POINTER, STACK_POINTER, INSTRUCTION_POINTER];
}
#[cfg(target_arch = "aarch64")]
mod registers {
    pub(crate) const FRAME_POINTER: u32 = 29;
    const LINK: u32 = 30;
    pub(crate) const STACK_POINTER: u32 = 31;
    pub(crate) const INSTRUCTION_POINTER: u32 = 32;
    pub(crate) const LINK_REGISTER: Option<u32> = Some(LINK);
    /// Those that a stack is unwound from, in the order of a sample.
    pub(crate) const STACK_REGISTERS: &[u32] =
        &[FRAME_POINTER, LINK, STACK_POINTER, INSTRUCTION_POINTER];
}
pub(crate) use registers::STACK_REGISTERS;
use registers::{FRAME_POINTER, INSTRUCTION_POINTER, LINK_REGISTER, STACK_POINTER};
