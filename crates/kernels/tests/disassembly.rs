//! The loops as they ship: this program holds all of them, compiled as in
//! every profile, so it takes itself apart and counts.
//!
//! Needs `objdump` (binutils, which comes with any C compiler); `OBJDUMP`
//! names another, for a cross build.
#![cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]

use std::collections::HashMap;
use std::hint::black_box;
use std::process::Command;
use std::sync::OnceLock;

const X86: bool = cfg!(target_arch = "x86_64");

/// The value for the architecture that this is built for.
fn per_arch<T>(x86_64: T, aarch64: T) -> T {
    if X86 { x86_64 } else { aarch64 }
}

struct Instruction {
    address: u64,
    mnemonic: String,
    operands: String,
}

impl std::fmt::Debug for Instruction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:x} {} {}", self.address, self.mnemonic, self.operands)
    }
}

impl Instruction {
    /// From a line of objdump: address, colon, tab, mnemonic, operands.
    fn parse(line: &str) -> Option<Self> {
        let (address, text) = line.split_once(":\t")?;
        let text = text.split("//").next()?.trim();
        let (mnemonic, operands) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        Some(Self {
            address: u64::from_str_radix(address.trim(), 16).ok()?,
            mnemonic: mnemonic.to_owned(),
            operands: operands.trim().to_owned(),
        })
    }

    fn is(&self, mnemonics: &[&str]) -> bool {
        mnemonics.contains(&self.mnemonic.as_str())
    }

    fn is_call(&self) -> bool {
        self.is(&["call", "bl", "blr", "svc", "syscall"])
    }

    /// Where a jump goes: `jne    15c40 <kernels::chase::chase+0x20>`.
    fn jump_target(&self) -> Option<u64> {
        let jump = if X86 {
            self.mnemonic.starts_with('j')
        } else {
            self.mnemonic == "b"
                || self.mnemonic.starts_with("b.")
                || self.is(&["cbz", "cbnz", "tbz", "tbnz"])
        };
        let target = self
            .operands
            .split(" <")
            .next()?
            .rsplit([',', ' '])
            .next()?;
        let target = target.trim_start_matches("0x");
        jump.then(|| u64::from_str_radix(target, 16).ok())?
    }

    fn is_conditional_jump(&self) -> bool {
        self.jump_target().is_some() && !self.is(&["jmp", "b"])
    }

    /// Loads and stores of this instruction.
    fn memory_accesses(&self) -> (usize, usize) {
        if X86 {
            let Some(position) = self.operands.find('[') else {
                return (0, 0);
            };
            let destination = !self.operands[..position].contains(',');
            match self.mnemonic.as_str() {
                "lea" | "nop" | "nopw" | "nopl" => (0, 0),
                "cmp" | "test" | "call" => (1, 0),
                mov if mov.starts_with("mov") && destination => (0, 1),
                _ if destination => (1, 1),
                _ => (1, 0),
            }
        } else {
            match self.mnemonic.as_str() {
                "ldp" => (2, 0),
                "stp" => (0, 2),
                load if load.starts_with("ld") => (1, 0),
                store if store.starts_with("st") => (0, 1),
                _ => (0, 0),
            }
        }
    }

    fn touches_stack(&self) -> bool {
        self.is(&["push", "pop"])
            || self.operands.contains(per_arch("rsp", "[sp"))
            || self.operands.contains(per_arch("esp", "wsp"))
    }
}

/// The functions of this program that belong to the crate, by demangled name;
/// those of C++ by their names for the linker.
fn functions() -> &'static HashMap<String, Vec<Instruction>> {
    static FUNCTIONS: OnceLock<HashMap<String, Vec<Instruction>>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        keep_all();
        disassemble()
    })
}

