//! The document of `noise show`.

use super::look::Look;
use super::part::{Part, in_a_line};
use super::places::Scene;
use super::sight::{Sight, Told};
use super::{Control, Settled, Tuned, What, advice, all, quiet_by_default};
use crate::files::Files;
use model::machine::{Fact, Machine, Presence};
use model::noise::control as document;
use model::noise::control::{Controls, Hindrance, Kind, Setting, State, Wanted, Who};
use sys::power::Power;

/// Every control of the machine that `files` show, and what to do about it.
/// `machine` has the facts of the same machine; `pause` lets some time pass
/// between two looks at who takes the CPU (200 ms show whoever takes more than
/// 5 %; it does nothing for a copied tree, where no time passes); `apple` is
/// what [`sys::power::power`] said, for the real machine.
pub fn show(
    files: &dyn Files,
    machine: &Machine,
    apple: Option<Power>,
    pause: &mut dyn FnMut(),
) -> Controls {
    let before = Look::take(files);
    pause();
    let quiet = quiet_by_default(files);
    let scene = Scene::new(files, &quiet);
    let mut sight = Sight::new(scene, present(&machine.hypervisor), kinds(machine), before);
    sight.apple = apple;
    let mut controls: Vec<document::Control> =
        all().map(|control| shown(&sight, control)).collect();
    controls.sort_by_key(|control| control.group);
    Controls {
        root: sight.root,
        hypervisor: sight.hypervisor.clone(),
        container: present(&machine.container),
        advice: advice::advice(&sight, &controls),
        quiet_cpus: quiet,
        pending: None,
        notes: notes(&sight),
        controls,
    }
}

fn present(fact: &Fact<Presence>) -> Option<String> {
    fact.get().and_then(Presence::name).map(str::to_owned)
}

fn kinds(machine: &Machine) -> Vec<(String, Vec<u32>)> {
    match machine.core_kinds.get() {
        Some(kinds) if kinds.len() > 1 => kinds
            .iter()
            .map(|kind| (kind.name.clone(), kind.cpus.clone()))
            .collect(),
        _ => Vec::new(),
    }
}

/// What is missing as a whole.
fn notes(sight: &Sight) -> Vec<String> {
    let mut notes = Vec::new();
    if sight.apple.is_some() {
        notes.push(
            "an Apple system: latlas shows what it tells, and was never run on one by us"
                .to_owned(),
        );
        return notes;
    }
    let absent = sight.absent();
    if absent.without_proc() {
        notes.push("there is no /proc here: what this process has, who else runs and most of the kernel's switches can't be seen (mount -t proc proc /proc)".to_owned());
    }
    if absent.without_sys() {
        notes.push("there is no /sys here: CPUs, frequencies and huge pages can't be seen (mount -t sysfs sysfs /sys)".to_owned());
    }
    notes
}

fn shown(sight: &Sight, control: &Control) -> document::Control {
    let told = match &control.what {
        What::Told(look) => look(sight),
        What::Files(settled) => files_of(sight, control, settled),
    };
    document::Control {
        id: control.id.to_owned(),
        title: control.title.to_owned(),
        group: control.group,
        now: told.now,
        parts: told.parts,
        state: told.state,
        wanted: told.wanted,
        setting: told.setting,
        hindrance: told.hindrance,
        tuned: match control.tuned {
            Tuned::ByDefault => document::Tuned::ByDefault,
            Tuned::ByName(why) | Tuned::Advised(why) => document::Tuned::ByName(why.to_owned()),
            Tuned::Never(_) => document::Tuned::Never,
        },
        fixtures_only: control.fixtures_only || told.fixtures_only,
    }
}

fn files_of(sight: &Sight, control: &Control, settled: &Settled) -> Told {
    let parts = (settled.parts)(&sight.scene);
    let Some(first) = parts.first() else {
        let (kind, why) = match sight.apple {
            Some(_) => (Kind::NotOnThisSystem, "Linux has it".to_owned()),
            None => (settled.absent)(&sight.absent()),
        };
        return Told::absent(kind, why);
    };
    let source = match settled.glob {
        glob if parts.len() > 1 && !glob.is_empty() => glob,
        _ => &first.path,
    };
    let now = match settled.line {
        Some(line) => line(&sight.scene, &parts),
        None => in_a_line(&parts),
    };
    let mut told = Told::new(now, source, state(control, &parts));
    if parts.len() > 1 {
        told.parts = parts.iter().map(by_itself).collect();
    }
    if parts.iter().all(|part| part.now.is_err()) {
        let why = parts.iter().find_map(|part| part.now.as_ref().err());
        told.now = Fact::unknown(why.cloned().unwrap_or_default()).from_source(source);
    }
    if settled.better.is_empty() || parts.iter().all(|part| part.wanted.is_none()) {
        return told;
    }
    told.wanted = Some(Wanted {
        value: settled.better.to_owned(),
        why: settled.why.to_owned(),
    });
    let unmet = parts.iter().find(|part| !part.met).unwrap_or(first);
    told.hindrance = match &unmet.refused {
        Some(why) => Some(Hindrance {
            kind: Kind::ReadOnly,
            why: why.clone(),
        }),
        None => sight.hindrance(&unmet.path),
    };
    // Who may write the file needs no other user for it.
    let (who, sudo) = match told.hindrance {
        None => (sight.who(), ""),
        Some(_) => (Who::Root, sight.sudo()),
    };
    told.setting = Some(Setting {
        who,
        command: command(sight, sudo, control, settled, &parts),
    });
    told
}

fn by_itself(part: &Part) -> document::Part {
    document::Part {
        path: part.path.clone(),
        value: part.now.clone().ok(),
        wanted: part.clone().change("").map(|change| change.wanted),
    }
}

/// A value that only somebody who names it may want to change is as good as
/// another.
fn state(control: &Control, parts: &[Part]) -> State {
    let met = parts.iter().all(|part| part.met);
    let wanted = parts.iter().any(|part| part.wanted.is_some());
    match control.tuned {
        _ if parts.iter().all(|part| part.now.is_err()) => State::Unknown,
        Tuned::Never(_) => State::Information,
        _ if !wanted => State::Information,
        _ if met => State::Good,
        Tuned::ByName(_) => State::Information,
        _ => State::Improvable,
    }
}

/// What a person types: one command for each value that is to be written. All
/// files at once are named only where all of them are to hold that value.
fn command(
    sight: &Sight,
    sudo: &str,
    control: &Control,
    settled: &Settled,
    parts: &[Part],
) -> String {
    let open: Vec<&Part> = match parts.iter().any(|part| !part.met) {
        true => parts.iter().filter(|part| !part.met).collect(),
        false => parts.iter().collect(),
    };
    let mut values: Vec<&str> = open
        .iter()
        .filter_map(|part| part.wanted.as_deref())
        .collect();
    values.dedup();
    let alike = |value: &str| {
        let mut all = parts.iter();
        !settled.glob.is_empty() && all.all(|part| part.wanted.as_deref() == Some(value))
    };
    const MANY: usize = 4;
    match (values.as_slice(), open.len()) {
        ([value], 2..) if alike(value) => {
            format!("echo {value} | {sudo}tee {}", settled.glob)
        }
        ([value], n) if n <= MANY => {
            let paths: Vec<&str> = open.iter().map(|part| part.path.as_str()).collect();
            format!("echo {value} | {sudo}tee {}", paths.join(" "))
        }
        // It needs root whoever may write the files.
        _ => format!("{}latlas noise tune --only {}", sight.sudo(), control.id),
    }
}
