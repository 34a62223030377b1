//! The meaning of a kernel file's content: when two texts are equal, and what to
//! write to get one back.

use crate::cpus::{of_mask, parse_cpus};
use sys::files::bracketed;

/// How the content of a file is to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentKind {
    /// Bits in hexadecimal, in groups of 32 with commas between: `00000003`
    /// is `3` (Documentation/core-api/irq/irq-affinity.rst).
    Mask,
    /// `0-3,8`.
    CpuList,
    /// A number, one of several words of which the chosen is in brackets, or
    /// any other text.
    Plain,
}

fn kind(path: &str) -> ContentKind {
    match path.rsplit('/').next().unwrap_or_default() {
        "smp_affinity" | "default_smp_affinity" | "cpumask" => ContentKind::Mask,
        "smp_affinity_list" | "cpuset.cpus" | "cpuset.cpus.exclusive" | "cpuset.mems" => {
            ContentKind::CpuList
        }
        _ => ContentKind::Plain,
    }
}

/// Whether two texts of the file mean the same.
pub(crate) fn same(path: &str, a: &str, b: &str) -> bool {
    match kind(path) {
        ContentKind::Mask => match (of_mask(a), of_mask(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a.trim() == b.trim(),
        },
        ContentKind::CpuList => same_cpus(a, b),
        ContentKind::Plain => {
            let (a, b) = (chosen(a), chosen(b));
            match (a.parse::<i128>(), b.parse::<i128>()) {
                (Ok(a), Ok(b)) => a == b,
                _ => a == b,
            }
        }
    }
}

/// Whether two lists hold the same CPUs.
pub(crate) fn same_cpus(a: &str, b: &str) -> bool {
    match (parse_cpus(a), parse_cpus(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a.trim() == b.trim(),
    }
}

/// What brings a content that was read back when it is written. An empty text
/// would be no write at all.
pub(crate) fn writable(path: &str, text: &str) -> String {
    let text = match kind(path) {
        ContentKind::Plain => chosen(text),
        _ => text.trim().to_owned(),
    };
    if text.is_empty() { "\n".into() } else { text }
}

fn chosen(text: &str) -> String {
    bracketed(text).unwrap_or_else(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const IRQ: &str = "/proc/irq/24/smp_affinity";
    const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    const RATE: &str = "/proc/sys/kernel/perf_event_max_sample_rate";

    #[test]
    fn one_meaning_has_many_texts() {
        assert!(same(IRQ, "3", "00000003"));
        assert!(same(IRQ, "00000001,00000000", "100000000"));
        assert!(same(IRQ, "0000000A", "a"));
        assert!(!same(IRQ, "3", "30"));
        assert!(same(THP, "always [madvise] never", "madvise"));
        assert!(same(THP, "[always] madvise never", "always"));
        assert!(!same(THP, "[always] madvise never", "madvise"));
        assert!(same(RATE, "0100", "100"));
        assert!(same(RATE, "-1", "-1"));
        assert!(!same(RATE, "100", "1000"));
        assert!(same("/x/cpuset.cpus", "0-2,3", "3,0-2"));
        assert!(!same("/x/cpuset.cpus", "0-2", "0-3"));
        assert!(same("/x/cpuset.cpus", "", "\n"));
        // Not a mask in an ordinary number's file.
        assert!(!same(RATE, "a", "A"));
    }

    #[test]
    fn what_is_written_is_what_the_kernel_takes() {
        assert_eq!(writable(THP, "always [madvise] never"), "madvise");
        assert_eq!(writable(IRQ, "00000003"), "00000003");
        assert_eq!(writable("/x/cpuset.cpus", ""), "\n");
    }
}