/// Makes the linker keep every kernel.
fn keep_all() {
    black_box((kernels::CPU, kernels::CALL, kernels::virtual_call()));
    let kept: &[*const ()] = &[
        kernels::ash_div_u64_double as *const (),
        kernels::ash_div_u64_single as *const (),
        kernels::atomic_add_double as *const (),
        kernels::atomic_add_single as *const (),
        kernels::branches as *const (),
        kernels::call_closure_double as *const (),
        kernels::call_closure_single as *const (),
        kernels::call_dyn_trait_double as *const (),
        kernels::call_dyn_trait_single as *const (),
        kernels::chase as *const (),
        kernels::chase_on_stack as *const (),
        kernels::chase_parallel as *const (),
        kernels::copy as *const (),
        kernels::dependent_adds as *const (),
        kernels::dependent_multiplies as *const (),
        kernels::fill as *const (),
        kernels::read_every_4th as *const (),
        kernels::read_pages as *const (),
        kernels::read_sequential as *const (),
        kernels::read_stride as *const (),
        kernels::read_vector as *const (),
        kernels::read_write_every_4th as *const (),
        kernels::read_write_sequential as *const (),
        kernels::refcount_double as *const (),
        kernels::refcount_single as *const (),
        kernels::taken_branches as *const (),
        kernels::touch_pages as *const (),
        kernels::write_every_4th as *const (),
        kernels::write_sequential as *const (),
        kernels::xor_bytes as *const (),
        kernels::xor_bytes_vector as *const (),
    ];
    black_box(kept);
}

fn disassemble() -> HashMap<String, Vec<Instruction>> {
    let objdump = std::env::var("OBJDUMP").unwrap_or_else(|_| "objdump".to_owned());
    let program = std::env::current_exe().expect("the path of this program");
    let mut command = Command::new(&objdump);
    command.args([
        "--disassemble",
        "--demangle",
        "--no-show-raw-insn",
        "--wide",
    ]);
    if X86 {
        command.arg("--disassembler-options=intel");
    }
    let output = command.arg(&program).output().unwrap_or_else(|error| {
        panic!(
            "can't run {objdump}: {error}. Install binutils (it comes with any C compiler), or \
             name a disassembler for this architecture in OBJDUMP."
        )
    });
    assert!(
        output.status.success(),
        "{objdump} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let mut functions = HashMap::<String, Vec<Instruction>>::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(label) = line.strip_suffix(">:") {
            current = label
                .split_once('<')
                .map(|(_, name)| plain_name(name))
                .filter(|name| name.starts_with("kernels::") || name.starts_with("latlas_"));
        } else if let (Some(name), Some(instruction)) = (&current, Instruction::parse(line)) {
            // What fills the gap to the next function.
            if !instruction.is(&["int3", "udf"]) {
                functions.entry(name.clone()).or_default().push(instruction);
            }
        }
    }
    assert!(
        !functions.is_empty(),
        "{objdump} shows no function of this crate"
    );
    functions
}

/// Without the hashes that either mangling adds.
fn plain_name(name: &str) -> String {
    let name = match name.rsplit_once("::h") {
        Some((plain, hash)) if hash.len() == 16 => plain,
        _ => name,
    };
    name.split('[')
        .map(|part| part.split_once(']').map_or(part, |(_, rest)| rest))
        .collect()
}

/// The one loop of a function: from its head to the branch back to it.
struct Loop {
    name: String,
    body: &'static [Instruction],
}

/// Finds it, and checks what holds for every loop of this crate that is written
/// in assembly and calls nothing.
fn hot_loop(name: &str) -> Loop {
    let found = aligned_loop(name);
    found.check(!found.body.iter().any(Instruction::is_call), "a call");
    found
}

/// The loop of a function in assembly.
fn aligned_loop(name: &str) -> Loop {
    let found = the_loop(name);
    let head = found.body[0].address;
    assert_eq!(head % 64, 0, "the head of {name}'s loop is not aligned");
    found
}

/// The loop of any function.
fn the_loop(name: &str) -> Loop {
    let function = functions()
        .get(name)
        .unwrap_or_else(|| panic!("no function {name} in this program"));
    let backward: Vec<(usize, u64)> = function
        .iter()
        .enumerate()
        .filter_map(|(index, instruction)| {
            let target = instruction.jump_target()?;
            let own = function[0].address..=instruction.address;
            own.contains(&target).then_some((index, target))
        })
        .collect();
    let &[(last, target)] = backward.as_slice() else {
        panic!("{name} has {} backward branches, not one", backward.len());
    };
    let first = function
        .iter()
        .position(|instruction| instruction.address == target)
        .unwrap_or_else(|| panic!("{name} jumps between instructions"));
    Loop {
        name: name.to_owned(),
        body: &function[first..=last],
    }
}

