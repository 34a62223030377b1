//! Why a row can't be the reference workload of `--normalize`.

use model::share::percent;

/// What keeps a row from being the reference.
#[derive(thiserror::Error, Clone, Copy, Debug, PartialEq)]
pub enum NoReference {
    #[error("neither side has such a row with a single figure")]
    NoRow,
    #[error("only one side has it")]
    OneSide,
    #[error("it counts, and does not time anything")]
    Counts,
    #[error("it is unreliable in one of them")]
    Unreliable,
    #[error("too few similar stored runs to show that it reduces the error")]
    FewRuns,
    #[error("no kept runs have rows that it would be taken out of")]
    NoRows,
    #[error(
        "it reduces the error too little: similar stored runs differ by {} with it, \
         {} without",
        percent(*divided),
        percent(*plain)
    )]
    TooLittle {
        /// Median difference of successive runs, of the logarithm.
        plain: f64,
        divided: f64,
    },
}
