//! This program taken apart by `objdump`: its functions, and the one loop of
//! each.

use std::collections::HashMap;
use std::hint::black_box;
use std::process::Command;
use std::sync::OnceLock;

pub(crate) const X86: bool = cfg!(target_arch = "x86_64");

/// The value for the architecture that this is built for.
pub(crate) fn per_arch<T>(x86_64: T, aarch64: T) -> T {
    if X86 { x86_64 } else { aarch64 }
}

pub(crate) struct Instruction {
    pub(crate) address: u64,
    pub(crate) mnemonic: String,
    pub(crate) operands: String,
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
        let mut text = text.split("//").next()?.trim();
        // Prefixes of long no-ops.
        while let Some(rest) = ["data16 ", "cs "].iter().find_map(|p| text.strip_prefix(p)) {
            text = rest;
        }
        let (mnemonic, operands) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        Some(Self {
            address: u64::from_str_radix(address.trim(), 16).ok()?,
            mnemonic: mnemonic.to_owned(),
            operands: operands.trim().to_owned(),
        })
    }

    pub(crate) fn is(&self, mnemonics: &[&str]) -> bool {
        mnemonics.contains(&self.mnemonic.as_str())
    }

    pub(crate) fn is_call(&self) -> bool {
        self.is(&["call", "bl", "blr", "svc", "syscall"])
    }

    /// Where a jump goes: `jne    15c40 <kernels::chase::chase+0x20>`.
    pub(crate) fn jump_target(&self) -> Option<u64> {
        let jump = if X86 {
            self.mnemonic.starts_with('j')
        } else {
            self.mnemonic == "b"
                || self.mnemonic.starts_with("b.")
                || self.is(&["cbz", "cbnz", "tbz", "tbnz"])
        };
        let target = self.operands.split(" <").next()?.rsplit([',', ' ']).next()?;
        let target = target.trim_start_matches("0x");
        jump.then(|| u64::from_str_radix(target, 16).ok())?
    }

    pub(crate) fn is_conditional_jump(&self) -> bool {
        self.jump_target().is_some() && !self.is(&["jmp", "b"])
    }

    /// Loads and stores of this instruction.
    pub(crate) fn memory_accesses(&self) -> (usize, usize) {
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

    pub(crate) fn touches_stack(&self) -> bool {
        self.is(&["push", "pop"])
            || self.operands.contains(per_arch("rsp", "[sp"))
            || self.operands.contains(per_arch("esp", "wsp"))
    }
}

/// The functions of this program that belong to the crate, by demangled name;
/// those of C++ by their names for the linker.
pub(crate) fn functions() -> &'static HashMap<String, Vec<Instruction>> {
    static FUNCTIONS: OnceLock<HashMap<String, Vec<Instruction>>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        keep_all();
        disassemble()
    })
}

/// Makes the linker keep every kernel.
fn keep_all() {
    let calls = [&kernels::CALL_DIRECT, &kernels::CALL_POINTER, &kernels::CALL_SHARED_LIBRARY];
    black_box((kernels::cpu::pairs().count(), calls, kernels::virtual_call()));
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
    command.args(["--disassemble", "--demangle", "--no-show-raw-insn", "--wide"]);
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
    assert!(!functions.is_empty(), "{objdump} shows no function of this crate");
    functions
}

/// Without the hashes that either mangling adds.
fn plain_name(name: &str) -> String {
    let name = match name.rsplit_once("::h") {
        Some((plain, hash)) if hash.len() == 16 => plain,
        _ => name,
    };
    name.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect()
}

/// The one loop of a function: from its head to the branch back to it.
pub(crate) struct Loop {
    pub(crate) name: String,
    pub(crate) body: &'static [Instruction],
}

/// Finds it, and checks what holds for every loop of this crate that is written
/// in assembly and calls nothing.
pub(crate) fn hot_loop(name: &str) -> Loop {
    let found = aligned_loop(name);
    found.check(!found.body.iter().any(Instruction::is_call), "a call");
    found
}

/// The loop of a function in assembly.
pub(crate) fn aligned_loop(name: &str) -> Loop {
    let found = the_loop(name);
    let head = found.body[0].address;
    assert_eq!(head % 64, 0, "the head of {name}'s loop is not aligned");
    found
}

/// The loop of any function.
pub(crate) fn the_loop(name: &str) -> Loop {
    let function =
        functions().get(name).unwrap_or_else(|| panic!("no function {name} in this program"));
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
    Loop { name: name.to_owned(), body: &function[first..=last] }
}

impl Loop {
    #[track_caller]
    pub(crate) fn check(&self, holds: bool, what: &str) {
        assert!(holds, "{}: {what} in the loop: {:#?}", self.name, self.body);
    }

    pub(crate) fn count(&self, mnemonic: &str) -> usize {
        let counted = self.body.iter().filter(|one| one.mnemonic == mnemonic);
        counted.count()
    }

    #[track_caller]
    pub(crate) fn holds(&self, loads: usize, stores: usize, instructions: usize) -> &Self {
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
    pub(crate) fn expect_count(&self, mnemonic: &str, expected: usize) -> &Self {
        let found = self.count(mnemonic);
        self.check(found == expected, &format!("{found} {mnemonic} instead of {expected}"));
        self
    }

    /// Nothing spilled.
    #[track_caller]
    pub(crate) fn keeps_off_the_stack(&self) -> &Self {
        self.check(!self.body.iter().any(Instruction::touches_stack), "the stack");
        self
    }
}
