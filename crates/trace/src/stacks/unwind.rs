//! Unwinding of a stack that was copied.

use super::module::Modules;
use super::space::Space;
#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{
    CacheAarch64 as Cache, UnwindRegsAarch64 as Registers, UnwinderAarch64 as Native,
};
#[cfg(not(target_arch = "aarch64"))]
use framehop::x86_64::{
    CacheX86_64 as Cache, UnwindRegsX86_64 as Registers, UnwinderX86_64 as Native,
};
use framehop::{MayAllocateDuringUnwind, Module, Unwinder};
use std::sync::Arc;
use sys::perf::StackCopy;

/// The most frames of a stack, as many as the kernel finds by frame pointers.
const DEEPEST: usize = 127;

/// How the functions of a process are unwound.
#[derive(Clone)]
pub(super) struct ModuleUnwinder(Native<Arc<[u8]>, MayAllocateDuringUnwind>);

/// What is kept from one stack to the next.
pub(super) struct Unwinding(Cache<MayAllocateDuringUnwind>);

impl Unwinding {
    pub(super) fn new() -> Unwinding {
        Unwinding(Cache::new())
    }

    /// Addresses within the functions of the stack, the innermost first, as far as
    /// the copy goes.
    pub(super) fn unwind(
        &mut self,
        space: &mut Space<ModuleUnwinder>,
        modules: &mut Modules,
        copied: &StackCopy<'_>,
        addresses: &mut Vec<u64>,
    ) {
        if space.cached.is_none() {
            space.cached = Some(known(space, modules));
        }
        let Some(ModuleUnwinder(unwinder)) = &space.cached else {
            return;
        };
        let mut read = |address: u64| {
            let at = usize::try_from(address.checked_sub(copied.stack).ok_or(())?).map_err(drop)?;
            let word = copied.bytes.get(at..).and_then(|rest| rest.first_chunk());
            word.map(|word| u64::from_ne_bytes(*word)).ok_or(())
        };
        let registers = registers(copied);
        let mut frames =
            unwinder.iter_frames(copied.instruction, registers, &mut self.0, &mut read);
        while addresses.len() < DEEPEST
            && let Ok(Some(frame)) = frames.next()
        {
            addresses.push(frame.address_for_lookup());
        }
    }
}

#[cfg(target_arch = "aarch64")]
fn registers(copied: &StackCopy<'_>) -> Registers {
    Registers::new(copied.link, copied.stack, copied.frame)
}

#[cfg(not(target_arch = "aarch64"))]
fn registers(copied: &StackCopy<'_>) -> Registers {
    Registers::new(copied.instruction, copied.stack, copied.frame)
}

fn known(space: &Space<ModuleUnwinder>, modules: &mut Modules) -> ModuleUnwinder {
    let mut unwinder = Native::new();
    for mapping in space.mappings() {
        let sections = mapping.module.and_then(|module| modules.sections(module));
        let Some(sections) = sections else {
            continue;
        };
        if let Some(base) = sections.base(mapping.start, mapping.offset) {
            let range = mapping.start..mapping.end;
            let module = Module::new(String::new(), range, base, sections.info());
            unwinder.add_module(module);
        }
    }
    ModuleUnwinder(unwinder)
}
