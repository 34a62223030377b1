//! Speed of memory over working set.

use super::super::Quantity;
use super::super::curves::named;
use super::super::figure::log;
use super::super::source::{Drawn, Source};
use super::working_set::over_working_set;

/// Reading, writing and modifying on one core: every element, and every fourth.
pub(super) fn one_core(source: &Source) -> Drawn {
    draw(
        source,
        "memory.bandwidth",
        "Bandwidth of one core over working set",
        "Reading, writing and modifying 4-byte elements one after the other, and every fourth \
         only. GB/s counts the bytes that are touched; lines of memory come whole, so every \
         fourth gets less of what comes.",
        &[
            ("memory.read/sequential", "read, sequential"),
            ("memory.read/every_4th", "read, every 4th"),
            ("memory.write/sequential", "write, sequential"),
            ("memory.write/every_4th", "write, every 4th"),
            ("memory.read_write/sequential", "modify, sequential"),
            ("memory.read_write/every_4th", "modify, every 4th"),
        ],
    )
}

/// The C library's own loops.
pub(super) fn copy_fill(source: &Source) -> Drawn {
    draw(
        source,
        "memory.copy",
        "Copying and filling memory",
        "memcpy by the bytes that are copied, and memset by the bytes that are set.",
        &[
            ("memory.copy", "copy (memcpy)"),
            ("memory.fill", "fill (memset)"),
        ],
    )
}

/// All cores at once.
pub(super) fn all_cores(source: &Source) -> Drawn {
    draw(
        source,
        "memory.all_cores",
        "Bandwidth of all CPUs together",
        "One thread on each CPU, all at once, each with memory of its own: the sum of all, over \
         the working set of one.",
        &[
            ("memory.read_all_cores", "read"),
            ("memory.write_all_cores", "write"),
            ("memory.copy_all_cores", "copy"),
        ],
    )
}

fn draw(source: &Source, id: &str, title: &str, caption: &str, rows: &[(&str, &str)]) -> Drawn {
    let y = log("bandwidth", Quantity::GigabytesPerSecond);
    over_working_set(source, id, title, caption, y, named(rows))
}
