//! The loops as they ship: this program holds all of them, compiled as in
//! every profile, so it takes itself apart and counts.
//!
//! Needs `objdump` (binutils, which comes with any C compiler); `OBJDUMP`
//! names another, for a cross build.
#![cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]

mod objdump;

use kernels::Pair;
use kernels::cpu;
use objdump::{Instruction, Loop, X86, aligned_loop, functions, hot_loop, per_arch, the_loop};
use std::collections::HashSet;

#[test]
fn chases() {
    let (load, store) = per_arch(("mov", "mov"), ("ldr", "str"));
    hot_loop("kernels::chase::chase")
        .keeps_off_the_stack()
        .holds(64, 0, 64 + 2)
        .expect_count(load, 64);
    let on_stack = hot_loop("kernels::chase::chase_on_stack");
    on_stack
        .holds(2 * 64, 64, 3 * 64 + 2)
        .expect_count(load, per_arch(3 * 64, 2 * 64))
        .expect_count(store, per_arch(3 * 64, 64));
    let slot = per_arch("[rbp-0x8]", "[sp, #8]");
    let stack = on_stack.body.iter().filter(|one| one.operands.contains(slot));
    assert_eq!(stack.count(), 2 * 64, "a reload and a store for each load");
    for chases in kernels::PARALLEL_CHASES {
        hot_loop(&format!("kernels::shared::chase::parallel_{chases}"))
            .keeps_off_the_stack()
            .holds(16 * chases, 0, 16 * chases + 2)
            .expect_count(load, 16 * chases);
    }
}

#[test]
fn streams() {
    for step in ["sequential", "every_4th"] {
        hot_loop(&format!("kernels::stream::read_{step}"))
            .keeps_off_the_stack()
            .holds(32, 0, per_arch(32 + 5, 2 * 32 + 5))
            .expect_count("add", 32 + 2);
        hot_loop(&format!("kernels::stream::write_{step}"))
            .keeps_off_the_stack()
            .holds(0, 32, 32 + 3)
            .expect_count(per_arch("mov", "str"), 32);
        hot_loop(&format!("kernels::stream::read_write_{step}"))
            .keeps_off_the_stack()
            .holds(32, 32, per_arch(32 + 3, 3 * 32 + 3))
            .expect_count(per_arch("shl", "lsl"), 32);
    }
}

#[test]
fn scalar_and_vector_reads() {
    hot_loop("kernels::stream::read_vector")
        .keeps_off_the_stack()
        .holds(16, 0, per_arch(16 + 3, 8 + 16 + 3))
        .expect_count(per_arch("pxor", "eor"), 16);
    hot_loop("kernels::stream::read_stride").keeps_off_the_stack().holds(
        16,
        0,
        per_arch(16, 2 * 16) + 4 + 2,
    );
    hot_loop("kernels::stream::xor_bytes")
        .keeps_off_the_stack()
        .holds(1, 0, per_arch(4, 4))
        .expect_count(per_arch("xor", "eor"), 1);
    hot_loop("kernels::stream::xor_bytes_vector")
        .keeps_off_the_stack()
        .holds(4, 0, per_arch(8 + 3, 2 + 4 + 3))
        .expect_count(per_arch("pxor", "eor"), 4);
}

#[test]
fn the_measured_branch_is_a_branch() {
    let branches = hot_loop("kernels::branch::branches");
    branches.keeps_off_the_stack().holds(1, 0, per_arch(6, 5));
    let conditional = branches.body.iter().filter(|one| one.is_conditional_jump());
    assert_eq!(conditional.count(), 2, "the measured branch and the loop's");
}

#[test]
fn pages() {
    hot_loop("kernels::pages::touch_pages").keeps_off_the_stack().holds(0, 1, 4);
    hot_loop("kernels::pages::read_pages").keeps_off_the_stack().holds(1, 0, 5);
}

#[test]
fn canaries() {
    hot_loop("kernels::canary::taken_branches").keeps_off_the_stack().holds(0, 0, 2);
    hot_loop("kernels::canary::dependent_adds")
        .keeps_off_the_stack()
        .holds(0, 0, kernels::ADDS_PER_TURN as usize + 2)
        .expect_count("add", kernels::ADDS_PER_TURN as usize);
    let multiply = if cfg!(target_arch = "x86_64") { "imul" } else { "mul" };
    hot_loop("kernels::canary::dependent_multiplies")
        .keeps_off_the_stack()
        .holds(0, 0, kernels::MULTIPLIES_PER_TURN as usize + 2)
        .expect_count(multiply, kernels::MULTIPLIES_PER_TURN as usize);
}

#[test]
fn copy_and_fill_call_the_platform() {
    for (kernel, callee) in [("copy", "memcpy"), ("fill", "memset")] {
        let function = &functions()[&format!("kernels::libc::{kernel}")];
        let own = function[0].address..=function[function.len() - 1].address;
        // Through the procedure linkage table, or through a pointer to it.
        let leaves = function.iter().any(|one| {
            let target = one.jump_target();
            let jumps_out = target.is_some_and(|target| !own.contains(&target));
            let indirect = one.is(&["call", "jmp", "bl"]) && target.is_none();
            jumps_out || indirect || one.operands.contains(callee)
        });
        // Except what fills the gap to an aligned function.
        let instructions = function.iter().filter(|one| !one.is(&["nop"])).count();
        assert!(leaves && instructions < 12, "{kernel}: {function:#?}");
    }
}

