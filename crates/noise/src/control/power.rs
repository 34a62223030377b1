//! Power and heat, and what Apple systems say of how fast they want to be.
//! `Documentation/ABI/testing/sysfs-class-power`,
//! `Documentation/driver-api/thermal/sysfs-api.rst`.

use super::sight::{Sight, Told};
use model::machine::Fact;
use model::noise::control::{Kind, State, Who};

pub(super) fn battery(sight: &Sight) -> Told {
    const SUPPLIES: &str = "/sys/class/power_supply";
    let files = sight.scene.files;
    let names = files.names(SUPPLIES);
    let read = |name: &str, file: &str| files.read(&format!("{SUPPLIES}/{name}/{file}")).ok();
    let mut texts = Vec::new();
    let mut discharging = false;
    for name in &names {
        // The battery of a mouse or of a headset.
        if read(name, "scope").as_deref() == Some("Device") {
            continue;
        }
        match read(name, "type").as_deref() {
            Some("Battery") => {
                let status = read(name, "status").unwrap_or_else(|| "status unknown".into());
                let capacity = read(name, "capacity").map_or(String::new(), |c| format!(", {c} %"));
                discharging |= status == "Discharging";
                texts.push(format!("{name} {}{capacity}", status.to_lowercase()));
            }
            Some("Mains" | "USB") => {
                let online = read(name, "online").as_deref() == Some("1");
                texts.push(format!(
                    "{name} {}",
                    if online { "connected" } else { "not connected" }
                ));
            }
            _ => {}
        }
    }
    if texts.is_empty() {
        let why = "no power supply is described in /sys/class/power_supply";
        return match (&sight.apple, &sight.hypervisor) {
            (Some(_), _) => elsewhere(),
            (_, Some(_)) => Told::absent(Kind::AbsentInVm, why),
            _ => Told::absent(Kind::NotOnThisSystem, why),
        };
    }
    let told = Told::information(texts.join("; "), SUPPLIES);
    match discharging {
        false => told,
        true => Told {
            state: State::Improvable,
            ..told.wanting("mains", "firmware and drivers save energy on a battery")
        },
    }
}

pub(super) fn thermal(sight: &Sight) -> Told {
    if let Some(power) = &sight.apple {
        return apple(&power.thermal);
    }
    const ZONES: &str = "/sys/class/thermal";
    let files = sight.scene.files;
    let mut texts: Vec<String> = files
        .names(ZONES)
        .iter()
        .filter(|name| name.starts_with("thermal_zone"))
        .filter_map(|zone| {
            let read = |file: &str| files.read(&format!("{ZONES}/{zone}/{file}")).ok();
            let millidegrees: f64 = read("temp")?.parse().ok()?;
            Some(format!("{} {} °C", read("type")?, millidegrees / 1000.0))
        })
        .collect();
    let (before, after) = (sight.before.throttles, sight.after.throttles);
    if let Some(count) = after {
        texts.push(format!("cores slowed {count} times since the start"));
    }
    if texts.is_empty() {
        let why = "no sensor is described in /sys/class/thermal";
        let kind = match sight.hypervisor {
            Some(_) => Kind::AbsentInVm,
            None => Kind::NotOnThisSystem,
        };
        return Told::absent(kind, why);
    }
    let told = Told::information(texts.join("; "), ZONES);
    match before < after {
        false => told,
        true => Told {
            state: State::Improvable,
            ..told.wanting("cooler", "cores are being slowed by heat now")
        },
    }
}

pub(super) fn qos(sight: &Sight) -> Told {
    match &sight.apple {
        Some(power) => {
            let told = apple(&power.qos);
            told.wanting("user interactive", "lower classes get slower cores, and later")
                .set_by(Who::Anybody, "taskpolicy -c utility COMMAND # a lower class; a higher one is the program's own choice".into())
        }
        None => elsewhere(),
    }
}

pub(super) fn low_power(sight: &Sight) -> Told {
    match &sight.apple {
        Some(power) => {
            let told = apple(&power.low_power)
                .wanting("off", "it keeps the clock low")
                .set_by(Who::Root, "sudo pmset -a lowpowermode 0".into());
            match told.now.get().map(String::as_str) {
                Some("on") => Told {
                    state: State::Improvable,
                    ..told
                },
                Some("off") => Told {
                    state: State::Good,
                    ..told
                },
                _ => told,
            }
        }
        None => elsewhere(),
    }
}

fn apple(fact: &Fact<String>) -> Told {
    let told = Told::new(String::new(), "", State::Information);
    let state = match fact.get() {
        Some(_) => State::Information,
        None => State::Unknown,
    };
    Told {
        now: fact.clone(),
        state,
        ..told
    }
}

fn elsewhere() -> Told {
    Told::absent(Kind::NotOnThisSystem, "another operating system has it")
}
