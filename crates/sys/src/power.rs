//! Performance hints of Apple systems. On Linux these are files, which callers
//! read themselves.

use model::machine::Fact;

use crate::files::Files;

/// QoS, Low Power Mode and thermal state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Power {
    /// QoS class of the calling thread, which decides what cores it gets.
    pub qos: Fact<String>,
    /// Low Power Mode: `on` or `off`.
    pub low_power: Fact<String>,
    /// Thermal pressure: `nominal` to `critical`.
    pub thermal: Fact<String>,
}

/// The current state; `None` on systems other than Apple's.
pub fn power() -> Option<Power> {
    #[cfg(target_vendor = "apple")]
    return Some(crate::platform::power::power());
    #[cfg(not(target_vendor = "apple"))]
    None
}

/// Whether the machine runs on `mains` or on its `battery`, by
/// /sys/class/power_supply or `pmset -g batt`.
pub fn source(files: &dyn Files) -> Fact<String> {
    #[cfg(target_vendor = "apple")]
    if files.is_the_systems() {
        return crate::platform::power::source();
    }
    const SUPPLIES: &str = "/sys/class/power_supply";
    let read = |name: &str, file: &str| files.read(&format!("{SUPPLIES}/{name}/{file}")).ok();
    let names = files.names(SUPPLIES);
    // Not the battery of a mouse or a headset.
    let of_system = names.iter().filter(|name| read(name, "scope").as_deref() != Some("Device"));
    let of_system: Vec<&String> = of_system.collect();
    let discharging =
        of_system.iter().any(|name| read(name, "status").as_deref() == Some("Discharging"));
    match (discharging, of_system.is_empty()) {
        (true, _) => Fact::known("battery".to_owned()).from_source(SUPPLIES),
        (false, false) => Fact::known("mains".to_owned()).from_source(SUPPLIES),
        (false, true) => Fact::unknown(format!("no power supply in {SUPPLIES}")),
    }
}

#[cfg(all(test, not(target_vendor = "apple")))]
mod tests {
    use super::*;
    use crate::files::Tree;

    #[test]
    fn a_battery_that_is_discharging() {
        let root = tempfile::tempdir().expect("a directory");
        let tree = Tree::new(root.path());
        assert_eq!(source(&tree).get(), None);
        let write = |file: &str, text: &str| {
            let path = tree.full_path(&format!("/sys/class/power_supply/{file}"));
            std::fs::create_dir_all(path.parent().expect("below the root")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write("mouse/scope", "Device\n");
        write("mouse/status", "Discharging\n");
        assert_eq!(source(&tree).get(), None);
        write("BAT0/status", "Charging\n");
        assert_eq!(source(&tree).get().map(String::as_str), Some("mains"));
        write("BAT0/status", "Discharging\n");
        assert_eq!(source(&tree).get().map(String::as_str), Some("battery"));
    }
}
