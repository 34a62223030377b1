//! Names of core designs by the numbers that tell them apart. A small table:
//! what is not in it is unknown, not guessed.

use model::machine::CpuSignature;

/// The design of a core, for example `Zen 3` or `Neoverse N1`. Hybrid
/// processors of Intel have one signature for both kinds and give both names.
pub fn microarchitecture(vendor: &str, signature: &CpuSignature) -> Option<&'static str> {
    match *signature {
        CpuSignature::X86 { family, model, stepping } => match vendor {
            "AuthenticAMD" => amd(family, model),
            "HygonGenuine" if family == 0x18 => Some("Dhyana (Zen)"),
            "GenuineIntel" => intel(family, model, stepping),
            _ => None,
        },
        CpuSignature::Arm { implementer, part, .. } => arm(implementer, part),
    }
}

/// Why a design that the signature names can't be the core's, given the features
/// that the CPU has (names as in `/proc/cpuinfo`): a hypervisor may show any
/// signature. So far only AMX is looked at, which Intel's server cores have from
/// Golden Cove on, and which no other core has.
pub fn contradiction(name: &str, features: &str) -> Option<String> {
    const WITH_AMX: [&str; 3] = ["Sapphire Rapids", "Emerald Rapids", "Granite Rapids"];
    let has_amx = features.split_whitespace().any(|one| one == "amx_tile");
    let may_have = WITH_AMX.iter().any(|server| name.starts_with(server));
    (has_amx && !may_have).then(|| {
        format!(
            "the signature is that of {name}, but this CPU has AMX, which that has not: the \
             hypervisor does not show the core's own signature"
        )
    })
}

/// Model ranges as Linux has them (arch/x86/kernel/cpu/amd.c).
fn amd(family: u32, model: u32) -> Option<&'static str> {
    Some(match (family, model) {
        (0x10, _) => "K10",
        (0x14, _) => "Bobcat",
        (0x15, 0x00..=0x01) => "Bulldozer",
        (0x15, 0x02..=0x1f) => "Piledriver",
        (0x15, 0x30..=0x3f) => "Steamroller",
        (0x15, 0x60..=0x7f) => "Excavator",
        (0x16, 0x00..=0x0f) => "Jaguar",
        (0x16, 0x30..=0x3f) => "Puma",
        (0x17, 0x08 | 0x18) => "Zen+",
        (0x17, 0x00..=0x2f | 0x50..=0x5f) => "Zen",
        (0x17, 0x30..=0x4f | 0x60..=0x7f | 0x84..=0x87 | 0x90..=0x9f | 0xa0..=0xaf) => "Zen 2",
        (0x19, 0x00..=0x0f | 0x20..=0x5f) => "Zen 3",
        (0x19, 0xa0..=0xaf) => "Zen 4c",
        (0x19, 0x10..=0x1f | 0x60..=0x9f) => "Zen 4",
        (0x1a, 0x10..=0x1f) => "Zen 5c",
        (0x1a, 0x00..=0x0f | 0x20..=0x2f | 0x40..=0x4f | 0x60..=0x7f) => "Zen 5",
        (0x1a, 0x50..=0x5f | 0x80..=0xaf | 0xc0..=0xcf) => "Zen 6",
        _ => return None,
    })
}

