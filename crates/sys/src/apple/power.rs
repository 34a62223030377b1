//! Quality of service (<sys/qos.h>), Low Power Mode (pmset(1)) and heat
//! (<libkern/OSThermalNotification.h> through notify(3)).

use std::ffi::{CStr, c_char, c_int};
use std::process::Command;

use model::machine::Fact;
use model::qos::Level;

use crate::capture;
use crate::power::Power;

unsafe extern "C" {
    fn notify_register_check(name: *const c_char, token: *mut c_int) -> u32;
    fn notify_get_state(token: c_int, state: *mut u64) -> u32;
    fn notify_cancel(token: c_int) -> u32;
}

pub(crate) fn power() -> Power {
    Power { qos: qos(), low_power: low_power(), thermal: thermal() }
}

fn qos() -> Fact<String> {
    let number = super::qos_class::current();
    let level = Level::from(number);
    match (number, level.is_known()) {
        (0, _) => Fact::known("unspecified".into()),
        (_, true) => Fact::known(level.label().replace('-', " ")),
        _ => Fact::unknown(format!("unknown value {number:#x}")),
    }
    .from_source("qos_class_self")
}

/// There is no call of C for it; pmset(1) prints `lowpowermode 0`.
fn low_power() -> Fact<String> {
    const PMSET: &str = "/usr/bin/pmset -g";
    let output = match capture::program_output(Command::new("/usr/bin/pmset").arg("-g")) {
        Ok(output) => output,
        Err(error) => return Fact::unknown(format!("{PMSET}: {error}")),
    };
    let value = output.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("lowpowermode")).then(|| words.next().map(str::to_owned))?
    });
    match value.as_deref() {
        Some("0") => Fact::known("off".to_owned()),
        Some("1") => Fact::known("on".to_owned()),
        _ => Fact::unknown(format!("{PMSET} does not report lowpowermode")),
    }
    .from_source(PMSET)
}

fn thermal() -> Fact<String> {
    const NAME: &CStr = c"com.apple.system.thermalpressurelevel";
    let (mut token, mut state) = (0, 0);
    // SAFETY: the name ends in a zero byte, and the call writes one int.
    if unsafe { notify_register_check(NAME.as_ptr(), &raw mut token) } != 0 {
        return Fact::unknown("notify_register_check(3) refuses the thermal level");
    }
    // SAFETY: the token was just given to us, and the call writes one u64.
    let status = unsafe { notify_get_state(token, &raw mut state) };
    // SAFETY: the token is ours and not used afterwards.
    unsafe { notify_cancel(token) };
    if status != 0 {
        return Fact::unknown("notify_get_state(3) refuses the thermal level");
    }
    // OSThermalPressureLevel of macOS; iOS numbers its levels by tens.
    let name = match state {
        0 => "nominal",
        1 => "moderate",
        2 => "heavy",
        3 => "trapping",
        4 => "sleeping",
        other => return Fact::known(format!("level {other}")).from_source("notify_get_state"),
    };
    Fact::known(name.to_owned()).from_source("notify_get_state")
}

/// `pmset -g batt` begins with `Now drawing from 'AC Power'`.
pub(crate) fn source() -> Fact<String> {
    const PMSET: &str = "/usr/bin/pmset -g batt";
    let output = match capture::program_output(Command::new("/usr/bin/pmset").args(["-g", "batt"]))
    {
        Ok(output) => output,
        Err(error) => return Fact::unknown(format!("{PMSET}: {error}")),
    };
    let drawing = output.lines().next().unwrap_or_default();
    match (drawing.contains("AC Power"), drawing.contains("Battery Power")) {
        (true, _) => Fact::known("mains".to_owned()),
        (_, true) => Fact::known("battery".to_owned()),
        _ => Fact::unknown(format!("{PMSET} does not say")),
    }
    .from_source(PMSET)
}
