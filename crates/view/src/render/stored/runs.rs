//! Stored runs and their machines.

use crate::render::figures::{counted, elapsed};
use model::phrases::short_id;
use model::story::{Block, Cell, Link, Table, left, right};
use model::summary::{KeptRun, MachineSummary};
use model::tally::Tally;
use model::utc;

/// Characters of a host's name in a table.
const NAME: usize = 32;
/// The same on a terminal.
const HOST: usize = 16;
/// Characters of what was run.
const WHAT: usize = 32;
/// So many at least, however narrow the terminal.
const LEAST_WHAT: usize = 16;

/// Characters of the bar of a run's quality.
const BAR: usize = 10;

/// How many single figures of a run hold, as text and as a bar, and a link to the report.
fn quality(run: &KeptRun, tally: &Tally) -> [Cell; 3] {
    let (ok, total) = (tally.rows.ok, tally.rows.total());
    let report = Cell::from("report").to(Link::Report(run.id.clone()));
    match total {
        0 => ["-".into(), "".into(), report],
        _ => [
            format!("{ok} of {total}").into(),
            Cell::bar(0.0, f64::from(ok) / f64::from(total), BAR),
            report,
        ],
    }
}

/// Runs, a line each, with the tally of the results of each.
pub fn runs_table(runs: &[KeptRun], tallies: &[Tally]) -> Table {
    let mut table = Table::new([
        left("began (UTC)"),
        left("id"),
        left("host"),
        left("what"),
        right("results ok"),
        left(""),
        left("pictures"),
        right("took"),
        left("program"),
        left("tags"),
    ]);
    for (run, tally) in runs.iter().zip(tallies) {
        // Without seconds and zone, which the heading has.
        let began: String = utc::readable_utc(run.started_unix_ms).chars().take(16).collect();
        let host = run.host.as_deref().unwrap_or("?");
        let [ok, bar, report] = quality(run, tally);
        table.row([
            Cell::from(began).to(Link::Run(run.id.clone())),
            short_id(&run.id).into(),
            Cell::from(shortened(host, NAME)).to(Link::Machine(run.machine.0.clone())),
            what(run).into(),
            ok,
            bar,
            report,
            elapsed(run.wall_ms).into(),
            program_text(run).into(),
            run.tags.join(", ").into(),
        ]);
    }
    table
}

/// Columns of a terminal that no line of [`runs_lines`] exceeds, but for tags.
const COLUMNS: usize = 80;

/// Runs, a line each of a terminal: hosts and tags only where there are several, or any.
pub fn runs_lines(runs: &[KeptRun]) -> Table {
    let host = |run: &KeptRun| shortened(run.host.as_deref().unwrap_or("?"), HOST);
    let several = runs.iter().any(|run| host(run) != host(&runs[0]));
    let tagged = runs.iter().any(|run| !run.tags.is_empty());
    let mut columns = vec![left("began (UTC)"), left("id")];
    columns.extend(several.then(|| left("host")));
    columns.extend([left("what"), right("rows"), right("took")]);
    columns.extend(tagged.then(|| left("tags")));
    let lines: Vec<Vec<String>> = runs
        .iter()
        .map(|run| {
            let began = utc::readable_utc(run.started_unix_ms).chars().take(16).collect();
            let mut cells = vec![began, short_id(&run.id).to_owned()];
            cells.extend(several.then(|| host(run)));
            cells.extend([run.rows.to_string(), elapsed(run.wall_ms)]);
            cells.extend(tagged.then(|| run.tags.join(", ")));
            cells
        })
        .collect();
    let widest = |k: usize| {
        let cells = lines.iter().map(|cells| cells[k].chars().count());
        // No cell is narrower than a title.
        cells.chain([4]).max().unwrap_or(0)
    };
    let taken: usize = (0..columns.len() - 1).map(|k| widest(k) + 2).sum();
    let most = COLUMNS.saturating_sub(taken).max(LEAST_WHAT);
    let at = 2 + usize::from(several);
    let mut table = Table::new(columns);
    for (run, mut cells) in runs.iter().zip(lines) {
        cells.insert(at, what_shortened(run, most));
        table.row(cells.into_iter().map(Cell::from));
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
pub fn run_facts(run: &KeptRun, document: &str, tally: &Tally) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut fact = |label: &str, text: &str| {
        blocks.extend((!text.is_empty()).then(|| Block::fact(label, text)));
    };
    fact("run", &run.id);
    fact("tags", &run.tags.join(", "));
    fact("document", document);
    fact("began", &utc::readable_utc(run.started_unix_ms));
    fact("took", &elapsed(run.wall_ms));
    fact("what", &run.what);
    fact("partial", run.partial.as_deref().unwrap_or(""));
    fact("host", run.host.as_deref().unwrap_or("unknown"));
    fact("machine", &run.machine_line);
    fact("key", &run.machine.0);
    fact("kernel", run.setup.kernel.as_deref().unwrap_or("unknown"));
    fact("program", &program_text(run));
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
    fact("rows", &verdict_tally(run, tally));
    blocks
}

/// Machines with stored runs, a line each, with the newest run of each and the tally of its results.
pub fn machines(machines: &[MachineSummary], newest: &[(KeptRun, Tally)]) -> Table {
    let mut table = Table::new([
        left("host"),
        right("runs"),
        left("newest (UTC)"),
        right("results ok"),
        left(""),
        left("pictures"),
        left("machine"),
    ]);
    for machine in machines {
        let of = newest.iter().find(|(run, _)| run.machine == machine.key);
        let [ok, bar, report] =
            of.map_or(["-".into(), "".into(), "".into()], |(run, tally)| quality(run, tally));
        let newest: String = utc::readable_utc(machine.newest_unix_ms).chars().take(16).collect();
        table.row([
            Cell::from(machine.display_name()).to(Link::Machine(machine.key.0.clone())),
            machine.runs.to_string().into(),
            newest.into(),
            ok,
            bar,
            report,
            machine.line.as_str().into(),
        ]);
    }
    table
}

/// What was run, with the end of a long command line left out.
fn what(run: &KeptRun) -> String {
    what_shortened(run, WHAT)
}

fn what_shortened(run: &KeptRun, most: usize) -> String {
    let partial = if run.partial.is_some() { ", partial" } else { "" };
    shortened(&run.what, most.saturating_sub(partial.len())) + partial
}

fn program_text(run: &KeptRun) -> String {
    let commit: Option<String> =
        run.setup.commit.as_ref().map(|commit| commit.chars().take(10).collect());
    match (commit, run.setup.profile.as_str()) {
        (Some(commit), "release") => format!("{} ({commit})", run.setup.version),
        (Some(commit), profile) => format!("{} ({commit}, {profile})", run.setup.version),
        (None, _) => run.setup.version.clone(),
    }
}

fn verdict_tally(run: &KeptRun, tally: &Tally) -> String {
    let mut parts = vec![counted(run.rows as usize, "row")];
    if tally.rows.total() > 0 {
        parts.push(format!("figures {}", tally.rows.tally_text()));
    }
    if tally.points.total() > 0 {
        parts.push(format!("points {}", tally.points.tally_text()));
    }
    if tally.unavailable > 0 {
        parts.push(format!("{} not available", tally.unavailable));
    }
    parts.join("; ")
}