/// Models as Linux has them (arch/x86/include/asm/intel-family.h).
fn intel(family: u32, model: u32, stepping: u32) -> Option<&'static str> {
    if family != 6 {
        return None;
    }
    Some(match (model, stepping) {
        (0x0f | 0x16, _) => "Merom",
        (0x17 | 0x1d, _) => "Penryn",
        (0x1a | 0x1e | 0x1f | 0x2e, _) => "Nehalem",
        (0x25 | 0x2c | 0x2f, _) => "Westmere",
        (0x2a | 0x2d, _) => "Sandy Bridge",
        (0x3a | 0x3e, _) => "Ivy Bridge",
        (0x3c | 0x3f | 0x45 | 0x46, _) => "Haswell",
        (0x3d | 0x47 | 0x4f | 0x56, _) => "Broadwell",
        (0x4e | 0x5e, _) | (0x55, 0..=4) => "Skylake",
        (0x55, 5..=7) => "Cascade Lake",
        (0x55, 10..=11) => "Cooper Lake",
        // Kaby, Coffee, Whiskey and Comet Lake: the same core.
        (0x8e | 0x9e, 9) => "Kaby Lake",
        (0x8e | 0x9e, _) => "Coffee Lake",
        (0xa5 | 0xa6, _) => "Comet Lake",
        (0x66, _) => "Cannon Lake",
        (0x7d | 0x7e | 0x6a | 0x6c, _) => "Ice Lake (Sunny Cove)",
        (0x8c | 0x8d, _) => "Tiger Lake (Willow Cove)",
        (0xa7, _) => "Rocket Lake (Cypress Cove)",
        (0x8a, _) => "Lakefield (Sunny Cove and Tremont)",
        (0x97 | 0x9a, _) => "Alder Lake (Golden Cove and Gracemont)",
        (0xb7 | 0xba | 0xbf, _) => "Raptor Lake (Raptor Cove and Gracemont)",
        (0xaa | 0xac, _) => "Meteor Lake (Redwood Cove and Crestmont)",
        (0xb5 | 0xc5 | 0xc6, _) => "Arrow Lake (Lion Cove and Skymont)",
        (0xbd, _) => "Lunar Lake (Lion Cove and Skymont)",
        (0xcc, _) => "Panther Lake (Cougar Cove and Darkmont)",
        (0x8f, _) => "Sapphire Rapids (Golden Cove)",
        (0xcf, _) => "Emerald Rapids (Raptor Cove)",
        (0xad | 0xae, _) => "Granite Rapids (Redwood Cove)",
        (0xaf, _) => "Sierra Forest (Crestmont)",
        (0xb6, _) => "Grand Ridge (Crestmont)",
        (0xdd, _) => "Clearwater Forest (Darkmont)",
        (0xbe, _) => "Alder Lake-N (Gracemont)",
        (0x1c | 0x26, _) => "Bonnell",
        (0x27 | 0x35 | 0x36, _) => "Saltwell",
        (0x37 | 0x4a | 0x4d | 0x5a | 0x5d, _) => "Silvermont",
        (0x4c, _) => "Airmont",
        (0x5c | 0x5f, _) => "Goldmont",
        (0x7a, _) => "Goldmont Plus",
        (0x86 | 0x96 | 0x9c, _) => "Tremont",
        (0x57, _) => "Knights Landing",
        (0x85, _) => "Knights Mill",
        _ => return None,
    })
}

/// Parts as Linux has them (arch/arm64/include/asm/cputype.h, util-linux lscpu-arm.c).
fn arm(implementer: u32, part: u32) -> Option<&'static str> {
    Some(match (implementer, part) {
        (0x41, 0xd02) => "Cortex-A34",
        (0x41, 0xd03) => "Cortex-A53",
        (0x41, 0xd04) => "Cortex-A35",
        (0x41, 0xd05) => "Cortex-A55",
        (0x41, 0xd07) => "Cortex-A57",
        (0x41, 0xd08) => "Cortex-A72",
        (0x41, 0xd09) => "Cortex-A73",
        (0x41, 0xd0a) => "Cortex-A75",
        (0x41, 0xd0b) => "Cortex-A76",
        (0x41, 0xd0c) => "Neoverse N1",
        (0x41, 0xd0d) => "Cortex-A77",
        (0x41, 0xd0e) => "Cortex-A76AE",
        (0x41, 0xd40) => "Neoverse V1",
        (0x41, 0xd41) => "Cortex-A78",
        (0x41, 0xd42) => "Cortex-A78AE",
        (0x41, 0xd44) => "Cortex-X1",
        (0x41, 0xd46) => "Cortex-A510",
        (0x41, 0xd47) => "Cortex-A710",
        (0x41, 0xd48) => "Cortex-X2",
        (0x41, 0xd49) => "Neoverse N2",
        (0x41, 0xd4a) => "Neoverse E1",
        (0x41, 0xd4b) => "Cortex-A78C",
        (0x41, 0xd4c) => "Cortex-X1C",
        (0x41, 0xd4d) => "Cortex-A715",
        (0x41, 0xd4e) => "Cortex-X3",
        (0x41, 0xd4f) => "Neoverse V2",
        (0x41, 0xd80) => "Cortex-A520",
        (0x41, 0xd81) => "Cortex-A720",
        (0x41, 0xd82) => "Cortex-X4",
        (0x41, 0xd83) => "Neoverse V3AE",
        (0x41, 0xd84) => "Neoverse V3",
        (0x41, 0xd85) => "Cortex-X925",
        (0x41, 0xd87) => "Cortex-A725",
        (0x41, 0xd8e) => "Neoverse N3",
        (0x43, 0x0a1) => "ThunderX",
        (0x43, 0x0af) => "ThunderX2",
        (0x46, 0x001) => "A64FX",
        (0x48, 0xd01) => "TaiShan v110",
        (0x48, 0xd02) => "TaiShan v120",
        (0x4e, 0x003) => "Denver 2",
        (0x4e, 0x004) => "Carmel",
        (0x51, 0x001) => "Oryon",
        (0x51, 0x800) => "Kryo 2xx Gold",
        (0x51, 0x801) => "Kryo 2xx Silver",
        (0x51, 0x802) => "Kryo 3xx Gold",
        (0x51, 0x803) => "Kryo 3xx Silver",
        (0x51, 0x804) => "Kryo 4xx Gold",
        (0x51, 0x805) => "Kryo 4xx Silver",
        (0x51, 0xc00) => "Falkor",
        (0x61, 0x020 | 0x022 | 0x024 | 0x028) => "Icestorm",
        (0x61, 0x021 | 0x023 | 0x025 | 0x029) => "Firestorm",
        (0x61, 0x030 | 0x032 | 0x034 | 0x038) => "Blizzard",
        (0x61, 0x031 | 0x033 | 0x035 | 0x039) => "Avalanche",
        (0x6d, 0xd49) => "Azure Cobalt 100 (Neoverse N2)",
        (0xc0, 0xac3) => "Ampere-1",
        (0xc0, 0xac4) => "Ampere-1a",
        _ => return None,
    })
}

