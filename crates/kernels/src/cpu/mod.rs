//! What an instruction costs: a pair of loops for its latency, one for its
//! throughput, each stated once per architecture in one place.

/// Lists operations: their name and module, what is said of the operands of
/// latency and throughput, the chains that the throughput needs, the CPU
/// feature if there is one beyond the baseline, and the loops by architecture.
macro_rules! operations {
    ($($NAME:ident: $module:ident, operands [$latency:expr, $throughput:expr],
        chains $chains:tt $(, needs $arch:tt $feature:literal)?;
        x86_64 $x86_64:tt aarch64 $aarch64:tt portable $portable:tt)+) => {
        $(
            mod $module {
                #[allow(unused_imports, reason = "not every loop has operands")]
                use super::*;

                loops! { x86_64 $x86_64 aarch64 $aarch64 portable $portable }
            }

            #[doc = concat!("The loops of `", stringify!($module), "`.")]
            pub static $NAME: Instruction = Instruction {
                latency: $module::latency::pair($latency, operations!(@needs $($arch $feature)?)),
                throughput: $module::throughput::pair(
                    $throughput,
                    operations!(@needs $($arch $feature)?),
                ),
                chains: operations!(@chains $chains),
            };
        )+
        pub(super) static ALL: &[&Instruction] = &[$(&$NAME),+];
    };
    (@needs) => { None };
    (@needs x86_64 $feature:literal) => {
        if cfg!(target_arch = "x86_64") { Some($feature) } else { None }
    };
    (@needs aarch64 $feature:literal) => {
        if cfg!(target_arch = "aarch64") { Some($feature) } else { None }
    };
    (@chains [x86_64 $x86_64:literal, aarch64 $aarch64:literal]) => {
        if cfg!(target_arch = "aarch64") { $aarch64 } else { $x86_64 }
    };
    (@chains $chains:literal) => { $chains };
}

mod floats;
mod integers;
mod single;

pub use floats::*;
pub use integers::*;
pub use single::*;

use crate::arch;
use crate::pair::Pair;

/// An instruction that is measured in a dependent chain and in independent
/// ones.
#[derive(Debug)]
pub struct Instruction {
    /// A dependent chain: each operation waits for the one before.
    pub latency: Pair,
    /// Independent chains, or operations without any.
    pub throughput: Pair,
    /// Chains that the throughput needs on the CPU that wants most: the
    /// instruction's latency times how many of them start in a cycle. The table
    /// in `docs/method.md` names the CPUs. 0 where nothing is overlapped.
    pub chains: usize,
}

/// All operations.
pub fn operations() -> impl Iterator<Item = &'static Instruction> {
    integers::ALL.iter().chain(floats::ALL).copied()
}

/// All pairs of loops of instructions.
pub fn pairs() -> impl Iterator<Item = &'static Pair> {
    let of_operations = operations().flat_map(|one| [&one.latency, &one.throughput]);
    of_operations.chain([&EMPTY, &DIV_F64_AS_ASH, &DIV_F64_FROM_INT_AS_ASH, &MEMCPY_16])
}

/// Ash's integer division: ten of 1000000000 / i a turn, with i = `first`,
/// `first + 1` and so on from turn to turn.
///
/// Unsigned and 64 bits wide; the dividend is reloaded for each of the ten, so
/// results are not chained. The same i for the ten copies of a turn. Small
/// divisors cost differently: sample `first` across 1 to 1e8. Zero turns do
/// nothing.
///
/// # Panics
/// If i would be 0 or overflow.
#[inline(never)]
pub fn ash_div_u64_single(first: u64, turns: u64) {
    check_divisors(first, turns);
    if turns > 0 {
        arch::ash::ash_div_u64_single(first, turns);
    }
}

/// [`ash_div_u64_single`] with twenty divisions a turn; the same i in the same
/// turn, so that the difference of the two is ten divisions a turn.
///
/// # Panics
/// If i would be 0 or overflow.
#[inline(never)]
pub fn ash_div_u64_double(first: u64, turns: u64) {
    check_divisors(first, turns);
    if turns > 0 {
        arch::ash::ash_div_u64_double(first, turns);
    }
}

/// A division by zero traps on x86-64.
fn check_divisors(first: u64, turns: u64) {
    assert!(
        first > 0 && first.checked_add(turns).is_some(),
        "the divisors must be positive and not overflow"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_sentences() {
        for pair in pairs() {
            assert!(pair.operands.ends_with('.'), "{}", pair.path);
            assert!(!pair.operands.contains("  "), "{}", pair.path);
            assert!(!pair.instruction.is_empty(), "{}", pair.path);
            assert!(pair.ops >= 10, "{}", pair.path);
        }
    }
}
