//! The arithmetic instructions: latency in a dependent chain, throughput in
//! independent ones.

use crate::paired::{DIFFERENCE, of_kernel};
use meter::probe::Probe;

/// Instruction, words for it.
const OPERATIONS: [(&str, &str); 18] = [
    ("add_i32", "32-bit integer addition"),
    ("mul_i32", "32-bit integer multiplication"),
    ("div_i32", "32-bit integer division"),
    ("mod_i32", "32-bit integer remainder"),
    ("bit_i32", "32-bit exclusive or"),
    ("add_i64", "64-bit integer addition"),
    ("mul_i64", "64-bit integer multiplication"),
    ("div_i64", "64-bit integer division"),
    ("mod_i64", "64-bit integer remainder"),
    ("bit_i64", "64-bit exclusive or"),
    ("popcnt_i64", "count of the bits set in 64"),
    ("add_f32", "single-precision addition"),
    ("mul_f32", "single-precision multiplication"),
    ("div_f32", "single-precision division"),
    ("add_f64", "double-precision addition"),
    ("mul_f64", "double-precision multiplication"),
    ("div_f64", "double-precision division"),
    ("sqrt_f64", "double-precision square root"),
];

pub(crate) fn probes() -> Vec<Probe> {
    OPERATIONS
        .iter()
        .map(|&(id, words)| probe(id, words))
        .collect()
}

fn probe(id: &'static str, words: &'static str) -> Probe {
    let operands = |id: &str| {
        kernels::pair(id).map_or_else(String::new, |pair| {
            format!(
                "{} ({})",
                pair.instruction,
                pair.operands.trim_end_matches('.')
            )
        })
    };
    let (chain, free) = (operands(id), operands(&format!("{id}/throughput")));
    Probe {
        variants: vec!["".into(), "throughput".into()],
        title: words.into(),
        operation: format!("One {words}: the plain row is its latency, each waiting for the one before; /throughput is its cost among independent ones.").into(),
        method: format!("{DIFFERENCE} Latency by {chain}; throughput by {free}.").into(),
        source: if id.starts_with("mod") {
            "LMbench's lat_ops, whose loop has an or beside the remainder and takes the cost of another operation, measured elsewhere, off for it (nothing, where the compiler removed that one's loop); ours is written in assembly and has the remainder alone.".into()
        } else {
            "LMbench's lat_ops for the set of operations and the division's changing divisor; ours are written in assembly, so that no compiler decides what is measured.".into()
        },
        make: Box::new(move |_, site| {
            let name = match site.variant.as_str() {
                "" => id.to_string(),
                variant => format!("{id}/{variant}"),
            };
            of_kernel(&name)
        }),
        ..Probe::blank(format!("cpu.{id}"))
    }
}