/// The vendor that an ARM implementer code stands for.
pub fn arm_implementer(code: u32) -> Option<&'static str> {
    Some(match code {
        0x41 => "Arm",
        0x42 => "Broadcom",
        0x43 => "Cavium",
        0x46 => "Fujitsu",
        0x48 => "HiSilicon",
        0x4e => "NVIDIA",
        0x50 => "APM",
        0x51 => "Qualcomm",
        0x53 => "Samsung",
        0x56 => "Marvell",
        0x61 => "Apple",
        0x6d => "Microsoft",
        0x70 => "Phytium",
        0xc0 => "Ampere",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x86(vendor: &str, family: u32, model: u32, stepping: u32) -> Option<&'static str> {
        microarchitecture(vendor, &CpuSignature::X86 { family, model, stepping })
    }

    #[test]
    fn every_zen() {
        for (family, model, name) in [
            (0x17, 0x01, "Zen"),    // Naples
            (0x17, 0x08, "Zen+"),   // Pinnacle Ridge
            (0x17, 0x31, "Zen 2"),  // Rome
            (0x17, 0x71, "Zen 2"),  // Matisse
            (0x19, 0x01, "Zen 3"),  // Milan
            (0x19, 0x21, "Zen 3"),  // Vermeer
            (0x19, 0x11, "Zen 4"),  // Genoa
            (0x19, 0x61, "Zen 4"),  // Raphael
            (0x19, 0xa0, "Zen 4c"), // Bergamo
            (0x1a, 0x02, "Zen 5"),  // Turin
            (0x1a, 0x11, "Zen 5c"), // Turin Dense
            (0x1a, 0x44, "Zen 5"),  // Granite Ridge
        ] {
            assert_eq!(x86("AuthenticAMD", family, model, 0), Some(name), "{family:x} {model:x}");
        }
        assert_eq!(x86("AuthenticAMD", 0x1b, 0, 0), None);
    }

    #[test]
    fn steppings_distinguish_the_skylake_servers() {
        assert_eq!(x86("GenuineIntel", 6, 0x55, 4), Some("Skylake"));
        assert_eq!(x86("GenuineIntel", 6, 0x55, 7), Some("Cascade Lake"));
        assert_eq!(x86("GenuineIntel", 6, 0x55, 11), Some("Cooper Lake"));
        assert_eq!(x86("GenuineIntel", 15, 0x55, 4), None, "not family 6");
        assert_eq!(x86("VirtualApple", 6, 0x55, 4), None, "not of Intel");
    }

    /// So that no line of the tables is lost, or of another implementer's parts.
    #[test]
    fn every_part_that_is_known_has_its_name() {
        let known = |implementer| (0..0x1000).filter(move |&part| arm(implementer, part).is_some());
        let counts = (0..=0xff).map(|implementer| (implementer, known(implementer).count()));
        let counts: Vec<(u32, usize)> = counts.filter(|(_, count)| *count > 0).collect();
        let expected = [
            (0x41, 34),
            (0x43, 2),
            (0x46, 1),
            (0x48, 2),
            (0x4e, 2),
            (0x51, 8),
            (0x61, 16),
            (0x6d, 1),
            (0xc0, 2),
        ];
        assert_eq!(counts, expected);
    }

    #[test]
    fn arm_parts_belong_to_their_implementer() {
        let arm = |implementer, part| {
            microarchitecture("", &CpuSignature::Arm { implementer, variant: 0, part, revision: 0 })
        };
        assert_eq!(arm(0x41, 0xd0c), Some("Neoverse N1"));
        assert_eq!(arm(0x61, 0x023), Some("Firestorm"));
        assert_eq!(arm(0x42, 0xd0c), None);
        assert_eq!(arm_implementer(0x41), Some("Arm"));
    }
}
