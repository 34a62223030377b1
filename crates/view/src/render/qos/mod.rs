//! What `latlas qos` prints: what each level is here, times, shares, where the
//! blocks ran, and what follows.

mod knobs;
mod oakley;
mod tables;

#[cfg(test)]
mod tests;

pub(crate) use knobs::knobs;
pub use oakley::oakley;

use crate::chart::of_cpu_history;
use model::cpu_history::CpuHistory;
use model::qos::shares::{self, CLOSE, CLOSE_RATIO};
use model::qos::{Qos, verdict};
use model::share::percent;
use model::size;
use model::story::Block;

/// Parts of the page; `unknown_kinds` says why kinds of cores are not known.
pub(crate) fn qos(document: &Qos, unknown_kinds: Option<&str>) -> Vec<Vec<Block>> {
    vec![
        header(document),
        levels(document),
        times(document),
        shares(document),
        places(document),
        histories(document),
        conclusions(document, unknown_kinds),
    ]
}

fn header(document: &Qos) -> Vec<Block> {
    let how = &document.how;
    let rounds = model::text::counted(how.rounds as usize, "round");
    let mut blocks = vec![Block::text(format!("{rounds}, interleaved, seed {}", how.seed))];
    let ratio = how.file_bytes as f64 / how.compressed_bytes.max(1) as f64;
    blocks.push(Block::labelled(
        "job: ",
        format!(
            "{} compressed {} with {} in blocks of {} (ratio {ratio:.2}), {} at once on {}",
            size::text(how.file_bytes),
            match how.passes {
                1 => "once".into(),
                passes => format!("{passes} times"),
            },
            how.codec.text(),
            size::text(how.block_bytes),
            model::text::counted(how.operations as usize, "operation"),
            model::text::counted(how.cpus.len(), "CPU"),
        ),
    ));
    let conditions = &document.conditions;
    let power = match (conditions.power.get(), &conditions.power.unknown) {
        (Some(power), _) => power.clone(),
        (None, Some(why)) => format!("unknown ({why})"),
        (None, None) => "unknown".into(),
    };
    let user = match conditions.root {
        true => "root",
        false => "not root",
    };
    blocks.push(Block::labelled("power: ", format!("{power}; {user}")));
    blocks
}

fn levels(document: &Qos) -> Vec<Block> {
    if document.levels.is_empty() {
        return Vec::new();
    }
    vec![Block::Heading("Levels on this system".into()), Block::Table(tables::levels(document))]
}

fn times(document: &Qos) -> Vec<Block> {
    let explained = "Time from the common start to the last block, median of the rounds; x alone: \
                     over the time of the same level alone, round by round.";
    vec![
        Block::Heading("Times".into()),
        Block::Table(tables::times(document)),
        Block::note(explained),
        Block::empty_line(),
        Block::Heading("Scheduling".into()),
        Block::Table(tables::scheduling(document)),
        Block::note(
            "All threads of the job. Run delay: time in which they waited for a CPU; switches: of \
             both kinds.",
        ),
    ]
}

fn shares(document: &Qos) -> Vec<Block> {
    let shares = shares::shares(document);
    if shares.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![
        Block::Heading("Share of the CPU time of the lower level, while both ran".into()),
        Block::Table(tables::shares(&shares)),
    ];
    let explained = match &document.conditions.autogroups.unknown {
        Some(why) => format!("No prediction: {why}."),
        None => format!(
            "Predicted by the kernel's weights; holds while nothing else runs in either job's \
             session. x: measured over predicted. They agree if the whole interval is within {:.0} \
             points and a factor of {CLOSE_RATIO} (one nice value).",
            CLOSE * 100.0
        ),
    };
    blocks.push(Block::note(explained));
    blocks
}

fn places(document: &Qos) -> Vec<Block> {
    let tables = tables::places(document);
    if tables.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("Where the jobs ran".into())];
    for (number, table) in tables.into_iter().enumerate() {
        blocks.extend((number > 0).then(Block::empty_line));
        blocks.push(Block::Table(table));
    }
    blocks.push(Block::note(
        "Share of the job's CPU time over all rounds, and blocks per second of CPU time there, \
         which a share does not show. moved: blocks that began and ended elsewhere, or may have been \
         elsewhere.",
    ));
    let clocks = tables::clocks(document).unwrap_or("not measured".into());
    blocks.push(Block::labelled("clock: ", clocks));
    blocks
}

fn histories(document: &Qos) -> Vec<Block> {
    let recorded =
        document.cases.iter().filter_map(|runs| Some((runs.case, runs.history.as_ref()?)));
    let mut blocks: Vec<Block> = recorded
        .flat_map(|(case, history)| {
            [
                Block::Heading(format!("CPUs, first round: {}", case.name())),
                Block::chart(of_cpu_history(history)),
                Block::note(busiest(history)),
                Block::empty_line(),
            ]
        })
        .collect();
    // The next part has its own.
    blocks.pop();
    blocks
}

/// How unevenly the CPUs were used.
fn busiest(history: &CpuHistory) -> String {
    match history.imbalance() {
        Some(of) => format!(
            "CPU {} did most: {} of the work; {} if all are used alike; coefficient of \
             variation {:.2}.",
            of.busiest,
            percent(of.whole.busiest_share),
            percent(1.0 / of.cpus as f64),
            of.whole.variation
        ),
        None => "Imbalance: not known.".into(),
    }
}

fn conclusions(document: &Qos, unknown_kinds: Option<&str>) -> Vec<Block> {
    let all = verdict::conclusions(document, unknown_kinds);
    if all.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("Conclusions".into())];
    let lines = all.iter();
    blocks.extend(lines.map(|conclusion| Block::labelled("  - ", conclusion.to_string())));
    blocks
}
