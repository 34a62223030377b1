//! Stored runs and their machines.

use crate::render::figures::{counted, elapsed};
use model::story::{Block, Cell, Link, Table, left, right};
use model::summary::{KeptRun, Machine};
use model::tally::Tally;
use model::text::short_id;
use model::utc;

/// Characters of a host's name in a table.
const NAME: usize = 32;
/// Characters of what was run.
const WHAT: usize = 32;

/// Runs, a line each.
pub fn runs(runs: &[KeptRun]) -> Table {
    let mut table = Table::new([
        left("began (UTC)"),
        left("id"),
        left("host"),
        left("what"),
        right("rows"),
        right("took"),
        left("program"),
        left("tags"),
    ]);
    for run in runs {
        // Without seconds and zone, which the heading has.
        let began: String = utc::text(run.started_unix_ms).chars().take(16).collect();
        let host = run.host.as_deref().unwrap_or("?");
        table.row([
            Cell::from(began).to(Link::Run(run.id.clone())),
            short_id(&run.id).into(),
            Cell::from(shortened(host, NAME)).to(Link::Machine(run.machine.0.clone())),
            what(run).into(),
            run.rows.to_string().into(),
            elapsed(run.wall_ms).into(),
            program(run).into(),
            run.tags.join(", ").into(),
        ]);
    }
    table
}

/// A text, without the end of one that would make every line longer than a screen.
fn shortened(text: &str, most: usize) -> String {
    match text.chars().nth(most) {
        Some(_) => text.chars().take(most - 2).chain("..".chars()).collect(),
        None => text.to_owned(),
    }
}

/// What is kept of one run. `document` says where and how large it is.
pub fn facts(run: &KeptRun, document: &str, tally: &Tally) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut fact = |label: &str, text: &str| {
        blocks.extend((!text.is_empty()).then(|| Block::fact(label, text)));
    };
    fact("run", &run.id);
    fact("tags", &run.tags.join(", "));
    fact("document", document);
    fact("began", &utc::text(run.started_unix_ms));
    fact("took", &elapsed(run.wall_ms));
    fact("what", &run.what);
    fact("partial", run.partial.as_deref().unwrap_or(""));
    fact("host", run.host.as_deref().unwrap_or("unknown"));
    fact("machine", &run.machine_line);
    fact("key", &run.machine.0);
    fact("kernel", run.setup.kernel.as_deref().unwrap_or("unknown"));
    fact("program", &program(run));
    fact("governor", run.setup.governor.as_deref().unwrap_or("unknown"));
    let cpus = run.setup.cpus;
    fact("CPUs", &cpus.map_or("unknown".into(), |cpus| format!("{cpus} online")));
    fact(
        "controls",
        match run.setup.controls.as_deref() {
            None => "unknown",
            Some("") => "none",
            Some(controls) => controls,
        },
    );
    fact("rows", &counts(run, tally));
    blocks
}

/// Machines with stored runs, a line each.
pub fn machines(machines: &[Machine]) -> Table {
    let mut table =
        Table::new([left("host"), right("runs"), left("newest (UTC)"), left("machine")]);
    for machine in machines {
        let newest: String = utc::text(machine.newest_unix_ms).chars().take(16).collect();
        table.row([
            Cell::from(machine.name()).to(Link::Machine(machine.key.0.clone())),
            machine.runs.to_string().into(),
            newest.into(),
            machine.line.as_str().into(),
        ]);
    }
    table
}

/// What was run, with the end of a long command line left out.
fn what(run: &KeptRun) -> String {
    let what = shortened(&run.what, WHAT);
    match run.partial {
        Some(_) => format!("{what}, partial"),
        None => what,
    }
}

fn program(run: &KeptRun) -> String {
    let commit: Option<String> =
        run.setup.commit.as_ref().map(|commit| commit.chars().take(10).collect());
    match (commit, run.setup.profile.as_str()) {
        (Some(commit), "release") => format!("{} ({commit})", run.setup.version),
        (Some(commit), profile) => format!("{} ({commit}, {profile})", run.setup.version),
        (None, _) => run.setup.version.clone(),
    }
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
