//! The clock: turbo, governor, hints to the processor, bounds.
//!
//! Files of `Documentation/admin-guide/pm/{cpufreq,intel_pstate,amd-pstate,
//! intel_epb}.rst` and `Documentation/ABI/testing/sysfs-devices-system-cpu`.

use super::part::Part;
use super::places::{CPUS, Scene};
use super::{Absent, Control, Settled, Stage, Tuned, What};
use model::noise::control::{Group, Kind};

pub(super) const CONTROLS: &[Control] = &[
    Control {
        id: "turbo",
        title: "going above the nominal frequency",
        group: Group::Clock,
        tuned: Tuned::ByDefault,
        stage: Stage::Turbo,
        fixtures_only: true,
        what: What::Files(Settled {
            parts: turbo,
            better: "off",
            why: "how far above depends on heat and on what the other cores do",
            glob: "/sys/devices/system/cpu/cpufreq/policy*/boost",
            absent: no_turbo_switch,
            line: None,
        }),
    },
    Control {
        id: "governor",
        title: "the kernel's choice of frequency",
        group: Group::Clock,
        tuned: Tuned::ByDefault,
        stage: Stage::Governor,
        fixtures_only: true,
        what: What::Files(Settled {
            parts: governor,
            better: "performance",
            why: "others follow the load, and are late each time it begins",
            glob: "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
            absent: no_driver,
            line: None,
        }),
    },
    Control {
        id: "epp",
        title: "energy preference given to the processor (EPP)",
        group: Group::Clock,
        tuned: Tuned::ByDefault,
        stage: Stage::Preference,
        fixtures_only: true,
        what: What::Files(Settled {
            parts: energy_preference,
            better: "performance",
            why: "the processor itself chooses lower frequencies otherwise",
            glob: "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
            absent: no_preference,
            line: None,
        }),
    },
    Control {
        id: "epb",
        title: "energy bias given to the processor (EPB)",
        group: Group::Clock,
        tuned: Tuned::ByDefault,
        stage: Stage::Preference,
        fixtures_only: true,
        what: What::Files(Settled {
            parts: energy_bias,
            better: "performance",
            why: "the processor saves energy at the cost of speed otherwise",
            glob: "/sys/devices/system/cpu/cpu*/power/energy_perf_bias",
            absent: no_bias,
            line: None,
        }),
    },
    Control {
        id: "max-frequency",
        title: "highest frequency allowed",
        group: Group::Clock,
        tuned: Tuned::ByName("a fixed frequency is another machine than the one people use"),
        stage: Stage::Ceiling,
        fixtures_only: true,
        what: What::Files(Settled {
            parts: ceiling,
            better: "the nominal one",
            why: "named together with min-frequency it keeps the clock still",
            glob: "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq",
            absent: no_driver,
            line: None,
        }),
    },
    Control {
        id: "min-frequency",
        title: "lowest frequency allowed",
        group: Group::Clock,
        tuned: Tuned::ByName("a fixed frequency is another machine than the one people use"),
        stage: Stage::Floor,
        fixtures_only: true,
        what: What::Files(Settled {
            parts: floor,
            better: "the nominal one",
            why: "named together with max-frequency it keeps the clock still",
            glob: "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq",
            absent: no_driver,
            line: None,
        }),
    },
    Control {
        id: "frequency-driver",
        title: "the kernel's frequency driver and its mode",
        group: Group::Clock,
        tuned: Tuned::Never(
            "another driver or mode behaves like another machine; it is only shown",
        ),
        stage: Stage::Alone,
        fixtures_only: true,
        what: What::Files(Settled {
            parts: driver,
            better: "",
            why: "",
            glob: "",
            absent: no_driver,
            line: None,
        }),
    },
];

/// Values that mean the same switch in three files.
fn turbo(scene: &Scene) -> Vec<Part> {
    let one = |path: &str, off: &str, words: &[(&str, &str)]| {
        Part::new(scene.files, format!("{CPUS}/{path}"), off).map(|part| vec![part.in_words(words)])
    };
    const NO_TURBO: &[(&str, &str)] = &[("0", "on"), ("1", "off")];
    const BOOST: &[(&str, &str)] = &[("1", "on"), ("0", "off")];
    one("intel_pstate/no_turbo", "1", NO_TURBO)
        .or_else(|| one("cpufreq/boost", "0", BOOST))
        .unwrap_or_else(|| {
            per_policy(scene, "boost", |_, _| Some("0".into()))
                .into_iter()
                .map(|part| part.in_words(BOOST))
                .collect()
        })
}

fn governor(scene: &Scene) -> Vec<Part> {
    per_policy(scene, "scaling_governor", |scene, policy| {
        offered(scene, policy, "scaling_available_governors", "performance")
    })
}

fn energy_preference(scene: &Scene) -> Vec<Part> {
    per_policy(scene, "energy_performance_preference", |scene, policy| {
        offered(
            scene,
            policy,
            "energy_performance_available_preferences",
            "performance",
        )
    })
}

/// One file a CPU, 0 to 15 (intel_epb.rst).
fn energy_bias(scene: &Scene) -> Vec<Part> {
    const WORDS: &[(&str, &str)] = &[
        ("0", "performance"),
        ("4", "balance-performance"),
        ("6", "normal"),
        ("8", "balance-power"),
        ("15", "power"),
    ];
    scene
        .online
        .iter()
        .filter_map(|&cpu| {
            let path = format!("{CPUS}/cpu{cpu}/power/energy_perf_bias");
            Some(
                Part::new(scene.files, path, "0")?
                    .in_words(WORDS)
                    .of_cpus(&[cpu]),
            )
        })
        .collect()
}

