//! Where the records come from.

model::words! {
    /// A publication whose figures are in the program, named as its file in `data/`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Source: file_stem {
        /// Spare Cores' inspector of cloud types.
        Cloud = "cloud",
        /// Reports of sbc-bench.
        Boards = "boards",
        /// InstLatX64's instruction timings.
        Instructions = "instructions",
        /// Matrices of core-to-core-latency.
        CoreToCore = "core_to_core",
        /// Percentiles of OpenBenchmarking.org.
        Populations = "populations",
    }
}

impl Source {
    /// The records, compressed.
    pub(crate) const fn packed_bytes(self) -> &'static [u8] {
        match self {
            Source::Cloud => include_bytes!("../data/cloud.jsonl.zst"),
            Source::Boards => include_bytes!("../data/boards.jsonl.zst"),
            Source::Instructions => include_bytes!("../data/instructions.jsonl.zst"),
            Source::CoreToCore => include_bytes!("../data/core_to_core.jsonl.zst"),
            Source::Populations => include_bytes!("../data/populations.jsonl.zst"),
        }
    }

    /// Whom a figure is credited to, with the place and state it was taken from.
    pub const fn credit(self) -> &'static str {
        match self {
            Source::Cloud => "Spare Cores (sc-inspector-data 804d3c71, 2026-08-22)",
            Source::Boards => "Thomas Kaiser, sbc-bench (53f79517, 2026-06-19)",
            Source::Instructions => "InstLatX64 (087af2c7, 2026-07-22)",
            Source::CoreToCore => {
                "core-to-core-latency-plus (KCORES, 264ea0a1, 2024-10-07) and core-to-core-latency (Nicolas Viennot, \
                 96a943ac, 2023-01-17)"
            }
            Source::Populations => {
                "OpenBenchmarking.org (phoronix-test-suite 84227e6a, 2026-06-13)"
            }
        }
    }

    /// Under which licence the figures are; none where the publication states none.
    pub const fn licence(self) -> Option<&'static str> {
        match self {
            Source::Cloud => Some("CC-BY-SA-4.0"),
            Source::Boards => Some("BSD-3-Clause"),
            Source::Instructions => None,
            Source::CoreToCore => Some("MIT"),
            Source::Populations => Some("GPL-3.0"),
        }
    }
}
