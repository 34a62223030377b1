//! What is kept, as text.

use super::figures::counted;
use super::stored::{self, run_facts};
use model::story::Block;
use model::summary::KeptRun;
use model::tally::Tally;
use std::path::Path;
use store::index::{Percentile, Rebuilt, Verified};

/// The kept runs, a line each.
pub fn kept_runs(runs: &[KeptRun]) -> Vec<Block> {
    match runs {
        [] => Vec::new(),
        runs => vec![Block::Table(stored::runs_lines(runs).wide())],
    }
}

/// What is kept of one run.
pub fn kept_run(run: &KeptRun, bytes: u64, tally: &Tally) -> Vec<Block> {
    let document = format!("{}, {bytes} bytes", run.path.display());
    run_facts(run, &document, tally)
}

/// Where a machine stands among all, a line for each row; points of curves and
/// maps where they are asked for.
pub fn percentiles(all: &[Percentile], points: bool) -> Vec<Block> {
    vec![Block::Table(stored::percentiles(all, points).wide())]
}

/// What a rebuild came to.
pub fn rebuilt(rebuilt: &Rebuilt, index: &Path) -> Vec<Block> {
    let documents = counted(rebuilt.documents, "document");
    let index_exists = index.exists() || rebuilt.documents > 0;
    let index = index.display();
    let mut blocks = vec![Block::text(match (rebuilt.left_unchanged, index_exists) {
        (true, _) => format!("{index} left unchanged, with {documents}"),
        (false, true) => format!("{index} rebuilt from {documents}"),
        (false, false) => "no stored runs: no index needed".into(),
    })];
    if let Some(not_read) = &rebuilt.not_read {
        let documents = counted(not_read.documents, "document");
        let text = format!("{documents} can't be read now: {}", not_read.why);
        blocks.push(Block::text(text));
    }
    if rebuilt.unreadable > 0 {
        let documents = counted(rebuilt.unreadable, "document");
        let text = format!("{documents} can't be read: see latlas atlas verify");
        blocks.push(Block::text(text));
    }
    if rebuilt.left_over > 0 {
        let files = counted(rebuilt.left_over, "file");
        blocks.push(Block::text(format!("{files} left behind by killed writers removed")));
    }
    blocks
}

/// What a look at everything found.
pub fn verified(verified: &Verified) -> Vec<Block> {
    let counts = format!(
        "{} read, {} compared with the index",
        counted(verified.documents, "document"),
        counted(verified.results, "result")
    );
    let mut blocks = vec![Block::text(counts)];
    let mut say = |label: &str, text: String| {
        blocks.push(Block::labelled(format!("{label:<9}"), text));
    };
    for (label, damaged) in
        [("damaged", &verified.damaged), ("not read", &verified.unread), ("index", &verified.index)]
    {
        for damage in damaged {
            say(label, format!("{}: {}", damage.path.display(), damage.what));
        }
    }
    for tag in &verified.tags {
        say("tag", tag.clone());
    }
    for path in &verified.left_over {
        say("left over", format!(" {}", path.display()));
    }
    blocks.push(Block::text(match (verified.is_whole(), verified.index.is_empty()) {
        (true, _) => "no damage found",
        (false, false) => "nothing was changed; latlas atlas rebuild rebuilds the index",
        (false, true) => "nothing was changed",
    }));
    blocks
}
