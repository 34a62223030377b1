//! What is kept, as text.

use super::figures::counted;
use super::layout::finish;
use super::page;
use model::run::Scale;
use model::story::{Block, Table, left, right};
use model::summary::KeptRun;
use model::summary::Key;
use model::tally::Tally;
use model::utc;
use std::path::Path;
use store::index::{Percentile, Rebuilt, Verified};

/// The kept runs, a line each.
pub fn kept_runs(runs: &[KeptRun]) -> String {
    let mut table = Table::default();
    if !runs.is_empty() {
        table.columns = vec![
            left("began (UTC)"),
            left("id"),
            left("host"),
            left("what"),
            right("rows"),
            right("took"),
            left("program"),
            left("tags"),
        ];
    }
    for run in runs {
        // Without seconds and zone, which the heading has.
        let began: String = utc::text(run.started_unix_ms).chars().take(16).collect();
        table.row([
            began.into(),
            run.id.chars().take(8).collect::<String>().into(),
            run.host.as_deref().unwrap_or("?").into(),
            what(run).into(),
            run.rows.to_string().into(),
            took(run.wall_ms).into(),
            program(run).into(),
            run.tags.join(", ").into(),
        ]);
    }
    wide(table)
}

/// A table as wide as it needs to be: names are not cut.
fn wide(table: Table) -> String {
    page(&[Block::Table(table.wide())], false)
}

/// What is kept of one run.
pub fn kept_run(run: &KeptRun, bytes: u64, tally: &Tally) -> String {
    let mut blocks = Vec::new();
    let mut fact = |label: &str, text: &str| {
        blocks.extend((!text.is_empty()).then(|| Block::fact(label, text)));
    };
    fact("run", &run.id);
    fact("tags", &run.tags.join(", "));
    fact(
        "document",
        &format!("{}, {bytes} bytes", run.path.display()),
    );
    fact("began", &utc::text(run.started_unix_ms));
    fact("took", &took(run.wall_ms));
    fact("what", &what(run));
    fact("partial", run.partial.as_deref().unwrap_or(""));
    fact("host", run.host.as_deref().unwrap_or("unknown"));
    fact("machine", &run.machine_line);
    fact("key", &run.machine.0);
    fact("kernel", run.setup.kernel.as_deref().unwrap_or("unknown"));
    fact("program", &program(run));
    fact(
        "governor",
        run.setup.governor.as_deref().unwrap_or("unknown"),
    );
    let cpus = run.setup.cpus;
    fact(
        "CPUs",
        &cpus.map_or("unknown".into(), |cpus| format!("{cpus} online")),
    );
    fact(
        "controls",
        match run.setup.controls.as_deref() {
            None => "unknown",
            Some("") => "none",
            Some(controls) => controls,
        },
    );
    fact("rows", &counts(run, tally));
    page(&blocks, false)
}

/// Where a machine stands among all, a line for each row; points of curves and
/// maps where they are asked for.
pub fn percentiles(all: &[Percentile], points: bool) -> String {
    let mut table = Table::new([
        left("row"),
        right("latest"),
        right("slower machines"),
        right("figures"),
        right("machines"),
    ]);
    for p in all.iter().filter(|p| points || p.at.is_empty()) {
        let key = Key {
            id: p.row.clone(),
            at: p.at.clone(),
            mode: p.mode.clone(),
        };
        table.row([
            key.name().into(),
            model::figure::value(&p.unit, p.unit.of_ns(p.value)).into(),
            format!("{:.0} %", p.percentile).into(),
            p.results.to_string().into(),
            p.machines.to_string().into(),
        ]);
    }
    wide(table)
}

/// What a rebuild came to.
pub fn rebuilt(rebuilt: &Rebuilt, index: &Path) -> String {
    let documents = counted(rebuilt.documents, "document");
    let mut text = match index.exists() {
        true => format!("{} rebuilt from {documents}\n", index.display()),
        false => "no stored runs: no index needed\n".into(),
    };
    if rebuilt.unreadable > 0 {
        let documents = counted(rebuilt.unreadable, "document");
        text += &format!("{documents} can't be read: see latlas atlas verify\n");
    }
    if rebuilt.left_over > 0 {
        let files = counted(rebuilt.left_over, "file");
        text += &format!("{files} left behind by killed writers removed\n");
    }
    finish(&text, false)
}

/// What a look at everything found.
pub fn verified(verified: &Verified) -> String {
    let counts = format!(
        "{} read, {} compared with the index",
        counted(verified.documents, "document"),
        counted(verified.results, "result")
    );
    let mut blocks = vec![Block::text(counts)];
    let mut say = |label: &str, text: String| {
        blocks.push(Block::labelled(format!("{label:<9}"), text));
    };
    for (label, damaged) in [("damaged", &verified.damaged), ("index", &verified.index)] {
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
    blocks.push(Block::text(
        match (verified.is_whole(), verified.index.is_empty()) {
            (true, _) => "no damage found",
            (false, false) => "nothing was changed; latlas atlas rebuild rebuilds the index",
            (false, true) => "nothing was changed",
        },
    ));
    page(&blocks, false)
}

fn what(run: &KeptRun) -> String {
    let kind = match (run.imported, run.commands, run.scale) {
        (true, ..) => "imported",
        (_, true, _) => "commands",
        (.., Scale::Quick) => "quick",
        (.., Scale::Default) => "default",
        (.., Scale::Full) => "full",
    };
    match run.partial {
        Some(_) => format!("{kind}, partial"),
        None => kind.into(),
    }
}

fn program(run: &KeptRun) -> String {
    let commit: Option<String> = run
        .setup
        .commit
        .as_ref()
        .map(|commit| commit.chars().take(10).collect());
    match (commit, run.setup.profile.as_str()) {
        (Some(commit), "release") => format!("{} ({commit})", run.setup.version),
        (Some(commit), profile) => format!("{} ({commit}, {profile})", run.setup.version),
        (None, _) => run.setup.version.clone(),
    }
}

fn took(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

fn counts(run: &KeptRun, tally: &Tally) -> String {
    let mut parts = vec![counted(run.rows as usize, "row")];
    if tally.rows.total() > 0 {
        parts.push(format!("figures {}", tally.rows.text()));
    }
    if tally.points.total() > 0 {
        parts.push(format!("points {}", tally.points.text()));
    }
    if tally.unavailable > 0 {
        parts.push(format!("{} not available", tally.unavailable));
    }
    parts.join("; ")
}
