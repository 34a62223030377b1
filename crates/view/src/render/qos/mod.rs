//! What `latlas qos` prints: what each level is here, times, shares, where the
//! blocks ran, and what follows.

mod knobs;
mod oakley;
mod tables;

#[cfg(test)]
mod tests;

pub use knobs::knobs;
pub use oakley::oakley;

use crate::render::joined;
use model::qos::figures::{self, CLOSE};
use model::qos::{Qos, verdict};
use model::story::Block;
use model::{figure, size, utc};

/// The whole page.
pub fn qos(document: &Qos) -> Vec<Block> {
    joined(vec![
        header(document),
        levels(document),
        times(document),
        shares(document),
        places(document),
        conclusions(document),
    ])
}

fn header(document: &Qos) -> Vec<Block> {
    let how = &document.how;
    let mut blocks = Vec::new();
    if let Some(why) = &document.partial {
        blocks.push(Block::warning("PARTIAL: ", why));
    }
    blocks.push(Block::text(document.machine.one_line()));
    blocks.push(Block::text(format!(
        "{}, {}: {}, interleaved, seed {}",
        utc::text(document.started_unix_ms),
        figure::time(document.wall_ms as f64 * 1e6),
        model::text::counted(how.rounds as usize, "round"),
        how.seed
    )));
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
    let remarks = document.remarks.iter();
    blocks.extend(remarks.map(|remark| Block::labelled("note: ", remark)));
    blocks
}

fn levels(document: &Qos) -> Vec<Block> {
    if document.levels.is_empty() {
        return Vec::new();
    }
    vec![
        Block::Heading("Levels on this system".into()),
        Block::Table(tables::levels(document)),
    ]
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
    let shares = figures::shares(document);
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
             session. Up to {:.0} points apart they agree.",
            CLOSE * 100.0
        ),
    };
    blocks.push(Block::note(explained));
    blocks
}

fn places(document: &Qos) -> Vec<Block> {
    let Some(table) = tables::places(document) else {
        return Vec::new();
    };
    vec![
        Block::Heading("CPUs of the jobs that ran alone".into()),
        Block::Table(table),
        Block::note(
            "Share of the job's CPU time, and blocks per second of CPU time there: a share alone \
             says nothing about the speed of a core.",
        ),
    ]
}

fn conclusions(document: &Qos) -> Vec<Block> {
    let all = verdict::conclusions(document);
    if all.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("Conclusions".into())];
    let lines = all.iter();
    blocks.extend(lines.map(|conclusion| Block::labelled("  - ", conclusion.to_string())));
    blocks
}
