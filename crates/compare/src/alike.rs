//! Which runs should have come out alike, and what two of them differ in.

use model::command::{Command, Commands, PageCache};
use model::imported::UNKNOWN;
use model::machine::{CpuSignature, Fact, Machine};
use model::run::Run;
use serde::Serialize;

/// Whether both were made by the same program, with the same plan, on the same
/// machine and kernel, of the same commands and with their files on the same
/// file system: then they differ only by what runs differ by. What is not
/// known is never the same, and of an imported run too little is.
pub fn alike(a: &Run, b: &Run) -> bool {
    let rest = |run: &Run| {
        (run.program.clone(), run.plan.scale, run.plan.core_kind.clone(), run.plan.in_process)
    };
    let measured = |run: &Run| run.imported.is_none();
    measured(a)
        && measured(b)
        && known_machine(a).is_some()
        && known_machine(a) == known_machine(b)
        && rest(a) == rest(b)
        && a.commands.as_ref().map(conduct) == b.commands.as_ref().map(conduct)
        && controls(a) == controls(b)
        && files_alike(a, b)
}

/// Host, kernel and CPU, if all are known.
fn known_machine(run: &Run) -> Option<(&str, &str, Option<&str>, Option<CpuSignature>)> {
    let m = &run.machine;
    let (model, signature) = (m.cpu_model.get(), m.cpu_signature.get().copied());
    if model.is_none() && signature.is_none() {
        return None;
    }
    Some((m.hostname.get()?, m.kernel.get()?, model.map(String::as_str), signature))
}

/// Whether rows of files stand on the same file system in both, as far as both
/// have some: one without says nothing of them.
pub fn files_alike(a: &Run, b: &Run) -> bool {
    match (&a.files_on, &b.files_on) {
        (Some(a), Some(b)) => a.one_line() == b.one_line(),
        _ => true,
    }
}

/// What was run, and how, in the words of [`differences`].
fn conduct(commands: &Commands) -> [String; 7] {
    let words: Vec<String> = commands
        .commands
        .iter()
        .map(|c| match c.command_line() {
            text if text == c.name => text,
            text => format!("{}: {text}", c.name),
        })
        .collect();
    let files = match &commands.page_cache {
        PageCache::Warm => "warm".into(),
        PageCache::Cold => "cold".into(),
        PageCache::ColdFiles { files, .. } => format!("without {}", files.join(", ")),
    };
    let nice = commands.controls.nice;
    let cpu = commands.controls.pinned_cpu;
    [
        words.join("; "),
        files,
        nice.map_or("as latlas".into(), |nice| nice.to_string()),
        cpu.map_or("any".into(), |cpu| cpu.to_string()),
        commands.input.clone(),
        commands.output.clone(),
        exit_codes(commands),
    ]
}

/// How the runs of each command ended.
fn exit_codes(commands: &Commands) -> String {
    let of = |command: &Command| match command.ends.as_slice() {
        [] => "exit code 0".to_owned(),
        ends => ends.iter().map(|end| &*end.how).collect::<Vec<_>>().join(", "),
    };
    commands.commands.iter().map(of).collect::<Vec<_>>().join("; ")
}

/// What was set for the measuring processes but for their CPU, in words;
/// `None` in documents that don't tell (before schema 4, imported).
fn controls(run: &Run) -> Option<String> {
    let all = run.conditions.applied.as_ref()?.in_force();
    Some(if all.is_empty() { "none".into() } else { all.join(", ") })
}

/// Whether a clock cycle of one is as good as one of the other: the CPUs call
/// themselves the same and neither is emulated. If not, why.
pub(super) fn cores_alike(a: &Run, b: &Run) -> Result<(), &'static str> {
    let known = |run: &Run| {
        let m = &run.machine;
        Some((m.cpu_model.get()?.clone(), m.cpu_signature.get().copied()))
    };
    let kind = |run: &Run| run.plan.core_kind.clone();
    if [a, b].into_iter().any(|run| run.emulator().is_some()) {
        return Err("cycles mean nothing under emulation");
    }
    match (known(a), known(b)) {
        (Some(a), Some(b)) if a != b => Err("the CPUs are not of one model"),
        (Some(_), Some(_)) if kind(a) != kind(b) => Err("the cores are not of one kind"),
        (Some(_), Some(_)) => Ok(()),
        _ => Err("not known whether the CPUs are of one model"),
    }
}

