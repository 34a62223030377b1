//! The hosts that lie apart, with what else is odd about them.

use super::{Length, change};
use crate::render::figures::{counted, share};
use model::fleet::{Fleet, FleetRow, Host};
use model::story::{Block, Cell, Link, Table, left, right};
use model::text::several;

/// Rows that are named for a host.
const ROWS: usize = 4;

/// The hosts apart, those of most rows first.
pub(crate) fn apart(fleet: &Fleet, length: Length) -> Vec<Block> {
    let hosts = fleet.apart();
    let judged = fleet.rows.iter().any(|row| row.spread.is_some());
    if hosts.is_empty() {
        let text = match judged {
            true => "No outliers in any row.",
            false => "Too few hosts to name outliers.",
        };
        return vec![Block::text(text)];
    }
    let mut table = Table::new([left("outlier"), right("rows"), right("odd facts")]);
    for host in hosts.iter().take(length.named()) {
        table.row([
            Cell::from(host.name.as_str()).to(Link::Machine(host.name.clone())),
            host.apart_in.len().to_string().into(),
            (host.odd.len() + usize::from(host.noise.unusual)).to_string().into(),
        ]);
        table.note("  └ ", several(&rows_of(fleet, host), ROWS));
        for odd in odd(fleet, host) {
            table.note("  └ ", odd);
        }
    }
    let mut blocks = vec![Block::Table(table)];
    if let Some(more) = hosts.len().checked_sub(length.named()).filter(|more| *more > 0) {
        let where_all = match length {
            Length::Short => "-o FILE.html and --json name all",
            Length::Whole => "below, under Hosts",
        };
        blocks.push(Block::text(format!("{} more: {where_all}", counted(more, "host"))));
    }
    blocks
}

/// The rows in which a host lies apart, the farthest first: `cpu.add +12 %`.
pub(super) fn rows_of(fleet: &Fleet, host: &Host) -> Vec<String> {
    let place = fleet.hosts.iter().position(|other| other.name == host.name);
    let of = |row: &FleetRow| {
        let mut all = row.outliers.iter().chain(&row.apart);
        let own = all.find(|outlier| Some(outlier.host) == place)?;
        Some((own.ratio, format!("{} {}", row.id, change(own.ratio))))
    };
    let rows = host.apart_in.iter().filter_map(|row| of(&fleet.rows[*row]));
    let mut rows: Vec<(f64, String)> = rows.collect();
    rows.sort_by(|a, b| b.0.ln().abs().total_cmp(&a.0.ln().abs()));
    rows.into_iter().map(|(_, text)| text).collect()
}

/// What else differs from the fleet: facts, noise.
pub(super) fn odd(fleet: &Fleet, host: &Host) -> Vec<String> {
    let mut odd: Vec<String> = host
        .odd
        .iter()
        .map(|odd| format!("{} {} (most: {})", odd.fact.text(), odd.value, odd.usual))
        .collect();
    if host.noise.unusual {
        odd.push(format!("noise: {}", noise(fleet, host)));
    }
    odd
}

/// How quiet a host was, and the median of all.
pub(super) fn noise(fleet: &Fleet, host: &Host) -> String {
    let median =
        |of: fn(&Host) -> Option<f64>| model::stats::median(fleet.hosts.iter().filter_map(of));
    let part = |name: &str, of: fn(&Host) -> Option<f64>| {
        Some(format!("{name} {} (median {})", share(of(host)?), share(median(of)?)))
    };
    let parts = [
        part("quiet samples", |host| host.noise.quiet_share),
        part("steal", |host| host.noise.steal_share),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "unknown".into(),
        false => parts.join(", "),
    }
}
