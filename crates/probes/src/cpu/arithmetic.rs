//! The arithmetic instructions: latency in a dependent chain, throughput in
//! independent ones.

use crate::engine::paired::{DIFFERENCE, of_pair};
use kernels::Pair;
use kernels::cpu::{self, Instruction};
use meter::probe::Probe;

const LMBENCH: &str = "LMbench's lat_ops for the set of operations and for the changing divisor of the division. The loops are written in assembly, so that no compiler decides what is measured.";
const LMBENCH_REMAINDER: &str = "LMbench's lat_ops. Its loop holds an OR besides the remainder, and it subtracts the cost of another operation, measured elsewhere, for that (nothing, where the compiler removed that operation's loop). This loop is written in assembly and holds the remainder alone.";

const OURS: &str = "Ours: LMbench's lat_ops has no such operation. The loops are written in assembly, as those of its operations are.";

/// A table of rows: id, words for it, its loops, and where its definition comes
/// from.
macro_rules! rows {
    ($($id:literal $words:literal $loops:ident $source:ident;)+) => {
        vec![$(arithmetic_probe($id, $words, &cpu::$loops, $source)),+]
    };
}

pub(crate) fn arithmetic_probes() -> Vec<Probe> {
    rows! {
        "cpu.add_i32"    "32-bit integer addition"         ADD_I32    LMBENCH;
        "cpu.mul_i32"    "32-bit integer multiplication"   MUL_I32    LMBENCH;
        "cpu.div_i32"    "32-bit integer division"         DIV_I32    LMBENCH;
        "cpu.mod_i32"    "32-bit integer remainder"        MOD_I32    LMBENCH_REMAINDER;
        "cpu.bit_i32"    "32-bit exclusive or"             BIT_I32    LMBENCH;
        "cpu.add_i64"    "64-bit integer addition"         ADD_I64    LMBENCH;
        "cpu.mul_i64"    "64-bit integer multiplication"   MUL_I64    LMBENCH;
        "cpu.div_i64"    "64-bit integer division"         DIV_I64    LMBENCH;
        "cpu.mod_i64"    "64-bit integer remainder"        MOD_I64    LMBENCH_REMAINDER;
        "cpu.bit_i64"    "64-bit exclusive or"             BIT_I64    LMBENCH;
        "cpu.popcnt_i64" "count of the bits set in 64"     POPCNT_I64 OURS;
        "cpu.add_f32"    "single-precision addition"       ADD_F32    LMBENCH;
        "cpu.mul_f32"    "single-precision multiplication" MUL_F32    LMBENCH;
        "cpu.div_f32"    "single-precision division"       DIV_F32    LMBENCH;
        "cpu.add_f64"    "double-precision addition"       ADD_F64    LMBENCH;
        "cpu.mul_f64"    "double-precision multiplication" MUL_F64    LMBENCH;
        "cpu.div_f64"    "double-precision division"       DIV_F64    LMBENCH;
        "cpu.sqrt_f64"   "double-precision square root"    SQRT_F64   LMBENCH;
    }
}

fn arithmetic_probe(
    id: &'static str,
    words: &'static str,
    operation: &'static Instruction,
    source: &'static str,
) -> Probe {
    let loops = |pair: &Pair| {
        let operands = pair.operands.trim_end_matches('.');
        format!("{} ({operands})", pair.instruction)
    };
    let (latency, throughput) = (loops(&operation.latency), loops(&operation.throughput));
    Probe {
        variants: vec!["".into(), "throughput".into()],
        title: words.into(),
        operation: format!("One {words}: the plain row is its latency, each waiting for the one before; /throughput is its cost among independent ones.").into(),
        method: format!("{DIFFERENCE} Latency by {latency}; throughput by {throughput}.").into(),
        source: source.into(),
        needs: operation.latency.needs,
        make: Box::new(move |_, site| match site.variant.as_str() {
            "" => of_pair(&operation.latency),
            _ => of_pair(&operation.throughput),
        }),
        ..Probe::blank(id)
    }
}
