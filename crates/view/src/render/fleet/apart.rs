//! The hosts that lie apart, with what else is odd about them.

use super::{Length, change};
use crate::render::figures::counted;
use model::fleet::{Fleet, FleetRow, Host};
use model::share::percent;
use model::stats::median;
use model::story::{Block, Cell, Link, Table, left, right};
use model::text::several;

/// Rows that are named for a host.
const ROWS: usize = 4;

/// The hosts of a fleet with what pages say of each: gathered once, where a search for each host would take the
/// square of their number.
pub(crate) struct Hosts<'f> {
    pub(super) fleet: &'f Fleet,
    /// Of each host the rows in which it lies apart, with its ratio.
    apart_in: Vec<Vec<(&'f FleetRow, f64)>>,
    /// Medians over the hosts.
    quiet_share: Option<f64>,
    steal_share: Option<f64>,
}

impl<'f> Hosts<'f> {
    pub(crate) fn of(fleet: &'f Fleet) -> Hosts<'f> {
        let mut apart_in = vec![Vec::new(); fleet.hosts.len()];
        for row in &fleet.rows {
            for outlier in row.outliers.iter().chain(&row.apart) {
                apart_in[outlier.host].push((row, outlier.ratio));
            }
        }
        let median = |of: fn(&Host) -> Option<f64>| median(fleet.hosts.iter().filter_map(of));
        Hosts {
            fleet,
            apart_in,
            quiet_share: median(|host| host.noise.quiet_share),
            steal_share: median(|host| host.noise.steal_share),
        }
    }

    /// The rows in which a host lies apart, the farthest first: `cpu.add +12 %`.
    pub(super) fn rows_of(&self, place: usize) -> Vec<String> {
        let mut rows = self.apart_in[place].clone();
        rows.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
        let text = |(row, ratio): (&FleetRow, f64)| format!("{} {}", row.id, change(ratio));
        rows.into_iter().map(text).collect()
    }

    /// What else differs from the fleet: facts, noise.
    pub(super) fn odd(&self, host: &Host) -> Vec<String> {
        let mut odd: Vec<String> = host
            .odd
            .iter()
            .map(|odd| format!("{} {} (most: {})", odd.fact.text(), odd.value, odd.usual))
            .collect();
        if host.noise.unusual {
            odd.push(format!("noise: {}", self.noise(host)));
        }
        odd
    }

    /// How quiet a host was, and the median of all.
    pub(super) fn noise(&self, host: &Host) -> String {
        let part = |name: &str, own: Option<f64>, median: Option<f64>| {
            Some(format!("{name} {} (median {})", percent(own?), percent(median?)))
        };
        let parts = [
            part("quiet samples", host.noise.quiet_share, self.quiet_share),
            part("steal", host.noise.steal_share, self.steal_share),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "unknown".into() } else { parts.join(", ") }
    }
}

/// The hosts apart, those of most rows first.
pub(crate) fn apart(of: &Hosts, length: Length) -> Vec<Block> {
    let fleet = of.fleet;
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
    for &place in hosts.iter().take(length.named()) {
        let host = &fleet.hosts[place];
        table.row([
            Cell::from(host.name.as_str()).to(Link::Machine(host.name.clone())),
            host.apart_in.len().to_string().into(),
            (host.odd.len() + usize::from(host.noise.unusual)).to_string().into(),
        ]);
        table.note("  └ ", several(&of.rows_of(place), ROWS));
        for odd in of.odd(host) {
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
