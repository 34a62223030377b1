//! Page sizes and the policy for huge ones.

use model::machine::{Fact, HugetlbPool, PageFacts};

use crate::files::{Files, Tree, Unreadable, bracketed};
use crate::machine::Live;

const THP: &str = "/sys/kernel/mm/transparent_hugepage";
const HUGETLB: &str = "/sys/kernel/mm/hugepages";

pub(super) fn read_page_facts(tree: &Tree, live: &Live) -> PageFacts {
    PageFacts {
        base_bytes: Fact::known(live.base_page_bytes).from_source("sysconf(_SC_PAGESIZE)"),
        transparent_huge_bytes: thp(tree, "hpage_pmd_size", |t| t.parse().ok()),
        transparent_huge_policy: thp(tree, "enabled", bracketed),
        hugetlb: hugetlb(tree),
    }
}

/// A missing file means a kernel without the feature.
fn thp<T>(tree: &Tree, file: &str, parse: fn(&str) -> Option<T>) -> Fact<T> {
    let path = format!("{THP}/{file}");
    match tree.require(&path) {
        Err(why @ Unreadable::Missing(_)) => {
            Fact::unknown(format!("the kernel has no transparent huge pages ({why})"))
        }
        _ => tree.fact(&path, parse),
    }
}

fn hugetlb(tree: &Tree) -> Fact<Vec<HugetlbPool>> {
    if !tree.exists(HUGETLB) {
        return Fact::unknown(format!(
            "the kernel has no reserved huge pages (there is no {HUGETLB})"
        ));
    }
    let mut pools: Vec<HugetlbPool> = tree
        .names(HUGETLB)
        .iter()
        .filter_map(|name| {
            let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
            let number = |file| tree.number(&format!("{HUGETLB}/{name}/{file}"));
            Some(HugetlbPool {
                page_bytes: kib.checked_mul(1024)?,
                pages: number("nr_hugepages")?,
                free: number("free_hugepages")?,
            })
        })
        .collect();
    pools.sort_by_key(|pool| pool.page_bytes);
    Fact::known(pools).from_source(HUGETLB)
}