/// One of the two loops of a pair.
fn pair_loop(pair: &Pair, which: &str) -> Loop {
    let mut name = format!("{}::{which}", pair.path);
    // One x86 instruction gives quotient and remainder, and the compiler keeps
    // one of two functions that are the same.
    if X86 && !functions().contains_key(&name) {
        name = match name.contains("::div_") {
            true => name.replace("::div_", "::mod_"),
            false => name.replace("::mod_", "::div_"),
        };
    }
    let found = hot_loop(&name);
    found.keeps_off_the_stack();
    found
}

#[test]
fn every_pair_holds_its_operations_once_and_twice() {
    for pair in cpu::pairs() {
        let ops = pair.ops as usize;
        let mnemonic = pair.instruction.split(' ').next().expect("a first word");
        for (which, ops) in [("single", ops), ("double", 2 * ops)] {
            let found = pair_loop(pair, which);
            match pair.path.rsplit("::").nth(1).unwrap_or_default() {
                "empty" => found.holds(0, 0, 2),
                "memcpy_16" => found.holds(ops, ops, 2 * ops + 2),
                "div_f64_as_ash" => {
                    found.holds(2 * ops, 0, 3 * ops + 2).expect_count(mnemonic, ops)
                }
                "div_f64_from_int_as_ash" => found
                    .holds(ops, 0, per_arch(4 * ops + 3, 3 * ops + 3))
                    .expect_count(mnemonic, ops),
                _ => found.holds(0, 0, found.body.len()).expect_count(mnemonic, ops),
            };
        }
    }
}

#[test]
fn sixteen_bytes_go_from_and_to_sixteen_bytes_into_their_blocks() {
    let found = pair_loop(&cpu::MEMCPY_16, "single");
    let copies = found.body.iter().filter(|one| one.memory_accesses() != (0, 0));
    let offset = per_arch("+0x10]", ", #16]");
    let at_offset = copies.filter(|one| one.operands.contains(offset));
    assert_eq!(at_offset.count(), 20, "{:#?}", found.body);
}

#[test]
fn helpers_are_as_many_in_both_loops() {
    for (operation, helper, count) in [
        (&cpu::MOD_I32, per_arch("or", "orr"), 32),
        (&cpu::MOD_I64, per_arch("or", "orr"), 32),
        (&cpu::SQRT_F64, per_arch("orpd", "orr"), 2),
    ] {
        pair_loop(&operation.latency, "single").expect_count(helper, count);
        pair_loop(&operation.latency, "double").expect_count(helper, count);
    }
    let root = per_arch("sqrtsd", "fsqrt");
    pair_loop(&cpu::SQRT_F64.latency, "single").expect_count(root, 16);
    pair_loop(&cpu::SQRT_F64.latency, "double").expect_count(root, 32);
}

/// The instruction in which a chain ends, as a pair's text has it last: its
/// mnemonic, and the first letter of its destination.
fn end_of_chain(pair: &Pair) -> (&'static str, &'static str) {
    let last = match pair.instruction.split_once(" (") {
        Some((_, helpers)) if helpers.starts_with("with ") => helpers.trim_end_matches(')'),
        Some((measured, _)) => measured,
        None => pair.instruction,
    };
    let last = last.rsplit("; ").next().unwrap_or_default();
    let (mnemonic, operands) = last.split_once(' ').expect("a mnemonic and operands");
    (mnemonic, per_arch("", &operands[..1]))
}

#[test]
fn throughput_runs_in_as_many_chains_as_any_cpu_needs() {
    for operation in cpu::operations() {
        let pair = &operation.throughput;
        let (mnemonic, destination) = end_of_chain(pair);
        let single = pair_loop(pair, "single");
        let ends: Vec<Vec<&str>> = single
            .body
            .iter()
            .filter(|one| one.mnemonic == mnemonic && one.operands.starts_with(destination))
            .map(|one| one.operands.split(',').map(str::trim).collect())
            .collect();
        let destinations: HashSet<&str> = ends.iter().map(|operands| operands[0]).collect();
        let chains = destinations.len();
        let name = pair.path;
        assert!(chains > 0, "{name}: no {mnemonic} {destination}");
        assert!(chains >= operation.chains, "{name}: {chains} chains: {destinations:?}");
        // A chain is read only by itself: no instruction has another's
        // destination as its source.
        for operands in ends {
            let strange = operands[1..]
                .iter()
                .any(|operand| *operand != operands[0] && destinations.contains(operand));
            assert!(!strange, "{name}: {operands:?} ties two chains");
        }
    }
}

#[test]
fn divisions_as_ash() {
    for (kernel, divisions) in [("single", 10), ("double", 20)] {
        hot_loop(&format!("kernels::cpu::ash_div_u64_{kernel}"))
            .keeps_off_the_stack()
            .holds(0, 0, per_arch(3 * divisions + 3, divisions + 3))
            .expect_count(per_arch("div", "udiv"), divisions);
    }
}

