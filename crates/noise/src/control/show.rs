//! The document of `noise show`.

use super::activity::Activity;
use super::context::{ControlContext, Status, hindrance};
use super::file::{FileState, in_a_line};
use super::system::System;
use super::{CONTROLS, Control, Target, Tune, advice, quiet_by_default};
use model::machine::{Fact, Machine, Presence};
use model::noise::control as document;
use model::noise::control::{Controls, HindranceKind, Privilege, ValueState};
use sys::files::Files;
use sys::power::Power;

/// Every control of the machine of `files`, and what to do about it. `machine`
/// has the facts of the same machine; `pause` lets time pass between two
/// readings of CPU activity (200 ms show 5 % of a CPU; none passes in a copied
/// tree); `apple` is from [`sys::power::power`], for the real machine.
pub fn inspect_controls(
    files: &dyn Files,
    machine: &Machine,
    apple: Option<Power>,
    pause: &mut dyn FnMut(),
) -> Controls {
    let before = Activity::now(files);
    pause();
    let quiet = quiet_by_default(files);
    let system = System::new(files, &quiet);
    let hypervisor = present(&machine.hypervisor);
    let context = ControlContext::new(system, hypervisor, kinds(machine), before, apple);
    let mut controls: Vec<document::Control> =
        CONTROLS.iter().map(|control| shown_control(&context, control)).collect();
    controls.sort_by_key(|control| control.group);
    Controls {
        root: context.root,
        hypervisor: context.hypervisor.clone(),
        container: present(&machine.container),
        advice: advice::advice(&context, &controls),
        quiet_cpus: quiet,
        pending: None,
        notes: notes(&context),
        controls,
    }
}

/// Why `noise tune` can't give this control its good value on the machine of `files`, of which
/// `machine` has the facts. `None` if it has the value already, or can be given it.
pub fn hindrance_to_set(
    files: &dyn Files,
    machine: &Machine,
    id: &str,
    quiet_cpus: &[u32],
) -> Option<String> {
    let control = CONTROLS.iter().find(|control| control.id == id)?;
    let system = System::new(files, quiet_cpus);
    let states = control.states(&system);
    if states.is_empty() {
        let now = Activity::now(files);
        let hypervisor = present(&machine.hypervisor);
        let context = ControlContext::new(system, hypervisor, kinds(machine), now, None);
        return of_files(&context, control).hindrance.map(|hindrance| hindrance.why);
    }
    if states.iter().any(|file| file.clone().change(id).is_some()) {
        return None;
    }
    if let Some(unmet) = states.iter().find(|file| !file.met) {
        let read_only = || format!("{} is read-only", unmet.path);
        return Some(unmet.refused.clone().unwrap_or_else(read_only));
    }
    if states.iter().any(|file| file.wanted.is_some()) {
        return None;
    }
    match control.target {
        Target::Offered(list, word) => Some(format!("{word} is not in {list}")),
        Target::NominalFrequency => Some("the nominal frequency is not known".into()),
        Target::Housekeeping => Some("no core to spare for it".into()),
        // Off for good (SMT: forceoff).
        Target::Nothing | Target::Is(_) => None,
    }
}

fn present(fact: &Fact<Presence>) -> Option<String> {
    fact.get().and_then(Presence::present_name).map(str::to_owned)
}

fn kinds(machine: &Machine) -> Vec<(String, Vec<u32>)> {
    match machine.core_kinds.get() {
        Some(kinds) if kinds.len() > 1 => {
            kinds.iter().map(|kind| (kind.name.clone(), kind.cpus.clone())).collect()
        }
        _ => Vec::new(),
    }
}

/// What is missing as a whole.
fn notes(context: &ControlContext) -> Vec<String> {
    if context.apple.is_some() {
        return vec!["an Apple system: only what it reports is shown; untested".to_owned()];
    }
    let mut notes = Vec::new();
    if context.no_proc() {
        notes.push("no /proc here: settings of this process, other processes and most kernel settings are unknown (mount -t proc proc /proc)".to_owned());
    }
    if context.no_sys() {
        notes.push("no /sys here: CPUs, frequencies and huge pages are unknown (mount -t sysfs sysfs /sys)".to_owned());
    }
    notes
}

