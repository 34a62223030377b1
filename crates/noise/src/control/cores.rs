//! Which cores. `Documentation/admin-guide/hw-vuln/` and
//! `Documentation/ABI/testing/sysfs-devices-system-cpu` for `smt/control`.

use super::part::{Part, in_a_line};
use super::places::{CPUS, Scene, list, siblings};
use super::{Absent, Control, Settled, Stage, Tuned, What};
use crate::files::Files;
use model::noise::control::{Group, Kind};

pub(super) const CONTROLS: &[Control] = &[Control {
    id: "smt",
    title: "two threads on one core (SMT)",
    group: Group::Cores,
    tuned: Tuned::Advised("it takes half of the CPUs from everybody"),
    stage: Stage::Siblings,
    fixtures_only: true,
    what: What::Files(Settled {
        parts: |scene| {
            let path = format!("{CPUS}/smt/control");
            let control = scene.files.read(&path).unwrap_or_default();
            // Only these two can be changed into each other.
            let part = match control.as_str() {
                "on" | "off" => Part::new(scene.files, path, "off"),
                "forceoff" => Part::shown_only(scene.files, path),
                _ => None,
            };
            part.into_iter().collect()
        },
        better: "off",
        why: "whatever runs on the other thread takes part of the core",
        glob: "",
        absent: no_smt,
        line: Some(with_pairs),
    }),
}];

/// The switch, and which CPUs are threads of one core.
fn with_pairs(scene: &Scene, parts: &[Part]) -> String {
    let pairs = pairs(scene.files, &scene.online);
    match pairs.is_empty() {
        true => in_a_line(parts),
        false => format!(
            "{}; threads of one core: {}",
            in_a_line(parts),
            pairs.join(" ")
        ),
    }
}

/// `thread_siblings_list` of each core that has more than one thread online.
fn pairs(files: &dyn Files, online: &[u32]) -> Vec<String> {
    let mut cores: Vec<Vec<u32>> = online
        .iter()
        .filter_map(|&cpu| siblings(files, cpu))
        .filter(|core| core.len() > 1)
        .collect();
    cores.sort();
    cores.dedup();
    let text = |core: &Vec<u32>| {
        let cpus: Vec<String> = core.iter().map(u32::to_string).collect();
        cpus.join(",")
    };
    cores.iter().map(text).collect()
}

fn no_smt(absent: &Absent) -> (Kind, String) {
    let path = format!("{CPUS}/smt/control");
    match (absent.files.read(&path).as_deref(), absent.hypervisor) {
        (Ok("notsupported"), Some(name)) => (
            Kind::AbsentInVm,
            format!("{name} shows no sibling threads; its own cores may have some"),
        ),
        (Ok("notsupported"), None) => (
            Kind::Firmware,
            "the processor has none, or the firmware switched it off".into(),
        ),
        (Ok(other), _) => (Kind::AbsentInKernel, format!("{path} says {other}")),
        (Err(_), _) if absent.without_sys() => absent.no_sys(),
        (Err(_), _) => {
            let online = list(absent.files, &format!("{CPUS}/online")).unwrap_or_default();
            let pairs = pairs(absent.files, &online);
            let threads = match pairs.is_empty() {
                true => String::new(),
                false => format!("; threads of one core: {}", pairs.join(" ")),
            };
            (
                Kind::AbsentInKernel,
                format!("there is no {path}: a kernel without the switch{threads}"),
            )
        }
    }
}