impl Loop {
    #[track_caller]
    fn check(&self, holds: bool, what: &str) {
        assert!(holds, "{}: {what} in the loop: {:#?}", self.name, self.body);
    }

    fn count(&self, mnemonic: &str) -> usize {
        let counted = self.body.iter().filter(|one| one.mnemonic == mnemonic);
        counted.count()
    }

    /// Loads, stores, and instructions in all.
    #[track_caller]
    fn holds(&self, loads: usize, stores: usize, instructions: usize) -> &Self {
        let accesses = self.body.iter().map(Instruction::memory_accesses);
        let (found_loads, found_stores) =
            accesses.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let found = (found_loads, found_stores, self.body.len());
        self.check(
            found == (loads, stores, instructions),
            &format!(
                "{found:?} instead of {:?} loads, stores, instructions",
                (loads, stores, instructions)
            ),
        );
        self
    }

    #[track_caller]
    fn counts(&self, mnemonic: &str, expected: usize) -> &Self {
        let found = self.count(mnemonic);
        self.check(
            found == expected,
            &format!("{found} {mnemonic} instead of {expected}"),
        );
        self
    }

    /// Nothing spilled.
    #[track_caller]
    fn keeps_off_the_stack(&self) -> &Self {
        self.check(
            !self.body.iter().any(Instruction::touches_stack),
            "the stack",
        );
        self
    }
}

#[test]
fn chases() {
    let (load, store) = per_arch(("mov", "mov"), ("ldr", "str"));
    hot_loop("kernels::chase::chase")
        .keeps_off_the_stack()
        .holds(64, 0, 64 + 2)
        .counts(load, 64);
    let on_stack = hot_loop("kernels::chase::chase_on_stack");
    on_stack
        .holds(2 * 64, 64, 3 * 64 + 2)
        .counts(load, per_arch(3 * 64, 2 * 64))
        .counts(store, per_arch(3 * 64, 64));
    let slot = per_arch("[rbp-0x8]", "[sp, #8]");
    let stack = on_stack
        .body
        .iter()
        .filter(|one| one.operands.contains(slot));
    assert_eq!(stack.count(), 2 * 64, "a reload and a store for each load");
    for chases in kernels::PARALLEL_CHASES {
        let arch = per_arch("x86_64", "aarch64");
        hot_loop(&format!("kernels::{arch}::chase::parallel_{chases}"))
            .keeps_off_the_stack()
            .holds(16 * chases, 0, 16 * chases + 2)
            .counts(load, 16 * chases);
    }
}

#[test]
fn streams() {
    for step in ["sequential", "every_4th"] {
        hot_loop(&format!("kernels::stream::read_{step}"))
            .keeps_off_the_stack()
            .holds(32, 0, per_arch(32 + 5, 2 * 32 + 5))
            .counts("add", 32 + 2);
        hot_loop(&format!("kernels::stream::write_{step}"))
            .keeps_off_the_stack()
            .holds(0, 32, 32 + 3)
            .counts(per_arch("mov", "str"), 32);
        hot_loop(&format!("kernels::stream::read_write_{step}"))
            .keeps_off_the_stack()
            .holds(32, 32, per_arch(32 + 3, 3 * 32 + 3))
            .counts(per_arch("shl", "lsl"), 32);
    }
}

#[test]
fn scalar_and_vector_reads() {
    hot_loop("kernels::stream::read_vector")
        .keeps_off_the_stack()
        .holds(16, 0, per_arch(16 + 3, 8 + 16 + 3))
        .counts(per_arch("pxor", "eor"), 16);
    hot_loop("kernels::stream::read_stride")
        .keeps_off_the_stack()
        .holds(16, 0, per_arch(16, 2 * 16) + 4 + 2);
    hot_loop("kernels::stream::xor_bytes")
        .keeps_off_the_stack()
        .holds(1, 0, per_arch(4, 4))
        .counts(per_arch("xor", "eor"), 1);
    hot_loop("kernels::stream::xor_bytes_vector")
        .keeps_off_the_stack()
        .holds(4, 0, per_arch(8 + 3, 2 + 4 + 3))
        .counts(per_arch("pxor", "eor"), 4);
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
    hot_loop("kernels::pages::touch_pages")
        .keeps_off_the_stack()
        .holds(0, 1, 4);
    hot_loop("kernels::pages::read_pages")
        .keeps_off_the_stack()
        .holds(1, 0, 5);
}