fn ceiling(scene: &Scene) -> Vec<Part> {
    in_hertz(per_policy(scene, "scaling_max_freq", nominal))
}

fn floor(scene: &Scene) -> Vec<Part> {
    in_hertz(per_policy(scene, "scaling_min_freq", nominal))
}

fn driver(scene: &Scene) -> Vec<Part> {
    let mut parts = per_policy(scene, "scaling_driver", |_, _| None);
    for (name, path) in [
        ("amd_pstate", "amd_pstate/status"),
        ("intel_pstate", "intel_pstate/status"),
    ] {
        let path = format!("{CPUS}/{path}");
        if let Some(mut part) = Part::shown_only(scene.files, path) {
            part.shown = format!("{name} is {}", part.shown);
            parts.push(part);
        }
    }
    parts
}

/// The file of each policy; `wanted` says what should be in it, `None` for
/// nothing in particular.
fn per_policy(
    scene: &Scene,
    file: &str,
    wanted: impl Fn(&Scene, &str) -> Option<String>,
) -> Vec<Part> {
    scene
        .policies()
        .into_iter()
        .filter_map(|(policy, cpus)| {
            let path = format!("{policy}/{file}");
            let part = match wanted(scene, &policy) {
                Some(wanted) => Part::new(scene.files, path, &wanted),
                None => Part::shown_only(scene.files, path),
            };
            Some(part?.of_cpus(&cpus))
        })
        .collect()
}

/// The word, if the list of what may be written holds it; where there is no
/// list, writing it shows.
fn offered(scene: &Scene, policy: &str, list: &str, word: &str) -> Option<String> {
    match scene.files.read(&format!("{policy}/{list}")) {
        Ok(words) => words
            .split_whitespace()
            .any(|w| w == word)
            .then(|| word.to_owned()),
        Err(_) => Some(word.to_owned()),
    }
}

/// The frequency that the processor can keep, kHz: intel_pstate's own word,
/// then the firmware's (CPPC, in MHz), then the highest there is, which is
/// nominal where boost is a switch of its own. The drivers of Intel and of AMD
/// name the highest with turbo, and without the first two nothing is known.
fn nominal(scene: &Scene, policy: &str) -> Option<String> {
    let number = |path: &str| scene.files.read(path).ok()?.parse::<u64>().ok();
    let first = scene.files.read(&format!("{policy}/affected_cpus")).ok();
    let first = first
        .as_deref()
        .and_then(|cpus| cpus.split_whitespace().next());
    let cppc = first.and_then(|cpu| {
        let path = format!("{CPUS}/cpu{cpu}/acpi_cppc/nominal_freq");
        number(&path)?.checked_mul(1000).filter(|&khz| khz > 0)
    });
    number(&format!("{policy}/base_frequency"))
        .or(cppc)
        .or_else(|| {
            let driver = scene.files.read(&format!("{policy}/scaling_driver"));
            let with_turbo =
                driver.is_ok_and(|d| d.starts_with("intel_") || d.starts_with("amd-pstate"));
            match with_turbo {
                true => None,
                false => number(&format!("{policy}/cpuinfo_max_freq")),
            }
        })
        .map(|khz| khz.to_string())
}

fn in_hertz(parts: Vec<Part>) -> Vec<Part> {
    parts
        .into_iter()
        .map(|mut part| {
            if let Some(khz) = part.now.as_deref().ok().and_then(|t| t.parse::<f64>().ok()) {
                part.shown = format!("{} GHz", khz / 1e6);
            }
            part
        })
        .collect()
}

fn no_driver(absent: &Absent) -> (Kind, String) {
    match absent.hypervisor {
        Some(name) => (
            Kind::AbsentInVm,
            format!("{name} keeps the frequency to itself: there is no cpufreq policy in /sys"),
        ),
        None if absent.without_sys() => absent.no_sys(),
        None => (
            Kind::Firmware,
            "no cpufreq policy in /sys: the kernel has no frequency driver for this CPU, or the firmware keeps it".into(),
        ),
    }
}

fn no_turbo_switch(absent: &Absent) -> (Kind, String) {
    let (kind, why) = no_driver(absent);
    if kind != Kind::Firmware {
        return (kind, why);
    }
    match absent.lockdown() {
        Some(mode) => (
            Kind::Lockdown,
            format!("the kernel has no switch for it, and the register behind it is closed by lockdown ({mode})"),
        ),
        None => (
            Kind::Firmware,
            "the kernel has no switch for it (intel_pstate/no_turbo, cpufreq/boost); the firmware may".into(),
        ),
    }
}

fn no_preference(absent: &Absent) -> (Kind, String) {
    match absent.has_policies() {
        true => (
            Kind::NotOnThisSystem,
            "this processor or its driver takes no preference".into(),
        ),
        false => no_driver(absent),
    }
}

fn no_bias(absent: &Absent) -> (Kind, String) {
    match (absent.hypervisor, absent.without_sys()) {
        (_, true) => absent.no_sys(),
        (Some(name), _) => (Kind::AbsentInVm, format!("{name} shows no such register")),
        (None, _) => (
            Kind::NotOnThisSystem,
            "only processors of Intel have it, where the kernel knows it".into(),
        ),
    }
}
