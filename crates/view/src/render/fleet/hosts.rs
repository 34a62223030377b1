//! The facts of the fleet, and everything of one host.

use super::apart::Hosts;
use crate::render::figures::counted;
use model::fleet::{Fleet, Host};
use model::story::{Block, Cell, Table, left, right};
use model::text::several;
use model::text::short_id;
use model::utc;

/// What the hosts are: each fact with its values.
pub(crate) fn facts(fleet: &Fleet) -> Vec<Block> {
    let mut table = Table::new([left("fact"), left("value"), right("hosts"), left("")]);
    for fact in &fleet.facts {
        let mut name = fact.fact.text();
        for value in &fact.values {
            let names = value.hosts.iter().map(|host| &*fleet.hosts[*host].name);
            let names: Vec<&str> = names.collect();
            let is_usual = fact.usual() == Some(&value.value);
            table.row([
                Cell::from(name),
                value.value.as_str().into(),
                value.hosts.len().to_string().into(),
                if is_usual { "".into() } else { Cell::from(names.join(", ")) },
            ]);
            name = "";
        }
        if fact.unknown > 0 {
            let lacks = |host: &&Host| !host.facts.contains_key(&fact.fact);
            let lacking = fleet.hosts.iter().filter(lacks).map(|host| &*host.name);
            table.row([
                Cell::from(name),
                "unknown".into(),
                fact.unknown.to_string().into(),
                lacking.collect::<Vec<&str>>().join(", ").into(),
            ]);
        }
    }
    vec![Block::Table(table)]
}

/// A host: where it lies apart, what is odd, its facts, its runs.
pub(crate) fn host(hosts: &Hosts, place: usize) -> Vec<Block> {
    let host = &hosts.fleet.hosts[place];
    let apart = match host.apart_in.len() {
        0 => "in no row".into(),
        count => {
            let rows = several(&hosts.rows_of(place), 40);
            format!("in {}: {rows}", counted(count, "row"))
        }
    };
    let facts = host.facts.iter().map(|(fact, value)| format!("{} {value}", fact.text()));
    let runs: Vec<&str> = host.runs.iter().map(|run| short_id(run)).collect();
    let mut blocks = vec![
        Block::fact("outlier", apart),
        Block::fact(
            "odd",
            match hosts.odd(host) {
                odd if odd.is_empty() => "no fact differs from most hosts".into(),
                odd => odd.join("; "),
            },
        ),
        Block::fact("noise", hosts.noise(host)),
        Block::fact("facts", facts.collect::<Vec<String>>().join("; ")),
        Block::fact(
            "measured",
            format!("{}, {}", utc::text(host.started_unix_ms), counted(runs.len(), "run")),
        ),
    ];
    let commands = runs.iter().map(|run| format!("latlas show {run}"));
    blocks.push(Block::Lines(commands.collect()));
    blocks
}
