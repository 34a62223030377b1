//! Which records describe a machine, how they were found, and how sure that is.

pub(crate) mod cpu_name;
mod find;
mod identity;

pub(crate) use cpu_name::plain_cpu_name;
pub use find::{DesignPeers, design_peers, find_records};
pub use identity::{IdentityDoubt, MachineIdentity};

use crate::record::{BoardReport, CloudType, CoreMatrix, InstructionTimings, PublishedRecord};
use crate::source::Source;
use serde::Serialize;

model::words! {
    /// What records and machine have in common, the surest first.
    #[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[serde(rename_all = "snake_case")]
    pub enum MatchedBy: words {
        /// The DMI product name is a type of the provider.
        CloudTypeName = "cloud type in the DMI product name",
        /// The device tree or the firmware names the board.
        BoardName = "name of the board",
        /// Vendor, family, model and stepping are the same.
        Signature = "same CPU signature",
        /// The CPU's full name is the same.
        CpuName = "same CPU name",
        /// Types of this provider with this CPU and as many CPUs.
        ProviderAndSize = "same provider, CPU and number of CPUs",
        /// Only the design of the core: another CPU.
        Design = "same microarchitecture, another CPU",
    }
}

/// How sure it is that records describe this machine.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum MatchCertainty {
    /// They are of this CPU or machine.
    Sure,
    /// Of this CPU, if it is what it shows; of one of several machines with it.
    Likely,
    /// Of a CPU like it.
    Weak,
}

/// Records of one source for one machine; at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordGroup<R: 'static> {
    /// The records. Several of one machine are its spread.
    pub records: Vec<&'static R>,
    /// How they were found.
    pub matched_by: MatchedBy,
    /// How sure that is.
    pub certainty: MatchCertainty,
}

/// What is published of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineRecords {
    /// Instruction timings; of a hybrid processor one for each kind of core.
    pub instructions: Option<RecordGroup<InstructionTimings>>,
    /// Those of the same microarchitecture, for what its own lack.
    pub instructions_of_design: Option<RecordGroup<InstructionTimings>>,
    /// Cloud types.
    pub cloud: Option<RecordGroup<CloudType>>,
    /// Reports of boards.
    pub boards: Option<RecordGroup<BoardReport>>,
    /// Core-to-core latencies.
    pub matrices: Option<RecordGroup<CoreMatrix>>,
    /// Why the machine may not be what it shows.
    pub doubts: Vec<IdentityDoubt>,
}

/// A [`RecordGroup`] for a page.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct GroupSummary {
    /// File of the source: `cloud`.
    pub source: &'static str,
    /// Whom to credit.
    pub credit: &'static str,
    /// How the records were found.
    pub matched_by: MatchedBy,
    /// How sure that is.
    pub certainty: MatchCertainty,
    /// How many there are.
    pub count: usize,
    /// Names of some of them.
    pub names: Vec<String>,
}

/// Names that a summary has at most.
const MOST_NAMES: usize = 6;

impl MachineRecords {
    /// The groups, without those that are not there.
    pub fn summaries(&self) -> Vec<GroupSummary> {
        let groups = [
            self.instructions.as_ref().map(|group| group.summary(|one| one.name.clone())),
            self.cloud.as_ref().map(|group| group.summary(|one| one.type_name.clone())),
            self.boards.as_ref().map(|group| group.summary(board_name)),
            self.matrices.as_ref().map(|group| group.summary(|one| one.machine.clone())),
        ];
        groups.into_iter().flatten().collect()
    }

    /// The source of records that a page lists even if there are none.
    pub const SOURCES: [Source; 4] =
        [Source::Instructions, Source::Cloud, Source::Boards, Source::CoreToCore];
}

fn board_name(report: &BoardReport) -> String {
    report.board.clone().unwrap_or_else(|| report.id.clone())
}

impl<R: PublishedRecord> RecordGroup<R> {
    fn summary(&self, name: impl Fn(&R) -> String) -> GroupSummary {
        let mut names: Vec<String> = self.records.iter().map(|record| name(record)).collect();
        names.dedup();
        // From all of them, not the first ones, which are of one provider.
        let most = MOST_NAMES.min(names.len());
        let names = (0..most).map(|at| names[at * names.len() / most].clone()).collect();
        GroupSummary {
            source: R::SOURCE.file_stem(),
            credit: R::SOURCE.credit(),
            matched_by: self.matched_by,
            certainty: self.certainty,
            count: self.records.len(),
            names,
        }
    }
}