/// Something in which two runs differ.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    say("host", &|run| fact_text(&run.machine.hostname));
    say("CPU", &|run| cpu(&run.machine));
    say("CPUs", &|run| {
        let online = run.machine.online_cpus.get();
        online.map_or("unknown".into(), |cpus| cpus.len().to_string())
    });
    say("hypervisor", &|run| fact_text(&run.machine.hypervisor));
    say("container", &|run| fact_text(&run.machine.container));
    say("emulated", &|run| run.emulator().unwrap_or("no").to_owned());
    say("operating system", &|run| fact_text(&run.machine.os));
    say("kernel", &|run| fact_text(&run.machine.kernel));
    say("governor", &|run| fact_text(&run.machine.governor));
    say("turbo", &|run| fact_text(&run.machine.turbo));
    say("huge pages", &|run| fact_text(&run.machine.pages.transparent_huge_policy));
    say("cores", &|run| run.plan.core_kind.clone().unwrap_or_else(|| "any".into()));
    say("workers", &|run| match run.plan.in_process {
        true => "in one process".into(),
        false => "processes".into(),
    });
    say("pinned to CPU", &|run| {
        let cpus: Vec<String> = run.conditions.pinned_cpus.iter().map(u32::to_string).collect();
        if cpus.is_empty() { "none".into() } else { cpus.join(", ") }
    });
    let both_known = controls(a).is_some() && controls(b).is_some();
    if both_known {
        say("controls", &|run| controls(run).unwrap_or_default());
    }
    say("plan", &|run| format!("{:?}", run.plan.scale).to_lowercase());
    say("largest working set", &|run| model::size::format_size(run.plan.largest_working_set_bytes));
    say("program", &program_facts);
    say("schema", &|run| run.schema.to_string());
    say("clock", &|run| run.clock.name.clone());
    if !files_alike(a, b) {
        say("files on", &|run| run.files_on.as_ref().map_or("none".into(), |on| on.one_line()));
    }
    if let (Some(of_a), Some(of_b)) = (&a.commands, &b.commands) {
        // Their CPU stands with the others above.
        let what = ["commands", "page cache", "nice", "", "input", "output", "ends of runs"];
        let pairs = conduct(of_a).into_iter().zip(conduct(of_b));
        let facts = what.into_iter().zip(pairs);
        // A nice value is one of the controls above.
        let elsewhere = |what: &str| what.is_empty() || (what == "nice" && both_known);
        all.extend(
            facts
                .filter(|(what, (a, b))| !elsewhere(what) && a != b)
                .map(|(what, (a, b))| Difference { what, a, b }),
        );
    }
    all
}

/// By what one knows a machine and a program again, and neither run says: they
/// may be others.
pub(super) fn unknown_on_both(a: &Run, b: &Run) -> Vec<&'static str> {
    const WHAT: [&str; 4] = ["host", "CPU", "kernel", "version of the program"];
    let unknown = |run: &Run| {
        [
            run.machine.hostname.get().is_none(),
            run.machine.cpu_model.get().is_none(),
            run.machine.kernel.get().is_none(),
            run.program.version == UNKNOWN,
        ]
    };
    let both = unknown(a).into_iter().zip(unknown(b));
    WHAT.into_iter().zip(both).filter(|(_, (a, b))| *a && *b).map(|(what, _)| what).collect()
}

fn fact_text<T: std::fmt::Display>(fact: &Fact<T>) -> String {
    match &fact.value {
        Some(value) => value.to_string(),
        None => "unknown".into(),
    }
}

fn cpu(machine: &Machine) -> String {
    let design = machine.microarchitecture.get();
    let design = design.map_or(String::new(), |name| format!(" ({name})"));
    format!("{}{design}", fact_text(&machine.cpu_model))
}

