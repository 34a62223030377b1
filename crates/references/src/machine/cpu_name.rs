//! Names of CPUs and boards, so that two ways of writing one are the same.

/// A CPU's name without marks, clock, number of cores and generation: `amd ryzen 9 5900x`.
pub(crate) fn plain_cpu_name(name: &str) -> String {
    let lower = name.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
    let ends = [" @", " with ", " w/ ", ","].iter().filter_map(|end| lower.find(end));
    let lower = &lower[..ends.min().unwrap_or(lower.len())];
    let counts = |word: &str| word.strip_suffix("-core").is_some_and(|count| !count.contains('-'));
    let generation = |word: &str| word == "gen" || word.strip_suffix("th").is_some_and(is_number);
    let words = lower.split_whitespace().filter(|word| {
        let filler = matches!(*word, "cpu" | "processor" | "air" | "soc");
        !(filler || counts(word) || generation(word) || word.ends_with("ghz"))
    });
    words.collect::<Vec<_>>().join(" ")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// Whether a CPU's name leaves out the model: `AMD EPYC`, `Intel(R) Xeon(R) CPU @ 2.20GHz`.
pub(crate) fn names_no_model(name: &str) -> bool {
    !plain_cpu_name(name).chars().any(|c| c.is_ascii_digit())
}

/// Whether it is the name of a CPU model of QEMU, whose signature says nothing of the host:
/// `QEMU Virtual CPU version 2.5+`, `Intel Xeon Processor (Skylake, IBRS)`, `AMD EPYC-Rome Processor`.
pub(super) fn is_virtual_model(name: &str) -> bool {
    let lower = plain_cpu_name(name);
    let set_by_name = lower.contains("qemu") || lower.contains("kvm");
    set_by_name || names_no_model(name) && (lower.contains('(') || lower.contains("epyc-"))
}

/// A board's name as letters and digits: `raspberrypi5b`, of name or device tree.
pub(super) fn plain_board_name(name: &str) -> String {
    // `N2+` is another board than `N2`.
    let lower = name.to_lowercase().replace('+', "plus");
    let end = lower.find(" rev ").or(lower.find(" (")).unwrap_or(lower.len());
    let words = lower[..end].split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| *word != "model").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_of_writing_one_cpu_are_the_same() {
        for (name, plain) in [
            ("AMD Ryzen 9 5900X 12-Core Processor", "amd ryzen 9 5900x"),
            ("AMD Ryzen 7 5800H with Radeon Graphics", "amd ryzen 7 5800h"),
            ("11th Gen Intel(R) Core(TM) i5-1135G7 @ 2.40GHz", "intel core i5-1135g7"),
            ("Intel Core i5-1135G7 2.40GHz", "intel core i5-1135g7"),
            ("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", "intel xeon platinum 8375c"),
            ("Apple M1 Air", "apple m1"),
            ("Apple M1 Pro", "apple m1 pro"),
        ] {
            assert_eq!(plain_cpu_name(name), plain);
        }
    }

    #[test]
    fn a_hypervisors_name_is_told_from_a_model() {
        for name in
            ["AMD EPYC", "Intel(R) Xeon(R) Processor @ 2.90GHz", "Intel(R) Xeon(R) CPU @ 2.20GHz"]
        {
            assert!(names_no_model(name) && !is_virtual_model(name), "{name}");
        }
        let models =
            ["QEMU Virtual CPU version 2.5+", "Common KVM processor", "AMD EPYC-Rome Processor"];
        for name in models.into_iter().chain([
            "Intel Xeon Processor (Skylake, IBRS)",
            "Intel Core Processor (Haswell, no TSX)",
        ]) {
            assert!(is_virtual_model(name), "{name}");
        }
        for name in [
            "AMD EPYC 9R14",
            "Intel(R) Core(TM) i9-12900K",
            "Apple M1",
            "11th Gen Intel(R) Core(TM) i5-1135G7",
        ] {
            assert!(!names_no_model(name) && !is_virtual_model(name), "{name}");
        }
    }

    #[test]
    fn a_board_is_one_by_name_and_device_tree() {
        for name in [
            "Raspberry Pi 5 Model B Rev 1.0",
            "raspberrypi,5-model-b",
            "Raspberry Pi 5 B (BCM2712)",
        ] {
            assert_eq!(plain_board_name(name), "raspberrypi5b");
        }
        assert_eq!(plain_board_name("Radxa ROCK 5B"), plain_board_name("radxa,rock-5b"));
        let plus = plain_board_name("Hardkernel ODROID-N2+ (Amlogic S922X)");
        assert_eq!(plus, plain_board_name("hardkernel,odroid-n2-plus"));
        assert_ne!(plus, plain_board_name("Hardkernel ODROID-N2 (Amlogic S922X)"));
    }
}
