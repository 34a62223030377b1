//! Why a row is not available, or a visit to it can't be used.

use meter::probe::WorkError;
use std::borrow::Cow;
use std::io;
use std::time::Duration;

/// The reason; its text is the row's in every document.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    #[error("only one CPU may be used")]
    OneCpu,
    #[error("this CPU lacks {0}")]
    CpuLacks(&'static str),
    /// What is not here, and what would provide it.
    #[error("{0}")]
    Missing(Cow<'static, str>),
    #[error("{what}: {error}")]
    Call { what: Cow<'static, str>, error: String },
    #[error("can't start {what}: {error}{}", if *.limited {
        " (the limit of `ulimit -u` or of the control group's pids.max)"
    } else {
        ""
    })]
    NotStarted { what: Cow<'static, str>, error: String, limited: bool },
    #[error("can't run a thread on CPU {}: {error}", cpu_ranges(.cpus))]
    NotPinned { cpus: Vec<u32>, error: String },
    #[error("{0} panicked")]
    Panicked(&'static str),
    #[error("{what} within {} s", .patience.as_secs_f64())]
    TimedOut { what: Cow<'static, str>, patience: Duration },
    /// The operation did not do what the row says.
    #[error("{0}")]
    Wrong(Cow<'static, str>),
}

impl Reason {
    /// A call of the system that failed.
    pub(crate) fn call(what: impl Into<Cow<'static, str>>, error: &io::Error) -> Reason {
        Reason::Call { what: what.into(), error: error.to_string() }
    }

    /// Why something that counts as a task could not be started.
    pub(crate) fn not_started(what: impl Into<Cow<'static, str>>, error: &io::Error) -> Reason {
        Reason::NotStarted {
            what: what.into(),
            error: error.to_string(),
            limited: error.kind() == io::ErrorKind::WouldBlock,
        }
    }

    pub(crate) fn missing(what: impl Into<Cow<'static, str>>) -> Reason {
        Reason::Missing(what.into())
    }

    /// What did not come out as it should.
    pub(crate) fn wrong(what: impl Into<Cow<'static, str>>) -> Reason {
        Reason::Wrong(what.into())
    }
}

fn cpu_ranges(cpus: &[u32]) -> String {
    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
    cpus.join(", ")
}

/// The one place where reasons become those of `meter`.
impl From<Reason> for WorkError {
    fn from(reason: Reason) -> WorkError {
        reason.to_string().into()
    }
}

/// Says what a call of the system was for.
pub(crate) trait Doing<T> {
    /// With `what` before the system's own words.
    fn doing(self, what: impl Into<Cow<'static, str>>) -> Result<T, Reason>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, what: impl Into<Cow<'static, str>>) -> Result<T, Reason> {
        self.map_err(|e| Reason::call(what, &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_say_what_failed_and_what_limits() {
        let reasons = [
            Reason::OneCpu,
            Reason::CpuLacks("popcnt"),
            Reason::call("can't open a pipe", &io::ErrorKind::NotFound.into()),
            Reason::not_started("threads", &io::ErrorKind::WouldBlock.into()),
            Reason::not_started("threads", &io::ErrorKind::OutOfMemory.into()),
            Reason::NotPinned { cpus: vec![3, 8191], error: "invalid argument".into() },
            Reason::Panicked("the waking thread"),
            Reason::TimedOut {
                what: "the other thread did not answer".into(),
                patience: Duration::from_millis(100),
            },
        ];
        insta::assert_snapshot!(reasons.map(|reason| reason.to_string()).join("\n"), @r"
        only one CPU may be used
        this CPU lacks popcnt
        can't open a pipe: entity not found
        can't start threads: operation would block (the limit of `ulimit -u` or of the control group's pids.max)
        can't start threads: out of memory
        can't run a thread on CPU 3, 8191: invalid argument
        the waking thread panicked
        the other thread did not answer within 0.1 s
        ");
    }
}