/// Name, version, commit and profile of the program that measured; of an
/// imported run what its file says.
pub(super) fn program_facts(run: &Run) -> String {
    let program = &run.program;
    if run.imported.is_some() {
        return match program.version.as_str() {
            UNKNOWN => format!("{}, version unknown", program.name),
            version => format!("{} {version}", program.name),
        };
    }
    let commit = program.commit.as_deref().unwrap_or("commit unknown");
    let commit = commit.get(..10).unwrap_or(commit);
    let target = &program.target;
    format!("{} {} ({commit}, {}, {target})", program.name, program.version, program.profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::noise::applied::{Applied, Settings};
    use model::synthetic;

    type RunChange = fn(&mut Run);

    fn commands(run: &mut Run) -> &mut Commands {
        run.commands.as_mut().expect("commands")
    }

    fn files(run: &mut Run) -> &mut model::filesystem::Filesystem {
        run.files_on.as_mut().expect("files")
    }

    fn page_cache(run: &mut Run) {
        if let PageCache::ColdFiles { stayed_pages, .. } = &mut commands(run).page_cache {
            *stayed_pages += 4;
        }
    }

    fn no_cpu(run: &mut Run) {
        run.machine.cpu_model = Fact::unknown("?");
        run.machine.cpu_signature = Fact::unknown("?");
    }

    fn renice(run: &mut Run, nice: i32) {
        let settings = Settings { nice: Some(nice), ..Settings::default() };
        run.conditions.applied = Some(Applied::new(settings.clone(), settings));
        if let Some(record) = &mut run.commands {
            record.controls.nice = Some(nice);
        }
    }

    /// Each run and what is changed of it: whether both count as alike, whether
    /// their cycles do, what they differ in, and what is unknown of both where
    /// both are changed.
    #[test]
    fn differences_between_runs() {
        let of_rows: &[(&str, RunChange)] = &[
            ("nothing", |_| ()),
            ("kernel", |r| r.machine.kernel = Fact::known("9.9".into())),
            ("CPU", |r| r.machine.cpu_model = Fact::known("Z80".into())),
            ("emulator", |r| r.program.emulated = Some("qemu".into())),
            ("profile", |r| r.program.profile = "debug".into()),
            ("commit", |r| r.program.commit = Some("ffff".into())),
            ("schema", |r| r.schema = 1),
            ("file system", |r| files(r).kind = "xfs".into()),
            ("its directory", |r| files(r).directory = "/home/other".into()),
            ("no files", |r| r.files_on = None),
            ("pinned", |r| r.conditions.pinned_cpus = vec![7]),
            ("core kind", |r| r.plan.core_kind = Some("E".into())),
            ("in one process", |r| r.plan.in_process = true),
            ("no controls known", |r| r.conditions.applied = None),
            ("other controls", |r| renice(r, -5)),
            // A different CPU is reported as a difference of pinning.
            ("controls of another CPU", |r| {
                let applied = r.conditions.applied.as_mut().expect("set");
                applied.granted.cpus = vec![7];
            }),
            ("no host", |r| r.machine.hostname = Fact::unknown("?")),
            ("no kernel", |r| r.machine.kernel = Fact::unknown("?")),
            ("no CPU model", |r| r.machine.cpu_model = Fact::unknown("no file")),
            ("no CPU", no_cpu),
            ("imported", |r| r.imported = Some(synthetic::imported())),
        ];
        let of_commands: &[(&str, RunChange)] = &[
            ("nothing", |_| ()),
            ("words", |r| commands(r).commands[0].words.push("-i".into())),
            ("a name that is the text", |r| {
                let first = &mut commands(r).commands[0];
                first.name = first.command_line();
            }),
            ("page cache", |r| commands(r).page_cache = PageCache::Cold),
            // How many pages stayed came of the run, and was not asked for.
            ("pages that stayed", page_cache),
            ("input", |r| commands(r).input = "a file".into()),
            ("output", |r| commands(r).output = "a terminal".into()),
            ("pinned", |r| commands(r).controls.pinned_cpu = Some(3)),
            ("other controls", |r| renice(r, -5)),
        ];
        let mut text = String::new();
        for (mut a, changes) in
            [(synthetic::run(), of_rows), (synthetic::run_of_commands(), of_commands)]
        {
            renice(&mut a, 0);
            for (what, change) in changes {
                let mut b = a.clone();
                change(&mut b);
                let all = differences(&a, &b);
                let all: Vec<String> = all.iter().map(|d| format!("{d:?}")).collect();
                text += &format!(
                    "{what}: alike {} (itself {}), cycles {:?}, unknown on both {:?}\n    {}\n",
                    alike(&a, &b),
                    alike(&b, &b),
                    cores_alike(&a, &b),
                    unknown_on_both(&b, &b),
                    all.join("\n    "),
                );
                assert!(unknown_on_both(&a, &b).is_empty(), "{what}");
            }
        }
        insta::assert_snapshot!(text);
        assert!(!alike(&synthetic::run_of_commands(), &synthetic::run()));
    }
}
