//! The facts of the fleet, and everything of one host.

use super::apart::Hosts;
use crate::figures::{Fleet, Host};
use model::phrases::{counted, several, short_id};
use model::share::percent;
use model::story::{Block, Cell, Link, Table, left, right};
use model::utc;

/// Characters of a date with its time to the minute.
const MINUTES: usize = 16;

/// What the hosts are: each fact with its values.
pub(crate) fn host_facts(fleet: &Fleet) -> Vec<Block> {
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

/// Rows that are named for a host.
const ROWS: usize = 40;

/// Every host in a line, those with most to say first: in how many rows it is an outlier and what else is odd.
pub(crate) fn hosts_table(hosts: &Hosts) -> Vec<Block> {
    let fleet = hosts.fleet;
    let mut places: Vec<usize> = (0..fleet.hosts.len()).collect();
    let odd = |host: &Host| host.odd.len() + usize::from(host.noise.unusual);
    places.sort_by_key(|place| {
        let host = &fleet.hosts[*place];
        std::cmp::Reverse((host.apart_in.len(), odd(host)))
    });
    let mut table = Table::new([
        left("host"),
        right("outlier rows"),
        right("quiet samples"),
        right("steal"),
        left("measured (UTC)"),
        left("runs").of_code(),
        left("outlier by itself in; odd facts"),
    ]);
    let share = |share: Option<f64>| share.map_or("-".into(), percent);
    for &place in &places {
        let host = &fleet.hosts[place];
        let own = several(&hosts.rows_of(place), ROWS);
        let odd = host.odd.iter().map(|odd| format!("{} {}", odd.fact.text(), odd.value));
        let noise = host.noise.unusual.then(|| "unusual noise".to_owned());
        let said = [own].into_iter().chain(odd).chain(noise).filter(|said| !said.is_empty());
        let said: Vec<String> = said.collect();
        let runs: Vec<&str> = host.runs.iter().map(|run| short_id(run)).collect();
        let measured: String =
            utc::readable_utc(host.started_unix_ms).chars().take(MINUTES).collect();
        table.row([
            Cell::from(host.name.as_str()).target_of(Link::Machine(host.name.clone())),
            host.apart_in.len().to_string().into(),
            share(host.noise.quiet_share).into(),
            share(host.noise.steal_share).into(),
            measured.into(),
            runs.join(" ").into(),
            said.join("; ").into(),
        ]);
    }
    let silent = |place: &&usize| {
        let host = &fleet.hosts[**place];
        host.apart_in.is_empty() && odd(host) == 0
    };
    let silent = places.iter().filter(silent).count();
    let text = format!(
        "{silent} of {}: an outlier in no row, no odd fact. `latlas show RUN` prints a run.",
        counted(places.len(), "host")
    );
    vec![Block::text(text), Block::Table(table)]
}
