//! What every look-up reads of the large sources' records: 1.8 MB of lines are parsed in part, and a record as a whole
//! when it is one of this machine.

use crate::packed::{DamagedRecords, parsed_record, unpacked_text};
use crate::record::{HybridCore, Provider, PublishedRecord, X86Vendor, flag, signature};
use model::machine::CpuSignature;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

/// A record of a source, parsed in part.
#[derive(Debug)]
pub(crate) struct BriefRecord<B, R> {
    /// The part.
    pub(crate) brief: B,
    /// Its number, from 1, and its text.
    line: (usize, &'static str),
    whole: OnceLock<Result<Box<R>, DamagedRecords>>,
}

impl<B: Deserialize<'static>, R: PublishedRecord> BriefRecord<B, R> {
    pub(crate) fn from_line(line: (usize, &'static str)) -> Result<Self, DamagedRecords> {
        Ok(BriefRecord { brief: parsed_record(R::SOURCE, line)?, line, whole: OnceLock::new() })
    }

    /// All of it.
    pub(crate) fn whole(&'static self) -> Result<&'static R, DamagedRecords> {
        let parse = || parsed_record(R::SOURCE, self.line).map(Box::new);
        self.whole.get_or_init(parse).as_deref().map_err(Clone::clone)
    }
}

/// The records of a file as it is in the program, parsed in part.
pub(crate) fn brief_records<B: Deserialize<'static>, R: PublishedRecord>()
-> Result<Vec<BriefRecord<B, R>>, DamagedRecords> {
    // Read once, and for as long as the program runs.
    let text: &'static str = unpacked_text(R::SOURCE, R::SOURCE.packed_bytes())?.leak();
    (1..).zip(text.lines()).map(BriefRecord::from_line).collect()
}

/// The records of the program's own file, read the first time.
macro_rules! embedded_briefs {
    ($Brief:ty, $Record:ty) => {{
        use std::sync::OnceLock;
        type Brief = $crate::brief::BriefRecord<$Brief, $Record>;
        static RECORDS: OnceLock<Result<Vec<Brief>, DamagedRecords>> = OnceLock::new();
        RECORDS.get_or_init($crate::brief::brief_records).as_deref().map_err(Clone::clone)
    }};
}
pub(crate) use embedded_briefs;

/// Of a cloud type.
#[derive(Deserialize, Debug)]
pub(crate) struct CloudBrief {
    pub(crate) provider: Provider,
    #[serde(rename = "type", borrow)]
    pub(crate) type_name: Cow<'static, str>,
    #[serde(borrow)]
    pub(crate) cpu: Cow<'static, str>,
    #[serde(default, rename = "sig", deserialize_with = "signature")]
    pub(crate) signature: Option<(X86Vendor, CpuSignature)>,
    pub(crate) vcpus: u32,
    #[serde(rename = "cache")]
    pub(crate) cache_kib: [Option<u32>; 3],
    #[serde(default, rename = "dmi", deserialize_with = "flag")]
    pub(crate) dmi_is_type: bool,
    pub(crate) membench: Option<MembenchBrief>,
    pub(crate) stress: Option<StressBrief>,
}

/// Of its memory: the smallest working set, and beyond all caches.
#[derive(Deserialize, Debug)]
pub(crate) struct MembenchBrief {
    pub(crate) kib: FirstOf<u64>,
    pub(crate) ns: FirstOf<f64>,
    pub(crate) dram: Option<f64>,
}

/// Of its system calls.
#[derive(Deserialize, Debug)]
pub(crate) struct StressBrief {
    pub(crate) fork: Option<f64>,
    pub(crate) switch: Option<f64>,
    pub(crate) vdso: Option<f64>,
    pub(crate) eventfd: Option<f64>,
}

/// Of a CPU's instruction timings.
#[derive(Deserialize, Debug)]
pub(crate) struct TimingBrief {
    pub(crate) vendor: X86Vendor,
    pub(crate) fms: [u32; 3],
    pub(crate) core: Option<HybridCore>,
    #[serde(borrow)]
    pub(crate) name: Cow<'static, str>,
    #[serde(default)]
    pub(crate) memory_cycles: CacheCycles,
}

/// Loads from the caches outside of L1, cycles.
#[derive(Deserialize, Debug, Default)]
pub(crate) struct CacheCycles {
    #[serde(rename = "L2")]
    pub(crate) l2: Option<f64>,
    #[serde(rename = "L3")]
    pub(crate) l3: Option<f64>,
}

/// Of a board.
#[derive(Deserialize, Debug)]
pub(crate) struct BoardBrief {
    pub(crate) board: Option<String>,
    #[serde(rename = "dt")]
    pub(crate) device_tree: Option<String>,
    pub(crate) clusters: Vec<CoreBrief>,
}

/// Of a kind of its cores.
#[derive(Deserialize, Debug)]
pub(crate) struct CoreBrief {
    pub(crate) core: Option<String>,
}

/// The first figure of a list; none of an empty one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstOf<T>(pub(crate) Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for FirstOf<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<FirstOf<T>, D::Error> {
        from.deserialize_seq(FirstVisitor(PhantomData))
    }
}

