//! Pages and addresses. `Documentation/admin-guide/mm/transhuge.rst`,
//! `Documentation/admin-guide/sysctl/{kernel,vm}.rst`.

use super::part::Part;
use super::places::Scene;
use super::{Control, Settled, Stage, Tuned, What, not_in_proc, not_in_sys};
use model::noise::control::Group;

const THP: &str = "/sys/kernel/mm/transparent_hugepage";

pub(super) const CONTROLS: &[Control] = &[
    Control {
        id: "thp",
        title: "transparent huge pages",
        group: Group::Memory,
        tuned: Tuned::ByDefault,
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| {
                one(scene, &format!("{THP}/enabled"), "madvise", |part| {
                    part.choice(&["madvise", "never"])
                })
            },
            better: "madvise",
            why: "with always, who gets huge pages depends on how fragmented memory is",
            glob: "",
            absent: not_in_sys,
            line: None,
        }),
    },
    Control {
        id: "thp-defrag",
        title: "waiting for huge pages at a page fault",
        group: Group::Memory,
        tuned: Tuned::ByDefault,
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| {
                one(scene, &format!("{THP}/defrag"), "madvise", |part| {
                    part.choice(&["madvise", "never", "defer+madvise"])
                })
            },
            better: "madvise",
            why: "else any page fault may stop to move other pages",
            glob: "",
            absent: not_in_sys,
            line: None,
        }),
    },
    Control {
        id: "khugepaged",
        title: "making room for huge pages in the background by moving others",
        group: Group::Memory,
        tuned: Tuned::ByDefault,
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| one(scene, &format!("{THP}/khugepaged/defrag"), "0", on_off),
            better: "off",
            why: "khugepaged goes on joining pages, but no longer moves other ones (compaction) to find room",
            glob: "",
            absent: not_in_sys,
            line: None,
        }),
    },
    Control {
        id: "aslr",
        title: "random addresses (ASLR)",
        group: Group::Memory,
        tuned: Tuned::ByName(
            "it protects every process from attackers; setarch -R does it for one",
        ),
        stage: Stage::Alone,
        fixtures_only: false,
        what: What::Files(Settled {
            parts: |scene| {
                one(scene, "/proc/sys/kernel/randomize_va_space", "0", |part| {
                    part.in_words(&[("0", "off"), ("1", "on, but for the heap"), ("2", "on")])
                })
            },
            better: "off for one command",
            why: "each start lays memory out anew, so caches and TLBs collide otherwise",
            glob: "",
            absent: not_in_proc,
            line: None,
        }),
    },
];

fn one(scene: &Scene, path: &str, wanted: &str, read: impl Fn(Part) -> Part) -> Vec<Part> {
    Part::new(scene.files, path, wanted)
        .map(read)
        .into_iter()
        .collect()
}

fn on_off(part: Part) -> Part {
    part.in_words(&[("0", "off"), ("1", "on")])
}
