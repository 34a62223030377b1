//! Caches as the kernel describes them.

use model::machine::{CacheFact, CacheKind, Fact};

use super::cpu::cpu_numbers;
use crate::files::{Files, Tree, cpu_list};

pub(super) fn read_caches(tree: &Tree) -> Fact<Vec<CacheFact>> {
    let mut caches: Vec<CacheFact> = Vec::new();
    for cpu in cpu_numbers(tree) {
        let directory = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
        for index in tree.names(&directory) {
            if index.starts_with("index")
                && let Some(cache) = one(tree, &format!("{directory}/{index}"), cpu)
                && !caches.contains(&cache)
            {
                caches.push(cache);
            }
        }
    }
    if caches.is_empty() {
        return Fact::unknown(
            "the kernel describes no caches in /sys/devices/system/cpu/cpu*/cache: usual in ARM virtual machines and on phones",
        );
    }
    caches.sort_by(|a, b| {
        let key = |c: &CacheFact| (c.level, c.kind as u8);
        key(a).cmp(&key(b)).then_with(|| a.shared_cpus.cmp(&b.shared_cpus))
    });
    Fact::known(caches).from_source("/sys/devices/system/cpu/cpu*/cache")
}

fn one(tree: &Tree, directory: &str, cpu: u32) -> Option<CacheFact> {
    let number = |name: &str| {
        tree.number(&format!("{directory}/{name}"))
            .and_then(|n| u32::try_from(n).ok())
            // Where the kernel does not know it writes 0.
            .filter(|&n| n > 0)
    };
    Some(CacheFact {
        level: number("level")?,
        kind: match tree.text(&format!("{directory}/type"))?.as_str() {
            "Data" => CacheKind::Data,
            "Instruction" => CacheKind::Instruction,
            "Unified" => CacheKind::Unified,
            _ => return None,
        },
        size_bytes: tree
            .text(&format!("{directory}/size"))
            .and_then(|text| size(&text))
            .filter(|&bytes| bytes > 0),
        line_bytes: number("coherency_line_size"),
        ways: number("ways_of_associativity"),
        shared_cpus: tree
            .text(&format!("{directory}/shared_cpu_list"))
            .and_then(|list| cpu_list(&list))
            .filter(|cpus| !cpus.is_empty())
            .unwrap_or_else(|| vec![cpu]),
    })
}

/// `32K`, `1024K`, `32M`.
fn size(text: &str) -> Option<u64> {
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) => (digits, text.as_bytes()[text.len() - 1]),
        None => (text, b'B'),
    };
    let shift = match unit {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        _ => 0,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("32K"), Some(32768));
        assert_eq!(size("96M"), Some(96 << 20));
        assert_eq!(size("512"), Some(512));
        assert_eq!(size("x"), None);
    }
}
