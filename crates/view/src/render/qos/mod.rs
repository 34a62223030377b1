//! What `latlas qos` prints: what follows, the shares that it follows from, where the
//! blocks ran, times, what each level is here.

mod knobs;
mod oakley;
mod tables;

#[cfg(test)]
mod tests;

pub(crate) use knobs::knobs;
pub use oakley::oakley;

use crate::chart::{of_cpu_history_while, of_shares};
use model::cpu_history::CpuHistory;
use model::qos::shares::{self, CLOSE, CLOSE_RATIO};
use model::qos::{Qos, verdict};
use model::share::percent;
use model::size;
use model::story::Block;

/// Parts of the page; `unknown_kinds` says why kinds of cores are not known.
pub(crate) fn qos(
    document: &Qos,
    unknown_kinds: Option<&str>,
    has_pictures: bool,
) -> Vec<Vec<Block>> {
    vec![
        conclusions(document, unknown_kinds),
        shares(document, has_pictures),
        places(document),
        histories(document),
        times(document),
        levels(document),
        header(document),
    ]
}

fn header(document: &Qos) -> Vec<Block> {
    let how = &document.how;
    let rounds = model::phrases::counted(how.rounds as usize, "round");
    let mut blocks = vec![Block::Heading("Job and conditions".into())];
    blocks.push(Block::labelled("rounds: ", format!("{rounds}, interleaved, seed {}", how.seed)));
    let ratio = how.file_bytes as f64 / how.compressed_bytes.max(1) as f64;
    blocks.push(Block::labelled(
        "job: ",
        format!(
            "{} compressed {} with {} in blocks of {} (ratio {ratio:.2}), {} at once on {}",
            size::format_size(how.file_bytes),
            match how.passes {
                1 => "once".into(),
                passes => format!("{passes} times"),
            },
            how.codec.name_and_level(),
            size::format_size(how.block_bytes),
            model::phrases::counted(how.operations as usize, "operation"),
            model::phrases::counted(how.cpus.len(), "CPU"),
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
                     over the time of the same level alone, round by round (of fewer than 6 rounds the \
                     least and the most).";
    vec![
        Block::Heading("Times".into()),
        Block::Table(tables::times_table(document)),
        Block::note(explained),
        Block::empty_line(),
        Block::Heading("Scheduling".into()),
        Block::Table(tables::scheduling(document)),
        Block::note(match tables::counts_run_delay(document) {
            true => {
                "All threads of the job. Run delay: time in which they waited for a CPU; switches: \
                 of both kinds."
            }
            false => {
                "All threads of the job. Run delay: not counted by this system, so a time may be in \
                 part a wait for a CPU; switches: of both kinds."
            }
        }),
    ]
}

fn shares(document: &Qos, has_pictures: bool) -> Vec<Block> {
    let shares = shares::share_pairs(document);
    if shares.is_empty() {
        return Vec::new();
    }
    let mut blocks =
        vec![Block::Heading("Share of the CPU time of the lower level, while both ran".into())];
    // The table says the same in letters.
    blocks.extend(of_shares(&shares).filter(|_| has_pictures).map(Block::chart));
    blocks.push(Block::Table(tables::shares_table(&shares)));
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
                Block::Heading(format!("CPUs, first round: {}", case.label())),
                Block::chart(of_cpu_history_while(history, &case.label())),
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
            "CPU {} did most: {} of the work; {} if all are used equally; coefficient of \
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