#[test]
fn canaries() {
    hot_loop("kernels::canary::taken_branches")
        .keeps_off_the_stack()
        .holds(0, 0, 2);
    hot_loop("kernels::canary::dependent_adds")
        .keeps_off_the_stack()
        .holds(0, 0, kernels::ADDS_PER_TURN as usize + 2)
        .counts("add", kernels::ADDS_PER_TURN as usize);
    let multiply = if cfg!(target_arch = "x86_64") {
        "imul"
    } else {
        "mul"
    };
    hot_loop("kernels::canary::dependent_multiplies")
        .keeps_off_the_stack()
        .holds(0, 0, kernels::MULTIPLIES_PER_TURN as usize + 2)
        .counts(multiply, kernels::MULTIPLIES_PER_TURN as usize);
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
        // Beside what fills the gap to an aligned function.
        let instructions = function.iter().filter(|one| !one.is(&["nop"])).count();
        assert!(leaves && instructions < 12, "{kernel}: {function:#?}");
    }
}

/// The module of a pair: `add_i32_latency`, `add_i32_throughput`.
fn module(id: &str) -> String {
    match id {
        "memcpy/16B" => "memcpy_16".to_owned(),
        "empty" | "div_f64_as_ash" | "div_f64_from_int_as_ash" => id.to_owned(),
        _ if id.contains('/') => id.replace('/', "_"),
        _ => format!("{id}_latency"),
    }
}

fn pair_loop(id: &str, which: &str) -> Loop {
    let arch = per_arch("x86_64", "aarch64");
    let symbol = |id| format!("kernels::{arch}::cpu::{}::{which}", module(id));
    let mut name = symbol(id);
    // One x86 instruction gives quotient and remainder, and the compiler keeps
    // one of two functions that are the same.
    if X86 && !functions().contains_key(&name) {
        name = match id {
            "div_i32/throughput" => symbol("mod_i32/throughput"),
            "mod_i32/throughput" => symbol("div_i32/throughput"),
            "div_i64/throughput" => symbol("mod_i64/throughput"),
            "mod_i64/throughput" => symbol("div_i64/throughput"),
            _ => name,
        };
    }
    let found = hot_loop(&name);
    found.keeps_off_the_stack();
    found
}

#[test]
fn every_pair_holds_its_operations_once_and_twice() {
    for pair in kernels::CPU {
        let ops = pair.ops as usize;
        let mnemonic = pair.instruction.split(' ').next().expect("a first word");
        for (which, ops) in [("single", ops), ("double", 2 * ops)] {
            let found = pair_loop(pair.id, which);
            match pair.id {
                "empty" => found.holds(0, 0, 2),
                "memcpy/16B" => found.holds(ops, ops, 2 * ops + 2),
                "div_f64_as_ash" => found.holds(2 * ops, 0, 3 * ops + 2).counts(mnemonic, ops),
                "div_f64_from_int_as_ash" => found
                    .holds(ops, 0, per_arch(4 * ops + 3, 3 * ops + 3))
                    .counts(mnemonic, ops),
                _ => found.holds(0, 0, found.body.len()).counts(mnemonic, ops),
            };
        }
    }
}

#[test]
fn sixteen_bytes_go_from_and_to_sixteen_bytes_into_their_blocks() {
    let found = pair_loop("memcpy/16B", "single");
    let copies = found
        .body
        .iter()
        .filter(|one| one.memory_accesses() != (0, 0));
    let offset = per_arch("+0x10]", ", #16]");
    let at_offset = copies.filter(|one| one.operands.contains(offset));
    assert_eq!(at_offset.count(), 20, "{:#?}", found.body);
}

