//! What the firmware's tables (DMI) and /proc/cpuinfo say of the computer, its firmware and the microcode.

use super::cpu::field;
use crate::files::Tree;
use model::machine::Fact;

const DMI: &str = "/sys/class/dmi/id";
const CPUINFO: &str = "/proc/cpuinfo";

/// Maker and name of the computer.
pub(super) fn product(tree: &Tree) -> Fact<String> {
    of_tables(tree, ["sys_vendor", "product_name"])
}

/// Maker and version of the firmware.
pub(super) fn version(tree: &Tree) -> Fact<String> {
    of_tables(tree, ["bios_vendor", "bios_version"])
}

/// Revision of the first CPU's microcode. Under an emulator /proc/cpuinfo may describe the host.
pub(super) fn microcode(tree: &Tree, arch: &str) -> Fact<String> {
    if !arch.starts_with("x86") {
        return Fact::unknown(format!("the kernel names no microcode revision on {arch}"));
    }
    let cpuinfo = tree.text(CPUINFO).unwrap_or_default();
    match field(&cpuinfo, "microcode") {
        Some(revision) => Fact::known(revision.to_owned()).from_source(CPUINFO),
        None => Fact::unknown(format!("{CPUINFO} has no microcode revision")),
    }
}

/// What makers leave in the tables instead of a name.
const PLACEHOLDERS: [&str; 6] = [
    "To Be Filled By O.E.M.",
    "Default string",
    "System manufacturer",
    "System Product Name",
    "Not Specified",
    "None",
];

fn of_tables(tree: &Tree, names: [&str; 2]) -> Fact<String> {
    let [maker, name] = names.map(|name| tree.text(&format!("{DMI}/{name}")));
    let named = |text: &String| !PLACEHOLDERS.iter().any(|none| none.eq_ignore_ascii_case(text));
    let parts: Vec<String> = maker.into_iter().chain(name).filter(named).collect();
    match parts.is_empty() {
        false => Fact::known(parts.join(" ")).from_source(DMI),
        true => Fact::unknown(format!("{DMI} has no {} and no {}", names[0], names[1])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_cpuinfo_are_read_or_give_a_reason() {
        let root = tempfile::tempdir().expect("a directory");
        let tree = Tree::new(root.path());
        for fact in [product(&tree), version(&tree), microcode(&tree, "x86_64")] {
            assert!(fact.get().is_none() && fact.unknown.is_some(), "{fact:?}");
        }
        let write = |path: &str, text: &str| tree.make(path, text);
        write("/sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
        write("/sys/class/dmi/id/product_name", "PowerEdge R6525\n");
        write("/sys/class/dmi/id/bios_version", "2.14.1\n");
        write("/proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0xa0011d5\n");
        let text = |fact: Fact<String>| fact.value.unwrap_or_default();
        assert_eq!(text(product(&tree)), "Dell Inc. PowerEdge R6525");
        assert_eq!(text(version(&tree)), "2.14.1");
        assert_eq!(text(microcode(&tree, "x86_64")), "0xa0011d5");
        assert_eq!(microcode(&tree, "aarch64").value, None);
        write("/sys/class/dmi/id/product_name", "Default string\n");
        assert_eq!(text(product(&tree)), "Dell Inc.");
        write("/sys/class/dmi/id/sys_vendor", "To Be Filled By O.E.M.\n");
        assert_eq!(product(&tree).value, None);
    }
}
