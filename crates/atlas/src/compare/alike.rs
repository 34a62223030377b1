//! Which runs should have come out alike, and what two of them differ in.

use model::machine::{Fact, Machine};
use model::run::{Program, Run};
use serde::Serialize;

/// Whether both were made by the same program, with the same plan, on the same
/// machine and kernel: then they differ only by what runs differ by.
pub fn alike(a: &Run, b: &Run) -> bool {
    let machine = |run: &Run| {
        let m = &run.machine;
        [&m.hostname, &m.kernel, &m.cpu_model].map(|fact| fact.get().cloned())
    };
    let rest = |run: &Run| {
        (
            run.program.clone(),
            run.plan.scale,
            run.plan.core_kind.clone(),
        )
    };
    machine(a) == machine(b) && rest(a) == rest(b)
}

/// Whether a clock cycle of one is as good as one of the other: the CPUs call
/// themselves the same and neither is emulated.
pub(super) fn cores_alike(a: &Run, b: &Run) -> bool {
    let known = |run: &Run| {
        let m = &run.machine;
        Some((m.cpu_model.get()?.clone(), m.cpu_signature.get().copied()))
    };
    let kind = |run: &Run| run.plan.core_kind.clone();
    let real = |run: &Run| emulator(run).is_none();
    known(a).is_some() && known(a) == known(b) && kind(a) == kind(b) && real(a) && real(b)
}

/// The emulator that a run was made under.
pub(crate) fn emulator(run: &Run) -> Option<&str> {
    let of_machine = run.machine.emulated.get().and_then(|e| e.name());
    run.program.emulated.as_deref().or(of_machine)
}

/// Something in which two runs differ.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In what.
    pub what: &'static str,
    /// What A has.
    pub a: String,
    /// What B has.
    pub b: String,
}

/// Everything in which they differ that can move a figure.
pub(super) fn differences(a: &Run, b: &Run) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut say = |what, of: &dyn Fn(&Run) -> String| {
        let (a, b) = (of(a), of(b));
        if a != b {
            all.push(Difference { what, a, b });
        }
    };
    say("host", &|run| text(&run.machine.hostname));
    say("CPU", &|run| cpu(&run.machine));
    say("CPUs", &|run| {
        let online = run.machine.online_cpus.get();
        online.map_or("unknown".into(), |cpus| cpus.len().to_string())
    });
    say("hypervisor", &|run| text(&run.machine.hypervisor));
    say("container", &|run| text(&run.machine.container));
    say("emulated", &|run| emulator(run).unwrap_or("no").to_owned());
    say("operating system", &|run| text(&run.machine.os));
    say("kernel", &|run| text(&run.machine.kernel));
    say("governor", &|run| text(&run.machine.governor));
    say("turbo", &|run| text(&run.machine.turbo));
    say("huge pages", &|run| {
        text(&run.machine.pages.transparent_huge_policy)
    });
    say("cores", &|run| {
        run.plan.core_kind.clone().unwrap_or_else(|| "any".into())
    });
    say("pinned to CPU", &|run| {
        let cpus: Vec<String> = run
            .conditions
            .pinned_cpus
            .iter()
            .map(u32::to_string)
            .collect();
        match cpus.is_empty() {
            true => "none".into(),
            false => cpus.join(", "),
        }
    });
    say("plan", &|run| {
        format!("{:?}", run.plan.scale).to_lowercase()
    });
    say("largest working set", &|run| {
        model::size::text(run.plan.largest_working_set_bytes)
    });
    say("program", &|run| program(&run.program));
    say("schema", &|run| run.schema.to_string());
    say("clock", &|run| run.clock.name.clone());
    all
}

fn text<T: std::fmt::Display>(fact: &Fact<T>) -> String {
    match &fact.value {
        Some(value) => value.to_string(),
        None => "unknown".into(),
    }
}

fn cpu(machine: &Machine) -> String {
    let design = machine.microarchitecture.get();
    let design = design.map_or(String::new(), |name| format!(" ({name})"));
    format!("{}{design}", text(&machine.cpu_model))
}

/// Name, version, commit and profile of a program.
pub(super) fn program(program: &Program) -> String {
    let commit = program.commit.as_deref().unwrap_or("commit unknown");
    let commit = commit.get(..10).unwrap_or(commit);
    let target = &program.target;
    format!(
        "{} {} ({commit}, {}, {target})",
        program.name, program.version, program.profile
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::synthetic;

    #[test]
    fn a_run_differs_from_itself_in_nothing() {
        let run = synthetic::run();
        assert!(alike(&run, &run) && cores_alike(&run, &run));
        assert!(differences(&run, &run).is_empty());
    }

    /// What is made different, what the header calls it, whether the runs
    /// still count as alike, whether their cycles do.
    type Case = (fn(&mut Run), &'static str, bool, bool);

    #[test]
    fn what_differs_is_told() {
        let cases: [Case; 8] = [
            (
                |r| r.machine.kernel = Fact::known("9.9".into()),
                "kernel",
                false,
                true,
            ),
            (
                |r| r.machine.cpu_model = Fact::known("Z80".into()),
                "CPU",
                false,
                false,
            ),
            (
                |r| r.program.emulated = Some("qemu".into()),
                "emulated",
                false,
                false,
            ),
            (
                |r| r.program.profile = "debug".into(),
                "program",
                false,
                true,
            ),
            (
                |r| r.program.commit = Some("ffff".into()),
                "program",
                false,
                true,
            ),
            (|r| r.schema = 1, "schema", true, true),
            (
                |r| r.conditions.pinned_cpus = vec![7],
                "pinned to CPU",
                true,
                true,
            ),
            (
                |r| r.plan.core_kind = Some("E".into()),
                "cores",
                false,
                false,
            ),
        ];
        let a = synthetic::run();
        for (change, what, are_alike, are_cores_alike) in cases {
            let mut b = a.clone();
            change(&mut b);
            let all = differences(&a, &b);
            assert_eq!(all.len(), 1, "{all:?}");
            assert_eq!(all[0].what, what);
            assert_eq!(alike(&a, &b), are_alike, "{what}");
            assert_eq!(cores_alike(&a, &b), are_cores_alike, "{what}");
        }
    }

    #[test]
    fn cpus_that_do_not_say_what_they_are_are_not_alike() {
        let mut run = synthetic::run();
        run.machine.cpu_model = Fact::unknown("no file");
        assert!(!cores_alike(&run, &run));
    }
}
