//! Stored runs, machines and figures as blocks, with links for pages that have
//! them: `latlas atlas` and the server's pages paint the same.

use super::figures::counted;
use super::table::{group_of, in_group};
use model::run::Scale;
use model::stats::Interval;
use model::story::{Block, Cell, Link, Table, Tone, left, right};
use model::summary::{KeptResult, KeptRun, Key, Machine};
use model::tally::Tally;
use model::unit::Unit;
use model::utc;
use store::index::{MachineStanding, Percentile, RowStanding};

/// Characters of the bars of a distribution.
const BAR: usize = 20;

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
            run.id.chars().take(8).collect::<String>().into(),
            Cell::from(host).to(Link::Machine(run.machine.0.clone())),
            what(run).into(),
            run.rows.to_string().into(),
            took(run.wall_ms).into(),
            program(run).into(),
            run.tags.join(", ").into(),
        ]);
    }
    table
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
    blocks
}

/// Figures of a run, a table for each group. Rows of another program lead
/// nowhere.
pub fn results(run: &KeptRun, results: &[KeptResult]) -> Vec<Block> {
    let mut groups: Vec<&str> = Vec::new();
    for result in results {
        if !groups.contains(&group_of(&result.row)) {
            groups.push(group_of(&result.row));
        }
    }
    let tables = groups.into_iter().map(|group| {
        let mut table = Table::new([
            left(group),
            right("value ±95 %"),
            right("cycles"),
            left("verdict"),
        ]);
        for result in results.iter().filter(|r| group_of(&r.row) == group) {
            let name = row_cell(in_group(&result.row), &result.row, &result.at, &None);
            let verdict = match result.verdict {
                Some(verdict) => Cell::from(verdict.text()).toned(verdict),
                None => Cell::from("not measured").toned(Tone::Dim),
            };
            table.row([
                match run.imported {
                    true => Cell { link: None, ..name },
                    false => name,
                },
                figure(result),
                cycles(result).into(),
                verdict,
            ]);
            if !result.reason.is_empty() {
                table.note("└ ", result.reason.as_str());
            }
        }
        table
    });
    vec![Block::Tables(tables.collect())]
}

/// A figure in its unit, and half of its 95 % interval.
fn figure(result: &KeptResult) -> Cell {
    match (result.below_ns, result.value) {
        (Some(bound), _) if result.unit == Unit::Time => {
            format!("< {}", model::figure::time(bound)).into()
        }
        (Some(_), _) => "below resolution".into(),
        (None, None) => "-".into(),
        (None, Some(interval)) => Cell::digits(digits(&interval, &result.unit)),
    }
}

fn cycles(result: &KeptResult) -> String {
    let cycles = result.cycles.filter(|_| result.below_ns.is_none());
    cycles.map_or(String::new(), |cycles| {
        let [count, _] = digits(&cycles, &Unit::Count);
        count
    })
}

fn digits(interval: &Interval, unit: &Unit) -> [String; 2] {
    let figure = model::figure::figure(interval, unit);
    let value = format!("{} {}", figure.value, figure.unit);
    [
        value.trim_end().to_owned(),
        format!("±{}", figure.half_width),
    ]
}

/// Machines with stored runs, a line each.
pub fn machines(machines: &[Machine]) -> Table {
    let mut table = Table::new([
        left("host"),
        right("runs"),
        left("newest (UTC)"),
        left("machine"),
    ]);
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

/// Where a machine stands among all, a line for each row; points of curves and
/// maps where they are asked for.
pub fn percentiles(all: &[Percentile], points: bool) -> Table {
    let mut table = Table::new([
        left("row"),
        right("latest"),
        right("slower machines"),
        right("figures"),
        right("machines"),
    ]);
    for p in all.iter().filter(|p| points || p.at.is_empty()) {
        table.row([
            row_cell(&p.row, &p.row, &p.at, &p.mode),
            value(p.value, &p.unit).into(),
            format!("{:.0} %", p.percentile).into(),
            p.results.to_string().into(),
            p.machines.to_string().into(),
        ]);
    }
    table
}

/// A row over all machines: each one's latest figure, the fastest first, and
/// quantiles of them.
pub fn standing(standing: &RowStanding, unit: &Unit, machines: &[Machine]) -> Vec<Block> {
    let count = standing.machines.len();
    if count == 0 {
        return vec![Block::text("No stored run has a figure of it that is ok.")];
    }
    let slowest = standing.machines.last().map_or(1.0, |m| m.value);
    let mut table = Table::new([
        left("host"),
        right("latest"),
        left(""),
        right("slower machines"),
        right("figures"),
    ]);
    for MachineStanding {
        machine,
        value: latest,
        percentile,
        results,
    } in &standing.machines
    {
        let known = machines.iter().find(|known| known.key == *machine);
        let name = known.map_or(machine.0.as_str(), Machine::name);
        // The length is the time, also where the figure is a rate.
        table.row([
            Cell::from(name).to(Link::Machine(machine.0.clone())),
            value(*latest, unit).into(),
            Cell::bar(0.0, latest / slowest, BAR),
            format!("{percentile:.0} %").into(),
            results.to_string().into(),
        ]);
    }
    let title = |percent: u32| match percent {
        0 => "minimum".into(),
        50 => "median".into(),
        100 => "maximum".into(),
        percent => format!("{percent} %"),
    };
    let shown = &standing.quantiles;
    let titles = shown.iter().map(|q| right(title(q.percent)));
    let mut quantiles = Table::new(std::iter::once(left("quantile")).chain(titles));
    let values = shown.iter().map(|q| value(q.value, unit).into());
    quantiles.row(std::iter::once("latest".into()).chain(values));
    let over = format!(
        "Over {}, each by its latest figure that is ok; the fastest first.",
        counted(count, "machine")
    );
    vec![Block::text(over), Block::Tables(vec![table, quantiles])]
}

/// A value without interval, in a row's unit.
fn value(ns: f64, unit: &Unit) -> String {
    model::figure::value(unit, unit.of_ns(ns))
}

/// A row or a point of it, under the name that it has in its table.
fn row_cell(name: &str, id: &str, at: &[u64], mode: &Option<String>) -> Cell {
    let key = Key {
        id: name.to_owned(),
        at: at.to_vec(),
        mode: mode.clone(),
    };
    Cell::from(key.name()).to(Link::Row {
        id: id.to_owned(),
        at: at.to_vec(),
    })
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