fn shown_control(context: &ControlContext, control: &Control) -> document::Control {
    let status = match control.status {
        Some(status) => status(context).unwrap_or_else(|status| *status),
        None => of_files(context, control),
    };
    document::Control {
        id: control.id.to_owned(),
        title: control.title.to_owned(),
        group: control.group,
        now: status.now,
        parts: status.parts,
        state: status.state,
        wanted: status.wanted,
        setting: status.setting,
        hindrance: status.hindrance,
        tuned: match control.tune {
            Tune::ByDefault => document::Tuned::ByDefault,
            Tune::ByName(why) | Tune::Recommended(why) => document::Tuned::ByName(why.to_owned()),
            Tune::Never(_) => document::Tuned::Never,
        },
        fixtures_only: control.fixtures_only || status.fixtures_only,
    }
}

fn of_files(context: &ControlContext, control: &Control) -> Status {
    let files = control.states(&context.system);
    let Some(first) = files.first() else {
        return Status::from(match (&context.apple, control.absent) {
            (Some(_), _) => hindrance(HindranceKind::NotOnThisSystem, "Linux only"),
            (None, Some(absent)) => absent(context),
            (None, None) => context.missing(control.files[0]),
        });
    };
    let glob = glob(&files);
    let source = glob.as_deref().unwrap_or(&first.path);
    let now = match control.line {
        Some(line) => line(&context.system, &files),
        None => in_a_line(&files),
    };
    let mut status = Status::new(now, source, state(control, &files));
    if files.len() > 1 {
        status.parts = files.iter().map(shown_value).collect();
    }
    if files.iter().all(|file| file.content().is_none()) {
        status.now = first.now.clone().from_source(source);
    }
    if control.better.is_empty() || files.iter().all(|file| file.wanted.is_none()) {
        return status;
    }
    let unmet = files.iter().find(|file| !file.met).unwrap_or(first);
    let hindered = match &unmet.refused {
        Some(why) => Some(hindrance(HindranceKind::ReadOnly, why)),
        None => context.hindrance(&unmet.path),
    };
    // A process that may write the file needs no other user.
    let (who, sudo) = match hindered {
        None => (context.who(), ""),
        Some(_) => (Privilege::Root, context.sudo()),
    };
    status
        .wanting(control.better, control.why)
        .set_by(who, shell_command(context, sudo, control, &files))
        .hindered(hindered)
}

fn shown_value(file: &FileState) -> document::FileValue {
    document::FileValue {
        path: file.path.clone(),
        value: file.now.value.clone(),
        wanted: file.clone().change("").map(|change| change.wanted),
    }
}

/// A shell pattern of several files of policies or CPUs.
fn glob(files: &[FileState]) -> Option<String> {
    let first = &files.first().filter(|_| files.len() > 1)?.path;
    let start = ["/policy", "/cpu/cpu"].iter().find_map(|name| {
        let at = first.find(name)? + name.len();
        first[at..].starts_with(|c: char| c.is_ascii_digit()).then_some(at)
    })?;
    let rest = first[start..].trim_start_matches(|c: char| c.is_ascii_digit());
    Some(format!("{}*{rest}", &first[..start]))
}

/// A value that only an explicit request changes is no problem.
fn state(control: &Control, files: &[FileState]) -> ValueState {
    let wanted = files.iter().any(|file| file.wanted.is_some());
    match control.tune {
        _ if files.iter().all(|file| file.content().is_none()) => ValueState::Unknown,
        Tune::Never(_) => ValueState::Information,
        _ if !wanted => ValueState::Information,
        _ if files.iter().all(|file| file.met) => ValueState::Good,
        Tune::ByName(_) => ValueState::Information,
        Tune::ByDefault | Tune::Recommended(_) => ValueState::Improvable,
    }
}

/// The shell command: a glob only if all files get the same value.
fn shell_command(
    context: &ControlContext,
    sudo: &str,
    control: &Control,
    files: &[FileState],
) -> String {
    const MANY: usize = 4;
    let mut open: Vec<&FileState> = files.iter().filter(|file| !file.met).collect();
    if open.is_empty() {
        open = files.iter().collect();
    }
    let mut values: Vec<&str> = open.iter().filter_map(|f| f.wanted.as_deref()).collect();
    values.dedup();
    let one_value = |value: &str| files.iter().all(|f| f.wanted.as_deref() == Some(value));
    let paths: Vec<&str> = open.iter().map(|file| file.path.as_str()).collect();
    match (values.as_slice(), open.len(), glob(files)) {
        ([value], 2.., Some(glob)) if one_value(value) => {
            format!("echo {value} | {sudo}tee {glob}")
        }
        ([value], n, _) if n <= MANY => format!("echo {value} | {sudo}tee {}", paths.join(" ")),
        // tune needs root even if the files are writable.
        _ => format!("{}latlas noise tune --apply --only {}", context.sudo(), control.id),
    }
}
