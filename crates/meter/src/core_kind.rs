//! Cores of one kind, on a machine that has several.

use model::machine::{CoreKind, Machine};
use serde::{Deserialize, Serialize};

model::words! {
    /// Which of a machine's kinds of cores is asked for.
    #[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CoreKindChoice: word {
        /// The fastest kind.
        Performance = "performance",
        /// The slowest kind.
        Efficiency = "efficiency",
    }
}

/// The cores that a run keeps to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cores {
    /// Those of their CPUs that may be used.
    pub(crate) cpus: Vec<u32>,
    /// What was asked for and what these cores are called:
    /// `performance (P-core)`.
    pub(crate) name: String,
}

/// Why there are no cores of the kind asked for.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum NoSuchCores {
    #[error("the kinds of cores are unknown here ({0}): leave --core-kind out")]
    Unknown(String),
    #[error("this machine has one kind of cores: leave --core-kind out, it would change nothing")]
    OneKind,
    #[error(
        "this system does not let a thread choose its CPUs, so no kind of cores can be kept to: \
         leave --core-kind out"
    )]
    NoPinning,
    /// The CPU of `--pin` is of another kind.
    #[error(
        "CPU {cpu} is not among the {word} cores: the {of_kind}; leave out --pin or --core-kind"
    )]
    OtherCpu { cpu: u32, word: &'static str, of_kind: String },
    #[error(
        "no {word} core may be used: the {of_kind}, and this process may run on {}",
        cpu_ranges(.allowed)
    )]
    NotAllowed { word: &'static str, of_kind: String, allowed: Vec<u32> },
}

/// The allowed CPUs of the kind asked for.
pub(crate) fn choose(
    asked: CoreKindChoice,
    machine: &Machine,
    allowed: &[u32],
    pin: Option<u32>,
) -> Result<Cores, NoSuchCores> {
    let word = asked.word();
    let kinds = machine.core_kinds.get().ok_or_else(|| {
        let why = machine.core_kinds.unknown.as_deref();
        NoSuchCores::Unknown(why.unwrap_or("no reason recorded").to_owned())
    })?;
    // The facts have the fastest kind first.
    let kind = match (kinds.as_slice(), asked) {
        ([] | [_], _) => return Err(NoSuchCores::OneKind),
        ([fastest, ..], CoreKindChoice::Performance) => fastest,
        ([.., slowest], CoreKindChoice::Efficiency) => slowest,
    };
    if machine.allowed_cpus.get().is_none() {
        return Err(NoSuchCores::NoPinning);
    }
    let of_kind =
        format!("{} of this machine are CPUs {}", plural(word, kind), cpu_ranges(&kind.cpus));
    if let Some(cpu) = pin.filter(|cpu| !kind.cpus.contains(cpu)) {
        return Err(NoSuchCores::OtherCpu { cpu, word, of_kind });
    }
    let cpus: Vec<u32> = allowed.iter().copied().filter(|cpu| kind.cpus.contains(cpu)).collect();
    if cpus.is_empty() {
        let allowed = allowed.to_vec();
        return Err(NoSuchCores::NotAllowed { word, of_kind, allowed });
    }
    Ok(Cores { cpus, name: kind_name(word, kind) })
}

fn kind_name(word: &str, kind: &CoreKind) -> String {
    match kind.name.as_str() {
        "" => word.to_string(),
        name => format!("{word} ({name})"),
    }
}

/// `performance cores (P-core)`.
fn plural(word: &str, kind: &CoreKind) -> String {
    kind_name(&format!("{word} cores"), kind)
}

fn cpu_ranges(cpus: &[u32]) -> String {
    let texts: Vec<String> = cpus.iter().map(u32::to_string).collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::machine::Fact;

    fn kind(name: &str, cpus: &[u32]) -> CoreKind {
        CoreKind { name: name.into(), cpus: cpus.to_vec(), capacity: None, max_hz: None }
    }

    fn machine(kinds: Vec<CoreKind>) -> Machine {
        let mut machine = Machine::unknown("aarch64", "fixture");
        machine.allowed_cpus = Fact::known((0..6).collect());
        machine.core_kinds = Fact::known(kinds);
        machine
    }

    fn three_kinds() -> Machine {
        machine(vec![kind("prime", &[5]), kind("big", &[3, 4]), kind("little", &[0, 1, 2])])
    }

    #[test]
    fn the_fastest_and_the_slowest_kind() {
        let all: Vec<u32> = (0..6).collect();
        let fast = choose(CoreKindChoice::Performance, &three_kinds(), &all, None);
        let fast = fast.expect("there");
        assert_eq!((fast.cpus, fast.name.as_str()), (vec![5], "performance (prime)"));
        let slow = choose(CoreKindChoice::Efficiency, &three_kinds(), &[1, 2, 3], Some(2));
        assert_eq!(slow.expect("there").cpus, [1, 2]);
    }

    #[test]
    fn impossible_requests_give_their_reason() {
        let ask = |machine: &Machine, allowed: &[u32], pin| {
            choose(CoreKindChoice::Performance, machine, allowed, pin).expect_err("impossible")
        };
        let one = machine(vec![kind("only kind", &[0, 1])]);
        assert_eq!(ask(&one, &[0, 1], None), NoSuchCores::OneKind);
        assert_eq!(
            ask(&three_kinds(), &[0, 5], Some(0)).to_string(),
            "CPU 0 is not among the performance cores: the performance cores (prime) of this machine are CPUs 5; leave out --pin or --core-kind"
        );
        assert_eq!(
            ask(&three_kinds(), &[0, 1], None).to_string(),
            "no performance core may be used: the performance cores (prime) of this machine are CPUs 5, and this process may run on 0, 1"
        );
        let unknown = Machine::unknown("riscv64", "there is no such file");
        let why = NoSuchCores::Unknown("there is no such file".into());
        assert_eq!(ask(&unknown, &[0], None), why);
        let mut unpinned = three_kinds();
        unpinned.allowed_cpus = Fact::unknown("no such set");
        assert_eq!(ask(&unpinned, &[0], None), NoSuchCores::NoPinning);
    }
}