#[test]
fn helpers_are_as_many_in_both_loops() {
    for (id, helper) in [
        ("mod_i32", per_arch("or", "orr")),
        ("mod_i64", per_arch("or", "orr")),
        ("sqrt_f64", per_arch("orpd", "orr")),
    ] {
        pair_loop(id, "single").counts(helper, 32);
        pair_loop(id, "double").counts(helper, 32);
    }
}

/// Chains that a throughput row needs on the CPU that wants most: the
/// instruction's latency times how many of them start in a cycle. The table in
/// `docs/method.md` names the CPUs.
fn chains_needed(id: &str) -> usize {
    let operation = id.split('_').next().expect("a first word");
    match operation {
        "add" if id.contains("_i") => 8,
        "bit" => 8,
        "mul" if id.contains("_i") => 9,
        "popcnt" => 9,
        "add" => 12,
        // Skymont would want 16 of x86-64's 16 registers: `docs/method.md`.
        "mul" => per_arch(8, 18),
        // Independent by operands that are copied or reloaded each time.
        "div" | "sqrt" if id.contains("_f") => 8,
        "div" | "mod" => 0,
        _ => panic!("{id}: how many chains does it need?"),
    }
}

#[test]
fn throughput_runs_in_as_many_chains_as_any_cpu_needs() {
    for pair in kernels::CPU {
        let Some(operation) = pair.id.strip_suffix("/throughput") else {
            continue;
        };
        // On AArch64 a count goes through one vector register; its chains are
        // where it ends.
        let last = match operation {
            "popcnt_i64" => per_arch("popcnt", "fmov"),
            _ => pair.instruction.split(' ').next().expect("a first word"),
        };
        let single = pair_loop(pair.id, "single");
        let destinations: std::collections::HashSet<&str> = single
            .body
            .iter()
            .filter(|one| one.mnemonic == last)
            .filter_map(|one| one.operands.split(',').next())
            .filter(|destination| last != "fmov" || destination.starts_with('w'))
            .collect();
        let chains = destinations.len();
        assert!(
            chains >= chains_needed(operation),
            "{}: {chains} chains: {destinations:?}",
            pair.id
        );
        // A chain is read only by itself: no instruction has another's
        // destination as its source.
        if !["div", "mod", "sqrt", "popcnt"].contains(&operation.split('_').next().unwrap_or("")) {
            for one in single.body.iter().filter(|one| one.mnemonic == last) {
                let mut operands = one.operands.split(',').map(str::trim);
                let own = operands.next();
                let strange = operands
                    .filter(|operand| Some(*operand) != own)
                    .any(|operand| destinations.contains(operand));
                assert!(!strange, "{}: {one:?} ties two chains", pair.id);
            }
        }
    }
}

#[test]
fn divisions_as_ash() {
    for (kernel, divisions) in [("single", 10), ("double", 20)] {
        hot_loop(&format!("kernels::cpu::ash_div_u64_{kernel}"))
            .keeps_off_the_stack()
            .holds(0, 0, per_arch(3 * divisions + 3, divisions + 3))
            .counts(per_arch("div", "udiv"), divisions);
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
    let arch = per_arch("x86_64", "aarch64");
    for (which, ops) in both(kernels::UNROLL) {
        aligned_loop(&format!("kernels::{arch}::call::direct::{which}"))
            .holds(0, 0, ops + 2)
            .calls(
                per_arch("call", "bl"),
                |to| to.contains("kernels::call::nothing"),
                ops,
            );
        aligned_loop(&format!("kernels::{arch}::call::pointer::{which}"))
            .holds(0, 0, per_arch(2 * ops, ops) + 2)
            .counts(per_arch("xchg", "nop"), per_arch(ops, 0))
            .calls(
                per_arch("call", "blr"),
                |to| to == per_arch("r13", "x21"),
                ops,
            );
    }
    let callee = &functions()["kernels::call::nothing"];
    assert!(
        callee[0].is(&["ret"]),
        "the callee does nothing: {callee:?}"
    );
}

#[test]
fn calls_of_a_shared_library_go_through_the_linkage_table() {
    let arch = per_arch("x86_64", "aarch64");
    for (which, ops) in both(kernels::UNROLL) {
        aligned_loop(&format!("kernels::{arch}::call::shared_library::{which}"))
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