struct FirstVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FirstVisitor<T> {
    type Value = FirstOf<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of figures")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<FirstOf<T>, A::Error> {
        let first = list.next_element()?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(FirstOf(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::MemoryLevel;
    use crate::{board_briefs, board_reports, cloud_briefs, cloud_types};
    use crate::{instruction_timings, timing_briefs};

    #[test]
    fn a_part_says_what_the_whole_record_does() {
        let (briefs, types) = (cloud_briefs().expect("whole"), cloud_types().expect("whole"));
        assert_eq!(briefs.len(), types.len());
        for (BriefRecord { brief, .. }, whole) in briefs.iter().zip(types) {
            assert_eq!(
                (brief.provider, &*brief.type_name, &*brief.cpu, brief.signature),
                (whole.provider, &*whole.type_name, &*whole.cpu, whole.signature)
            );
            assert_eq!(
                (brief.vcpus, brief.cache_kib, brief.dmi_is_type),
                (whole.vcpus, whole.cache_kib, whole.dmi_is_type)
            );
            let memory = brief.membench.as_ref().map(|of| (of.kib.0, of.ns.0, of.dram));
            let first = |of: &crate::record::Membench| {
                (of.kib.first().copied(), of.ns.first().copied(), of.dram)
            };
            assert_eq!(memory, whole.membench.as_ref().map(first));
            let calls = brief.stress.as_ref().map(|of| [of.fork, of.switch, of.vdso, of.eventfd]);
            let stress = whole.stress.as_ref();
            assert_eq!(calls, stress.map(|of| [of.fork, of.switch, of.vdso, of.eventfd]));
        }
        assert_eq!(briefs[1234].whole().expect("a record"), &types[1234]);
        let timings = instruction_timings().expect("whole");
        for (BriefRecord { brief, .. }, whole) in
            timing_briefs().expect("whole").iter().zip(timings)
        {
            let level = |level| whole.memory_cycles.get(&level).copied();
            assert_eq!(
                (brief.vendor, brief.fms, brief.core, &*brief.name),
                (whole.vendor, whole.fms, whole.core, &*whole.name)
            );
            assert_eq!(brief.memory_cycles.l2, level(MemoryLevel::L2));
            assert_eq!(brief.memory_cycles.l3, level(MemoryLevel::L3));
        }
        let reports = board_reports().expect("whole");
        for (BriefRecord { brief, .. }, whole) in board_briefs().expect("whole").iter().zip(reports)
        {
            assert_eq!((&brief.board, &brief.device_tree), (&whole.board, &whole.device_tree));
            let cores = whole.clusters.iter().map(|cluster| &cluster.core);
            assert!(brief.clusters.iter().map(|cluster| &cluster.core).eq(cores), "{}", whole.id);
        }
    }
}
