//! Why a name is no reference.

use crate::packed::DamagedRecords;

/// Why a name is no reference.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReferenceNameError {
    /// Nothing of that name.
    #[error(
        "no reference {name:?}{} (published tables: {tables}; cloud types, boards and CPUs by name, such \
         as m7i.large, rock-5b or ryzen-9-5900x)",
        suggested(nearest)
    )]
    Unknown {
        /// As it was given.
        name: String,
        /// Names that were probably meant.
        nearest: Vec<String>,
        /// Names of the published tables.
        tables: String,
    },
    /// Records of several machines have it.
    #[error("{name:?} is the name of several machines: give {}", candidates.join(", "))]
    Ambiguous {
        /// As it was given.
        name: String,
        /// Names that only one of them has each.
        candidates: Vec<String>,
    },
    /// A name that a hypervisor or vendor gives to many CPUs.
    #[error(
        "{name:?} names no model ({cpus} CPUs show it): give a cloud type, such as m7i.large, or a \
         model, such as epyc-9r14"
    )]
    NamesNoModel {
        /// As it was given.
        name: String,
        /// Signatures of records that have it.
        cpus: usize,
    },
    /// The records can't be read.
    #[error(transparent)]
    Damaged(#[from] DamagedRecords),
}

fn suggested(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(", ")),
    }
}
