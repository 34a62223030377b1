//! Why a row can't be the reference workload of `--normalize`.

/// What keeps a row from being the reference.
#[derive(thiserror::Error, Clone, Copy, Debug, PartialEq)]
pub enum NoReference {
    /// Neither side has it, or it is a curve.
    #[error("neither side has such a row with a single figure")]
    NoRow,
    /// A side lacks it.
    #[error("only one side has it")]
    OneSide,
    /// It is a number of events or bytes.
    #[error("it counts, and does not time anything")]
    Counts,
    /// Its verdict, or its interval, is bad.
    #[error("in one of them it is no figure to rely on")]
    Unreliable,
    /// Too few pairs of runs show what it does.
    #[error("too few kept runs are alike to show that it takes error out")]
    FewRuns,
    /// There is no row to divide by it.
    #[error("no kept runs have rows that it would be taken out of")]
    NoRows,
    /// Runs that are alike differ about as much with it.
    #[error(
        "it takes too little error out: kept runs that are alike differ by {:.2} % with it, \
         {:.2} % without",
        divided * 100.0,
        plain * 100.0
    )]
    TooLittle {
        /// Median difference of successive runs, of the logarithm.
        plain: f64,
        /// The same with the reference taken out.
        divided: f64,
    },
}
