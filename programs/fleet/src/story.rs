//! How complete a campaign is, in words.

use crate::standing::{JobStanding, JobState, Standing};
use model::phrases::{counted, short_id};
use model::story::{Block, Cell, Table, Tone, left, right};
use std::collections::BTreeMap;

impl JobState {
    fn tone(self) -> Tone {
        match self {
            JobState::Done => Tone::Good,
            JobState::Lost | JobState::Refused => Tone::Bad,
            _ => Tone::Doubtful,
        }
    }
}

/// Of more hosts, those that are done are not listed.
const LISTED: usize = 1000;

/// The states of the hosts in a table, and below it what is odd.
pub fn blocks(standing: &Standing) -> Vec<Block> {
    let done = standing.counts.get(&JobState::Done).copied().unwrap_or(0);
    let mut heading = format!(
        "campaign {} ({}): {}",
        standing.campaign,
        standing.digest,
        match standing.complete {
            true => format!("complete, {}", counted(done, "job")),
            false => format!("{done} of {} done", counted(standing.jobs.len(), "job")),
        }
    );
    for (state, count) in &standing.counts {
        if *state != JobState::Done {
            heading += &format!(", {count} {}", state.name());
        }
    }
    let mut blocks = vec![Block::text(heading), Block::empty_line()];
    let mut table = Table::new([left("host"), right("done"), left("state"), left("reason")]);
    let hosts = standing.jobs.chunk_by(|a, b| a.host == b.host);
    let is_long = hosts.clone().count() > LISTED;
    let is_done = |jobs: &&[JobStanding]| jobs.iter().all(|job| job.state == JobState::Done);
    let (left_out, listed): (Vec<_>, Vec<_>) = hosts.partition(|jobs| is_long && is_done(jobs));
    for jobs in listed {
        table.row(host(jobs));
    }
    let others = if table.rows.is_empty() { "host" } else { "more host" };
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table.wide()));
    }
    if !left_out.is_empty() {
        let them = counted(left_out.len(), others);
        blocks.push(Block::text(format!("{them}: done (--json lists all)")));
    }
    let odd = odd(standing);
    if !odd.is_empty() {
        blocks.push(Block::empty_line());
        blocks.extend(odd);
    }
    blocks
}

fn host(jobs: &[JobStanding]) -> [Cell; 4] {
    let done = jobs.iter().filter(|job| job.state == JobState::Done).count();
    let mut missing: Vec<JobState> =
        jobs.iter().map(|job| job.state).filter(|state| *state != JobState::Done).collect();
    missing.sort();
    let words: Vec<String> = match (missing.is_empty(), jobs.len()) {
        (true, _) => vec![JobState::Done.name().into()],
        (false, 1) => vec![missing[0].name().into()],
        _ => missing
            .chunk_by(|a, b| a == b)
            .map(|same| format!("{} {}", same.len(), same[0].name()))
            .collect(),
    };
    let worst = missing.last().copied().unwrap_or(JobState::Done);
    let reason = jobs.iter().filter(|job| job.state == worst).find_map(|job| job.reason.clone());
    [
        Cell::from(jobs[0].host.clone()),
        Cell::from(format!("{done} of {}", jobs.len())),
        Cell::from(words.join(", ")).toned(worst.tone()),
        Cell::from(model::printable::visible(&reason.unwrap_or_default())),
    ]
}

/// A time in s, in its two largest units.
fn rough(s: f64) -> String {
    if s < 1000.0 {
        return model::figure::time(s * 1e9);
    }
    let whole = std::time::Duration::from_secs(s as u64);
    let text = humantime::format_duration(whole).to_string();
    let units: Vec<&str> = text.split(' ').take(2).collect();
    units.join(" ")
}

/// What is to be known beyond the states.
fn odd(standing: &Standing) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut warn = |text: String| {
        blocks.push(Block::warning("warning: ", model::printable::visible(&text)));
    };
    if let Some(why) = &standing.queue_unknown {
        warn(format!("the queue is not known: {why}"));
    }
    for jobs in standing.jobs.chunk_by(|a, b| a.host == b.host) {
        let host = &jobs[0].host;
        if let Some(s) = jobs.iter().find_map(|job| job.clock_off_s) {
            let direction = if s > 0.0 { "ahead" } else { "behind" };
            let off = rough(s.abs());
            warn(format!("{host}: its clock is {off} {direction}"));
        }
    }
    for job in &standing.jobs {
        let (host, repetition) = (&job.host, job.repetition);
        if !job.twice.is_empty() {
            let others: Vec<&str> = job.twice.iter().map(|id| short_id(id)).collect();
            let counts = short_id(job.run.as_deref().unwrap_or_default());
            warn(format!(
                "{host}, repetition {repetition}: measured {} times; {counts} counts, {} not",
                1 + job.twice.len(),
                others.join(" and ")
            ));
        }
    }
    for (what, hosts) in without_figure(standing) {
        let more = match hosts.len() {
            1 => String::new(),
            n => format!(" and {}", counted(n - 1, "more host")),
        };
        warn(format!("{}{more}: {what}", hosts[0]));
    }
    for foreign in &standing.foreign {
        warn(format!("results/{} is foreign: {}", foreign.file, foreign.reason));
    }
    for file in &standing.unreadable {
        warn(format!("results/{} can't be read: {}", file.file, file.reason));
    }
    blocks
}

/// Rows that counted runs have no figure for, with the hosts on which it is the same.
fn without_figure(standing: &Standing) -> BTreeMap<String, Vec<&str>> {
    let mut hosts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for job in &standing.jobs {
        if let Some(first) = &job.first_unavailable {
            let rows = counted(job.rows_unavailable, "row");
            let of_same = hosts.entry(format!("{rows} without a figure ({first})"));
            let of_same = of_same.or_default();
            if of_same.last() != Some(&job.host.as_str()) {
                of_same.push(&job.host);
            }
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_hosts_those_that_are_done_are_counted() {
        let lines = |hosts: usize, lost: Option<usize>| {
            let job = |n: usize| JobStanding {
                host: format!("n{n}"),
                repetition: 1,
                state: match lost {
                    Some(lost) if lost == n => JobState::Lost,
                    _ => JobState::Done,
                },
                reason: None,
                refusal: None,
                attempt: None,
                run: None,
                twice: Vec::new(),
                clock_off_s: None,
                rows_unavailable: 0,
                first_unavailable: None,
            };
            let standing = Standing {
                campaign: "lab".into(),
                digest: "d".into(),
                complete: false,
                counts: BTreeMap::new(),
                jobs: (0..hosts).map(job).collect(),
                foreign: Vec::new(),
                unreadable: Vec::new(),
                queue_unknown: None,
            };
            let blocks = blocks(&standing);
            let rows = |block: &Block| match block {
                Block::Table(table) => Some(table.rows.len()),
                _ => None,
            };
            let rows: usize = blocks.iter().filter_map(rows).sum();
            (rows, blocks.last().cloned())
        };
        let said = |text: &str| Some(Block::text(text));
        assert_eq!(lines(LISTED, Some(7)).0, LISTED);
        let one = said("1000 more hosts: done (--json lists all)");
        assert_eq!(lines(LISTED + 1, Some(7)), (1, one));
        let none = said("1001 hosts: done (--json lists all)");
        assert_eq!(lines(LISTED + 1, None), (0, none));
    }

    #[test]
    fn a_clock_that_is_far_off_has_two_units() {
        assert_eq!(super::rough(130.0), "130 s");
        assert_eq!(super::rough(3601.5), "1h 1s");
        assert_eq!(super::rough(1_795_488_830.0), "56years 10months");
    }
}
