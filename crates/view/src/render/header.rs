//! On what, when and in what conditions a run was made.

use super::figures::{clock, elapsed};
use super::{machine, noise};
use model::conditions::Conditions;
use model::imported::{Imported, UNKNOWN};
use model::phrases::short_id;
use model::run::{Program, Run, Scale};
use model::share::percent;
use model::story::Block;
use model::utc;

/// The label of the file system that files were written to.
const FILES_ON: &str = "files on";

/// The profile whose figures are a program's.
const RELEASE: &str = "release";

/// The lines above the table.
pub(crate) fn header(run: &Run) -> Vec<Block> {
    let mut blocks = warning_blocks(Some(run));
    let facts = header_facts(run).into_iter();
    blocks.extend(facts.map(|(label, text)| Block::fact(label, text)));
    blocks
}

/// The same for a page that may be sent to others: without warnings, which
/// stand at its top, and without naming a directory.
pub(crate) fn facts_for_others(run: &Run) -> Vec<Block> {
    let named = |(label, text): (&'static str, String)| match &run.files_on {
        Some(filesystem) if label == FILES_ON => (label, filesystem.one_line()),
        _ => (label, text),
    };
    let facts = header_facts(run).into_iter().map(named);
    facts.map(|(label, text)| Block::fact(label, text)).collect()
}

/// What must be known above a short page: machine, clock, conditions.
pub(super) fn short(run: &Run) -> Vec<Block> {
    let mut blocks = warning_blocks(Some(run));
    let known = header_facts(run).into_iter();
    let known = known.filter(|(label, _)| SHORT.contains(label));
    blocks.extend(known.map(|(label, text)| Block::fact(label, text)));
    blocks
}

/// The facts of a short page.
const SHORT: [&str; 6] = ["machine", "measured by", "core clock", "conditions", "memory", "run"];

/// The warnings of a run, coloured.
pub(crate) fn warning_blocks(run: Option<&Run>) -> Vec<Block> {
    let warnings = run.map(warnings).unwrap_or_default().into_iter();
    warnings.map(|warning| Block::warning("", warning)).collect()
}

/// What there is to say of a run as a whole: label and text.
fn header_facts(run: &Run) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut fact = |label, text: String| facts.push((label, text));
    fact("machine", run.machine.one_line());
    if let Some(kind) = &run.plan.core_kind {
        fact("cores", core_kind(run, kind));
    }
    match &run.imported {
        // What that program's clock and conditions were, nobody wrote down.
        Some(imported) => {
            fact("measured by", measured_by(run, imported));
            if !run.conditions.remarks.is_empty() {
                fact("conditions", run.conditions.remarks.join("; "));
            }
            fact("run", imported_description(run, imported));
        }
        None => {
            // A run of commands has no canaries, and no samples short enough to
            // need the clock's own cost.
            if run.is_of_rows() {
                fact("core clock", core_clock(run));
                fact("timed by", timed_by(run));
            }
            Some(conditions(run))
                .filter(|text| !text.is_empty())
                .into_iter()
                .for_each(|text| fact("conditions", text));
            if let Some(filesystem) = &run.files_on {
                fact(FILES_ON, machine::files_on_text(filesystem));
            }
            fact("run", description(run));
        }
    }
    if let Some(why) = &run.plan.shrunk {
        fact("memory", format!("SHORT: {why}"));
    }
    facts
}

/// What must not be overlooked.
pub(super) fn warnings(run: &Run) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(by) = run.emulator() {
        warnings.push(format!("EMULATED under {by}: the figures are not those of hardware."));
    }
    // How another program was built, its file does not say.
    if run.imported.is_none() && run.program.profile != RELEASE {
        warnings.push(format!(
            "BUILT AS {}: rows of compiled Rust (codecs, collections, pools, locks) are slower than in \
             a release build; measure with cargo run --release.",
            run.program.profile
        ));
    }
    if run.plan.in_process {
        warnings.push(
            "IN ONE PROCESS: intervals don't include the variation between processes.".into(),
        );
    }
    if let Some(why) = &run.partial {
        warnings.push(format!("PARTIAL: {why}"));
    }
    if run.is_contended() {
        warnings.push(format!("WARNING: {}", run.gate.reason));
    }
    warnings
}

pub(super) fn is_emulated(run: &Run) -> bool {
    run.emulator().is_some()
}

/// Which kind of cores the run kept to, and which they are.
fn core_kind(run: &Run, kind: &str) -> String {
    let kinds = run.machine.core_kinds.get().map_or(0, Vec::len);
    format!("only {kind}, one of {kinds} kinds")
}

fn core_clock(run: &Run) -> String {
    match &run.core_clock {
        None => "unknown: not measured by any row of this run".into(),
        Some(c) => format!(
            "{} ({:.2} to {:.2} GHz over the run)",
            clock(&c.cycle_ns),
            1.0 / c.longest_ns,
            1.0 / c.shortest_ns
        ),
    }
}

fn timed_by(run: &Run) -> String {
    let clock = &run.clock;
    let cost = clock
        .cost_ns
        .map_or(String::new(), |ns| format!("; an empty measurement reads {ns:.1} ns"));
    format!("{}, {:.4} ns a tick ({}){cost}", clock.name, clock.ns_per_tick, clock.source)
}

fn conditions(run: &Run) -> String {
    conditions_in_words(run).join("; ")
}

