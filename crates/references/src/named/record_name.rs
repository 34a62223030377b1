//! How records are called, and when two ways of writing a name are one.

use crate::machine::cpu_name::{names_no_model, plain_cpu_name};
use crate::record::{BoardReport, CloudType, InstructionTimings, Provider};

/// Makers, whose name may be left out.
const MAKERS: [&str; 14] = [
    "amazon",
    "amd",
    "apple",
    "friendlyarm",
    "friendlyelec",
    "genuine",
    "hardkernel",
    "intel",
    "khadas",
    "nvidia",
    "pine64",
    "radxa",
    "starfive",
    "xunlong",
];

/// Letters and digits in lower case; a plus is a word.
pub(super) fn squeezed(name: &str) -> String {
    let name = name.to_lowercase().replace('+', "plus");
    name.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// A type as its provider calls it.
pub(super) fn cloud_key(one: &CloudType) -> String {
    one.type_name.clone()
}

/// The same with the provider, where two have it.
pub(super) fn cloud_key_in_full(one: &CloudType) -> String {
    format!("{}/{}", provider_name(one.provider), one.type_name)
}

/// Whether a squeezed name is that of a type: `m7ilarge`, `awsm7ilarge`, `d2sv5`.
pub(super) fn is_cloud_type(asked: &str, one: &CloudType) -> bool {
    let asked = asked.strip_prefix(provider_name(one.provider)).unwrap_or(asked);
    let own = squeezed(&one.type_name);
    let short = ["standard", "ecs"].iter().find_map(|start| own.strip_prefix(start));
    asked == own || short == Some(asked)
}

pub(super) fn provider_name(provider: Provider) -> &'static str {
    match provider {
        Provider::Aws => "aws",
        Provider::Azure => "azure",
        Provider::Gcp => "gcp",
        Provider::Alicloud => "alicloud",
        Provider::Ovh => "ovh",
        Provider::Hcloud => "hcloud",
        Provider::Upcloud => "upcloud",
        Provider::Vultr => "vultr",
        Provider::Hetzner => "hetzner",
    }
}

/// The words of a board's name without its maker: `rock-5b` of `Radxa ROCK 5 Model B review`.
pub(super) fn board_words(name: &str) -> String {
    let lower = name.to_lowercase().replace('+', "plus");
    let ends = [" rev ", " (", " / ", " review"].iter().filter_map(|end| lower.find(end));
    let words = lower[..ends.min().unwrap_or(lower.len())]
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '.')
        .filter(|word| !word.is_empty() && *word != "model" && !MAKERS.contains(word));
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    // `5 Model B` and `5B` are one.
    if words.len() > 1 && words.last().is_some_and(|last| last.len() == 1) {
        let letter = words.pop().unwrap_or_default();
        if let Some(before) = words.last_mut().filter(|before| before.ends_with(is_digit)) {
            before.push_str(&letter);
        } else {
            words.push(letter);
        }
    }
    words.join("-")
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// What a board is called; a report without a name by its id.
pub(super) fn board_key(one: &BoardReport) -> String {
    let named = one.board.as_deref().map(board_words).filter(|name| !name.is_empty());
    named.unwrap_or_else(|| one.id.clone())
}

/// The words of a CPU's name without its maker, clock and number of cores: `ryzen-9-5900x`, `i9-12900k`.
pub(super) fn cpu_key(name: &str) -> String {
    let plain = plain_cpu_name(name).replace('+', "plus");
    let words: Vec<&str> = plain.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let follows = |at: usize, start: &str| {
        words.get(at + 1).is_some_and(|next: &&str| next.starts_with(start))
    };
    // `Core i9`, but `Core 2`.
    let is_series = |at: usize| words[at] == "core" && (follows(at, "i") || follows(at, "ultra"));
    let kept = (0..words.len())
        .filter(|&at| !words[at].is_empty() && !MAKERS.contains(&words[at]) && !is_series(at));
    kept.map(|at| words[at]).collect::<Vec<_>>().join("-")
}

/// The CPU's name where it names a model, else what the publication calls it.
pub(super) fn timings_key(one: &InstructionTimings) -> String {
    match one.brand.as_deref().filter(|brand| !names_no_model(brand)) {
        Some(brand) => cpu_key(brand),
        None => one.name.to_lowercase().replace('_', "-"),
    }
}

/// The same by its signature, which two vendors may share.
pub(super) fn timings_key_in_full(one: &InstructionTimings) -> String {
    format!("{}-{}", one.vendor.cpuid_name(), one.leaf1_eax).to_lowercase()
}

/// Whether a name is that of a CPU: its own, the publication's, or its signature.
pub(super) fn is_timed_cpu(asked: &str, one: &InstructionTimings) -> bool {
    let (asked, as_cpu) = (squeezed(asked), cpu_key(asked));
    let own = [timings_key(one), one.name.clone(), one.leaf1_eax.clone(), timings_key_in_full(one)];
    own.iter().any(|name| squeezed(name) == asked) || timings_key(one) == as_cpu
}

/// The same as letters and digits, by which two names are those of one CPU.
pub(super) fn squeezed_cpu(name: &str) -> String {
    squeezed(&cpu_key(name))
}