/// Both loops of what is called or counted, with the number of operations that
/// each must hold.
fn both(ops: u32) -> [(&'static str, usize); 2] {
    [("single", ops as usize), ("double", 2 * ops as usize)]
}

impl Loop {
    /// Holds so many calls and no other: all `mnemonic`, all of `callee`.
    #[track_caller]
    fn calls(&self, mnemonic: &str, callee: impl Fn(&str) -> bool, expected: usize) -> &Self {
        let calls: Vec<&Instruction> = self.body.iter().filter(|one| one.is_call()).collect();
        self.check(calls.len() == expected, &format!("not {expected} calls"));
        let right = |one: &&Instruction| one.mnemonic == mnemonic && callee(&one.operands);
        self.check(calls.iter().all(right), "another call");
        self
    }
}

#[test]
fn direct_calls_and_calls_through_a_pointer() {
    for (which, ops) in both(kernels::UNROLL) {
        aligned_loop(&format!("{}::{which}", kernels::CALL_DIRECT.path))
            .holds(0, 0, ops + 2)
            .calls(per_arch("call", "bl"), |to| to.contains("kernels::call::nothing"), ops);
        aligned_loop(&format!("{}::{which}", kernels::CALL_POINTER.path))
            .holds(0, 0, per_arch(2 * ops, ops) + 2)
            .expect_count(per_arch("xchg", "nop"), per_arch(ops, 0))
            .calls(per_arch("call", "blr"), |to| to == per_arch("r13", "x21"), ops);
    }
    let callee = &functions()["kernels::call::nothing"];
    assert!(callee[0].is(&["ret"]), "the callee does nothing: {callee:?}");
}

#[test]
fn calls_of_a_shared_library_go_through_the_linkage_table() {
    for (which, ops) in both(kernels::UNROLL) {
        aligned_loop(&format!("{}::{which}", kernels::CALL_SHARED_LIBRARY.path))
            .holds(0, 0, ops + 2)
            .calls(
                per_arch("call", "bl"),
                |to| match kernels::SHARED_LIBRARY_MISSING {
                    None => to.contains("labs@plt"),
                    Some(_) => to.contains("labs>"),
                },
                ops,
            );
    }
}

/// Whether an operand is a word in memory, not a register.
fn is_memory(operand: &str) -> bool {
    operand.contains('[')
}

#[test]
fn virtual_calls_load_the_table_and_call_through_it() {
    let Some(pair) = kernels::virtual_call() else {
        let why = kernels::VIRTUAL_CALL_MISSING.expect("the reason");
        assert!(why.contains("C++ compiler"), "{why}");
        return;
    };
    for (which, ops) in both(pair.ops) {
        let found = the_loop(&format!("latlas_virtual_call_{which}"));
        // The table's address and the method's, each time: on x86-64 the
        // second load is the call's own.
        if X86 {
            found.holds(2 * ops, 0, found.body.len());
            found.calls("call", is_memory, ops);
        } else {
            found.holds(2 * ops, 0, found.body.len());
            found.calls("blr", |to| to.starts_with('x'), ops);
        }
    }
}

#[test]
fn calls_of_objects_and_closures_load_the_address_each_time() {
    for (what, which, ops) in ["dyn_trait", "closure"]
        .iter()
        .flat_map(|what| both(kernels::UNROLL).map(|(which, ops)| (what, which, ops)))
    {
        let found = the_loop(&format!("kernels::call::call_{what}_{which}"));
        found.holds(ops, 0, found.body.len());
        if X86 {
            found.calls("call", is_memory, ops);
            // Both loops begin a line of the cache behind their no-ops, so that the calls lie alike
            // in it, and none crosses it.
            let first = found.body.iter().find(|one| one.is(&["mov"]));
            assert_eq!(first.expect("a body").address % 64, 0, "{:#?}", found.body);
            let ends = found.body.windows(2).filter(|pair| pair[0].is_call());
            let crosses = |(from, to): (u64, u64)| from / 64 != (to - 1) / 64;
            let crossing = ends.filter(|pair| crosses((pair[0].address, pair[1].address)));
            assert_eq!(crossing.count(), 0, "{:#?}", found.body);
        } else {
            found.calls("blr", |to| to.starts_with('x'), ops);
        }
    }
}

#[test]
fn atomics_are_atomic() {
    // On AArch64 a helper of the compiler's chooses the instruction that the
    // core has.
    let is_atomic = |one: &&Instruction| {
        one.is(&["lock"])
            || one.mnemonic.starts_with("ldadd")
            || one.operands.contains("__aarch64_ldadd8")
    };
    // In the whole function: the compiler may lay the loop out in pieces.
    for (which, ops) in both(kernels::UNROLL) {
        for (loops, per_op) in [("atomic_add", 1), ("refcount", 2)] {
            let function = &functions()[&format!("kernels::atomic::{loops}_{which}")];
            let found = function.iter().filter(is_atomic).count();
            assert_eq!(found, per_op * ops, "{loops}_{which}: {function:#?}");
        }
    }
}