/// What the noise was, and what was done about it, in a few words each.
pub(crate) fn conditions_in_words(run: &Run) -> Vec<String> {
    let conditions = &run.conditions;
    let mut parts = Vec::new();
    if !run.is_of_recording() {
        parts.push(pinning(conditions));
    }
    // Commands have a line of their own for it.
    let applied = conditions.applied.as_ref();
    if let (Some(applied), None) = (applied, &run.commands) {
        parts.extend(applied.in_force());
    }
    let load = |moment: &model::conditions::Moment| moment.load_average.map(|load| load[0]);
    if let (Some(before), Some(after)) = (load(&conditions.before), load(&conditions.after)) {
        parts.push(format!("load {before:.2} before, {after:.2} after"));
    }
    parts.extend(disturbances(run));
    parts.extend(conditions.remarks.iter().cloned());
    parts
}

/// What took the CPU from the run, as far as it is known, in a few words each.
pub(crate) fn disturbances(run: &Run) -> Vec<String> {
    let conditions = &run.conditions;
    let mut parts = Vec::new();
    if let Some(pressure) = conditions.before.cpu_pressure_percent {
        parts.push(format!("CPU pressure {} before", percent(pressure / 100.0)));
    }
    let stolen = conditions
        .after
        .steal_ns
        .zip(conditions.before.steal_ns)
        .map(|(after, before)| after.saturating_sub(before))
        .filter(|&ns| ns > 0);
    if let Some(ns) = stolen {
        parts.push(format!("steal {}", model::figure::time(ns as f64)));
    }
    if let Some(us) = conditions.throttled_us().filter(|&us| us > 0) {
        parts.push(format!(
            "throttled by the CPU quota for {}",
            model::figure::time(us as f64 * 1e3)
        ));
    }
    parts.extend(conditions.osnoise.as_ref().map(noise::osnoise::conditions_text));
    parts
}

fn pinning(conditions: &Conditions) -> String {
    let cpus: Vec<String> = conditions.pinned_cpus.iter().map(u32::to_string).collect();
    match (&conditions.not_pinned, cpus.as_slice()) {
        (Some(why), _) => format!("not pinned: {why}"),
        (None, []) => "not pinned".into(),
        (None, [only]) => format!("pinned to CPU {only}"),
        (None, several) => format!("pinned to CPUs {}", several.join(", ")),
    }
}

fn measured_by(run: &Run, imported: &Imported) -> String {
    let when = match &imported.measured_at {
        Some(when) => format!(" on {when}"),
        None => String::new(),
    };
    format!(
        "{}{when}, not by latlas: figures as in its file; clock, conditions and outliers unknown",
        program_line(&run.program)
    )
}

fn imported_description(run: &Run, imported: &Imported) -> String {
    let short = short_id(&run.id);
    format!(
        "{short}, imported {} by {} from {}",
        utc::readable_utc(run.started_unix_ms),
        imported.by,
        imported.from.join(", ")
    )
}

fn description(run: &Run) -> String {
    let scale = match run.plan.scale {
        Scale::Quick => "quick",
        Scale::Default => "default",
        Scale::Full => "full",
    };
    let short = short_id(&run.id);
    let plan = match (&run.commands, run.is_of_recording()) {
        (Some(_), _) => ", commands".into(),
        (_, true) => run.plan.asked.iter().map(|asked| format!(", {asked}")).collect(),
        (_, false) => format!(", {scale} plan"),
    };
    format!(
        "{short}, {}, {}{plan}, seed {}, {}",
        utc::readable_utc(run.started_unix_ms),
        elapsed(run.wall_ms),
        run.plan.seed,
        program_line(&run.program)
    )
}

pub(super) fn program_line(program: &Program) -> String {
    let commit = program.commit.as_deref().map(|c| c.get(..10).unwrap_or(c));
    let mut parts: Vec<&str> = commit.into_iter().collect();
    if !matches!(program.profile.as_str(), RELEASE | UNKNOWN) {
        parts.push(&program.profile);
    }
    let details = match parts.is_empty() {
        true => String::new(),
        false => format!(" ({})", parts.join(", ")),
    };
    let version = match program.version.as_str() {
        UNKNOWN => "(version unknown)",
        version => version,
    };
    format!("{} {version}{details}", program.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::plain;
    use model::synthetic;

    fn header_text(run: &Run) -> String {
        plain(&header(run))
    }

    #[test]
    fn a_build_that_is_not_optimised_says_so_first() {
        let mut run = synthetic::run();
        assert!(!header_text(&run).contains("BUILT AS"));
        run.program.profile = "debug".into();
        let text = header_text(&run);
        assert!(text.starts_with("BUILT AS debug: "), "{text}");
        assert!(text.contains("cargo run --release"), "{text}");
    }

    #[test]
    fn a_run_on_one_kind_of_cores_says_so() {
        let mut run = synthetic::run();
        assert!(!header_text(&run).contains("only performance"));
        run.plan.core_kind = Some("performance (P-core)".into());
        let only = run.machine.core_kinds.value.clone().expect("synthetic");
        run.machine.core_kinds.value = Some([only.clone(), only].concat());
        let text = header_text(&run);
        let line = text.lines().find(|line| line.starts_with("cores "));
        assert_eq!(
            line.expect("a line").split_once(' ').expect("words").1.trim(),
            "only performance (P-core), one of 2 kinds"
        );
    }
}
