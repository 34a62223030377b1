//! What the CPU calls itself: CPUID where there is one, else /proc/cpuinfo.

use model::machine::{CpuSignature, Fact};

use super::topology;
use crate::files::{Files, Tree};
use crate::machine::Live;
use crate::microarchitecture::{arm_implementer, contradiction, microarchitecture};

/// Where the kernel describes the CPUs.
pub(super) const CPUS: &str = "/sys/devices/system/cpu";

const CPUINFO: &str = "/proc/cpuinfo";

/// Facts of the first CPU, and the signature of each.
pub(super) struct Cpu {
    pub(super) model: Fact<String>,
    pub(super) vendor: Fact<String>,
    pub(super) signature: Fact<CpuSignature>,
    pub(super) microarchitecture: Fact<String>,
    /// ARM only, where CPUs of one machine differ: (CPU, signature).
    pub(super) arm_signatures: Vec<(u32, CpuSignature)>,
}

pub(super) fn read_cpu(tree: &Tree, live: &Live, online: &[u32]) -> Cpu {
    let cpuinfo = tree.text(CPUINFO).unwrap_or_default();
    if let Some(cpuid) = &live.cpuid {
        let signature = CpuSignature::X86 {
            family: cpuid.family,
            model: cpuid.model,
            stepping: cpuid.stepping,
        };
        return Cpu {
            model: Fact::or_unknown(
                cpuid.brand.clone(),
                "the CPU has no brand string (CPUID leaves 8000_0002h to 8000_0004h)",
            )
            .from_source("CPUID"),
            vendor: Fact::known(cpuid.vendor.clone()).from_source("CPUID"),
            microarchitecture: design(&cpuid.vendor, &signature, &cpuinfo),
            signature: Fact::known(signature).from_source("CPUID"),
            arm_signatures: Vec::new(),
        };
    }
    let describes_x86 = field(&cpuinfo, "vendor_id").is_some();
    if is_arm(&live.arch) {
        if describes_x86 {
            let host = field(&cpuinfo, "model name").unwrap_or("an x86 CPU");
            return unknown(&format!(
                "{CPUINFO} describes the host ({host}), not the {} CPU this program sees: it runs under an emulator",
                live.arch
            ));
        }
        return arm(tree, &cpuinfo, online);
    }
    if describes_x86 {
        return x86(&cpuinfo);
    }
    unknown(&format!("{CPUINFO} names no CPU that latlas can read"))
}

fn unknown(why: &str) -> Cpu {
    Cpu {
        model: Fact::unknown(why),
        vendor: Fact::unknown(why),
        signature: Fact::unknown(why),
        microarchitecture: Fact::unknown(why),
        arm_signatures: Vec::new(),
    }
}

fn design(vendor: &str, signature: &CpuSignature, cpuinfo: &str) -> Fact<String> {
    let features = field(cpuinfo, "flags").unwrap_or("");
    match microarchitecture(vendor, signature) {
        Some(name) => match contradiction(name, features) {
            Some(why) => Fact::unknown(why),
            None => Fact::known(name.to_owned()),
        },
        None => Fact::unknown(format!("{vendor} {signature} is not in latlas's table")),
    }
}

fn x86(cpuinfo: &str) -> Cpu {
    let number = |key| field(cpuinfo, key).and_then(|text| text.parse().ok());
    let vendor = field(cpuinfo, "vendor_id").unwrap_or("").to_owned();
    let signature = number("cpu family")
        .zip(number("model"))
        .zip(number("stepping"))
        .map(|((family, model), stepping)| CpuSignature::X86 { family, model, stepping });
    let no = |what: &str| format!("{CPUINFO} does not give the {what}");
    Cpu {
        model: Fact::or_unknown(field(cpuinfo, "model name").map(str::to_owned), no("model name"))
            .from_source(CPUINFO),
        microarchitecture: match &signature {
            Some(signature) => design(&vendor, signature, cpuinfo),
            None => Fact::unknown(no("family, model and stepping")),
        },
        vendor: Fact::known(vendor).from_source(CPUINFO),
        signature: Fact::or_unknown(signature, no("family, model and stepping"))
            .from_source(CPUINFO),
        arm_signatures: Vec::new(),
    }
}

/// Whether this is a processor of the ARM architectures.
pub(super) fn is_arm(arch: &str) -> bool {
    matches!(arch, "aarch64" | "arm")
}

fn arm(tree: &Tree, cpuinfo: &str, online: &[u32]) -> Cpu {
    let (arm_signatures, why) = match arm_signatures(tree, cpuinfo, online) {
        Ok(all) => (all, String::new()),
        Err(why) => (Vec::new(), why.to_string()),
    };
    let (vendor, signature, microarchitecture) = match arm_signatures.first() {
        Some(&(_, signature)) => {
            let CpuSignature::Arm { implementer, .. } = signature else {
                return unknown(&why);
            };
            let vendor = Fact::or_unknown(
                arm_implementer(implementer).map(str::to_owned),
                format!("implementer {implementer:#x} is not in latlas's table"),
            )
            .from_source("MIDR_EL1");
            let name = vendor.value.clone().unwrap_or_else(|| "ARM".to_owned());
            (
                vendor,
                Fact::known(signature).from_source("MIDR_EL1"),
                design(&name, &signature, cpuinfo),
            )
        }
        None => (Fact::unknown(&why), Fact::unknown(&why), Fact::unknown(&why)),
    };
    Cpu {
        model: arm_model(tree, cpuinfo, &microarchitecture),
        vendor,
        signature,
        microarchitecture,
        arm_signatures,
    }
}

