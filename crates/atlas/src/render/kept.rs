//! What is kept, as text.

use super::COLUMNS;
use super::layout::{Grid, finish, left, right, wrap};
use super::tally::Tally;
use crate::compare::shared::Key;
use crate::index::{KeptRun, Percentile, Rebuilt, Verified};
use crate::utc;
use model::run::Scale;
use std::path::Path;

/// The kept runs, a line each.
pub fn kept_runs(runs: &[KeptRun]) -> String {
    let mut grid = Grid::default();
    if !runs.is_empty() {
        grid.entries(vec![
            left("began (UTC)"),
            left("id"),
            left("host"),
            left("what"),
            right("rows"),
            right("took"),
            left("program"),
            left("tags"),
        ]);
    }
    for run in runs {
        // Without seconds and zone, which the heading has.
        let began: String = utc::text(run.started_unix_ms).chars().take(16).collect();
        grid.entries(vec![
            left(began),
            left(run.id.chars().take(8).collect::<String>()),
            left(run.host.as_deref().unwrap_or("?")),
            left(what(run)),
            right(run.rows.to_string()),
            right(took(run.wall_ms)),
            left(program(run)),
            left(run.tags.join(", ")),
        ]);
    }
    finish(&grid.render(2), false)
}

/// What is kept of one run.
pub fn kept_run(run: &KeptRun, bytes: u64, tally: &Tally) -> String {
    let mut lines = Vec::new();
    let mut fact = |label: &str, text: &str| {
        if !text.is_empty() {
            lines.extend(wrap(&format!("{label:<12}"), text, COLUMNS));
        }
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
            None => "not told",
            Some("") => "none",
            Some(controls) => controls,
        },
    );
    fact("rows", &counts(run, tally));
    finish(&(lines.join("\n") + "\n"), false)
}

/// Where a machine stands among all, a line for each row; points of curves and
/// maps where they are asked for.
pub fn percentiles(all: &[Percentile], points: bool) -> String {
    let mut grid = Grid::default();
    grid.entries(vec![
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
        grid.entries(vec![
            left(key.name()),
            right(model::figure::value(&p.unit, p.unit.of_ns(p.value))),
            right(format!("{:.0} %", p.percentile)),
            right(p.results.to_string()),
            right(p.machines.to_string()),
        ]);
    }
    finish(&grid.render(2), false)
}

/// What a rebuild came to.
pub fn rebuilt(rebuilt: &Rebuilt, index: &Path) -> String {
    let documents = counted(rebuilt.documents, "document");
    let mut text = match index.exists() {
        true => format!("{} made anew from {documents}\n", index.display()),
        false => "nothing is kept, and no index is needed\n".into(),
    };
    if rebuilt.unreadable > 0 {
        let documents = counted(rebuilt.unreadable, "document");
        text += &format!("{documents} can't be read: latlas atlas verify says why\n");
    }
    if rebuilt.left_over > 0 {
        let files = counted(rebuilt.left_over, "file");
        text += &format!("{files} removed that killed writers left behind\n");
    }
    finish(&text, false)
}

/// What a look at everything found.
pub fn verified(verified: &Verified) -> String {
    let mut lines = vec![format!(
        "{} read, {} compared with the index",
        counted(verified.documents, "document"),
        counted(verified.results, "result")
    )];
    let mut told = |label: &str, text: String| {
        lines.extend(wrap(&format!("{label:<9}"), &text, COLUMNS));
    };
    for damage in &verified.damaged {
        let (path, what) = (damage.path.display(), &damage.what);
        told("damaged", format!("{path}: {what}"));
    }
    for damage in &verified.index {
        let (path, what) = (damage.path.display(), &damage.what);
        told("index", format!("{path}: {what}"));
    }
    for tag in &verified.tags {
        told("tag", tag.clone());
    }
    for path in &verified.left_over {
        let path = path.display();
        told("left over", format!(" {path}"));
    }
    lines.push(
        match (verified.is_whole(), verified.index.is_empty()) {
            (true, _) => "all is as it should be",
            (false, false) => "latlas atlas rebuild makes the index anew; nothing was changed",
            (false, true) => "nothing was changed",
        }
        .into(),
    );
    finish(&(lines.join("\n") + "\n"), false)
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

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}