/// ARM CPUs have no brand string: what the kernel, the board's description
/// or the design's name give, in this order.
fn arm_model(tree: &Tree, cpuinfo: &str, design: &Fact<String>) -> Fact<String> {
    for key in ["model name", "Hardware"] {
        if let Some(name) = field(cpuinfo, key) {
            return Fact::known(name.to_owned()).from_source(CPUINFO);
        }
    }
    const BOARD: &str = "/proc/device-tree/model";
    if let Some(board) = tree.text(BOARD) {
        return Fact::known(board).from_source(BOARD);
    }
    match &design.value {
        Some(name) => Fact::known(name.clone()).from_source("MIDR_EL1"),
        None => Fact::unknown("an ARM CPU has no brand string, and no file names the board"),
    }
}

/// Why the design of ARM CPUs is not known.
#[derive(thiserror::Error, Debug)]
enum NoSignature {
    #[error("neither {CPUINFO} nor {CPUS}/cpu0/regs gives the CPU's identification")]
    None,
    #[error("{CPUINFO} gives one identification, and the CPUs are of several clusters")]
    OneForAll,
}

/// The ID of each CPU: those of /proc/cpuinfo, or the register itself as the kernel exports it.
/// Before Linux 3.19 the file has one, that of the CPU on which it was read, behind the numbers of
/// all: it is taken for theirs if nothing tells them apart.
fn arm_signatures(
    tree: &Tree,
    cpuinfo: &str,
    online: &[u32],
) -> Result<Vec<(u32, CpuSignature)>, NoSignature> {
    let read = signatures_of(cpuinfo);
    let each: Option<Vec<_>> = read
        .iter()
        .map(|(cpus, signature)| match cpus.as_slice() {
            [cpu] => Some((*cpu, *signature)),
            _ => None,
        })
        .collect();
    if let Some(each) = each.filter(|each| !each.is_empty()) {
        return Ok(each);
    }
    let exported: Vec<_> = cpu_numbers(tree)
        .into_iter()
        .filter_map(|cpu| {
            let path = format!("{CPUS}/cpu{cpu}/regs/identification/midr_el1");
            Some((cpu, arm_signature(hex(&tree.text(&path)?)?)))
        })
        .collect();
    match read.first() {
        _ if !exported.is_empty() => Ok(exported),
        Some((_, signature)) if topology::is_uniform(tree, online) => {
            Ok(online.iter().map(|&cpu| (cpu, *signature)).collect())
        }
        Some(_) => Err(NoSignature::OneForAll),
        None => Err(NoSignature::None),
    }
}

/// Each identification of /proc/cpuinfo, whose last line is the revision, with the CPUs whose
/// numbers precede it.
fn signatures_of(cpuinfo: &str) -> Vec<(Vec<u32>, CpuSignature)> {
    let mut found = Vec::new();
    let (mut from, mut to) = (0, 0);
    for line in cpuinfo.split_inclusive('\n') {
        to += line.len();
        if field(line, "CPU revision").is_none() {
            continue;
        }
        let text = &cpuinfo[from..to];
        from = to;
        let numbers = text.lines().filter_map(|line| field(line, "processor"));
        let cpus = numbers.filter_map(|number| number.parse().ok()).collect();
        found.extend(signature_of(text).map(|signature| (cpus, signature)));
    }
    found
}

fn signature_of(text: &str) -> Option<CpuSignature> {
    Some(CpuSignature::Arm {
        implementer: hex(field(text, "CPU implementer")?)?,
        variant: hex(field(text, "CPU variant")?)?,
        part: hex(field(text, "CPU part")?)?,
        revision: field(text, "CPU revision")?.parse().ok()?,
    })
}

/// The fields of MIDR_EL1 (Arm ARM, D19: implementer 31:24, variant 23:20,
/// architecture 19:16, part 15:4, revision 3:0).
fn arm_signature(midr: u32) -> CpuSignature {
    CpuSignature::Arm {
        implementer: midr >> 24 & 0xff,
        variant: midr >> 20 & 0xf,
        part: midr >> 4 & 0xfff,
        revision: midr & 0xf,
    }
}

/// A hexadecimal number with 0x; the kernel writes MIDR as 64 bits.
fn hex(text: &str) -> Option<u32> {
    let digits = text.trim().strip_prefix("0x")?;
    u32::try_from(u64::from_str_radix(digits, 16).ok()?).ok()
}

/// The first `key : value` of /proc/cpuinfo.
pub(super) fn field<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let value = value.trim();
        (name.trim() == key && !value.is_empty()).then_some(value)
    })
}

/// The numbers of the cpuN directories, ascending.
pub(super) fn cpu_numbers(tree: &Tree) -> Vec<u32> {
    let mut numbers: Vec<u32> =
        tree.names(CPUS).iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_register_is_taken_apart() {
        assert_eq!(
            arm_signature(0x413f_d0c1),
            CpuSignature::Arm { implementer: 0x41, variant: 3, part: 0xd0c, revision: 1 }
        );
        assert_eq!(hex("0x00000000413fd0c1"), Some(0x413f_d0c1));
    }
}
