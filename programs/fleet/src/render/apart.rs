//! What deviates: groups of hosts first, then single hosts, with what else is odd about them.

use super::{Length, change};
use crate::figures::{Deviations, FactKind, Fleet, Host, SharedDeviation};
use model::phrases::counted;
use model::phrases::several;
use model::share::percent;
use model::stats::median;
use model::story::{Block, Cell, Link, Table, left, right};

/// Rows and hosts that are named for a host or a group.
const NAMED: usize = 4;
/// The same on a page.
const NAMED_ON_PAGE: usize = 12;

impl Length {
    fn in_a_line(self) -> usize {
        match self {
            Length::Short => NAMED,
            Length::Whole => NAMED_ON_PAGE,
        }
    }
}

/// The hosts of a fleet with what pages say of each: gathered once, where a search for each host would take the
/// square of their number.
pub(crate) struct Hosts<'f> {
    pub(super) fleet: &'f Fleet,
    deviations: Deviations,
    /// Medians over the hosts.
    quiet_share: Option<f64>,
    steal_share: Option<f64>,
}

impl<'f> Hosts<'f> {
    pub(crate) fn from_fleet(fleet: &'f Fleet) -> Hosts<'f> {
        let median = |of: fn(&Host) -> Option<f64>| median(fleet.hosts.iter().filter_map(of));
        Hosts {
            fleet,
            deviations: fleet.deviations(),
            quiet_share: median(|host| host.noise.quiet_share),
            steal_share: median(|host| host.noise.steal_share),
        }
    }

    /// Rows with how far they lie apart: `cpu.add +12 %`.
    fn row_names(&self, rows: &[(usize, f64)]) -> Vec<String> {
        let name = |(row, ratio): &(usize, f64)| {
            format!("{} {}", self.fleet.rows[*row].id, change(*ratio))
        };
        rows.iter().map(name).collect()
    }

    /// The rows in which a host is an outlier by itself, the farthest first.
    pub(super) fn rows_of(&self, place: usize) -> Vec<String> {
        self.row_names(&self.deviations.single[place])
    }

    /// Places of the hosts that are outliers by themselves, those of most rows first.
    pub(super) fn single(&self) -> Vec<usize> {
        let single = &self.deviations.single;
        let mut places: Vec<usize> =
            (0..single.len()).filter(|place| !single[*place].is_empty()).collect();
        places.sort_by_key(|place| std::cmp::Reverse(single[*place].len()));
        places
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
    fn noise(&self, host: &Host) -> String {
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

    /// `microcode 0x10`: what the hosts of a group share.
    fn group_name(&self, of: &SharedDeviation) -> String {
        let grouping = &self.fleet.groupings[of.grouping];
        let group = &grouping.groups[of.group];
        let facts = group.hosts.first().map(|host| &self.fleet.hosts[*host].facts);
        let value = |fact| Some(format!("{} {}", FactKind::text(fact), facts?.get(&fact)?));
        let values: Vec<String> = grouping.facts.iter().filter_map(|fact| value(*fact)).collect();
        values.join(", ")
    }
}

/// What deviates: groups, then single hosts.
pub(crate) fn apart(of: &Hosts, length: Length) -> Vec<Block> {
    let (groups, single) = (&of.deviations.shared, of.single());
    if groups.is_empty() && single.is_empty() {
        let judged = of.fleet.rows.iter().any(|row| row.spread.is_some());
        let text = match judged {
            true => "No outliers in any row.",
            false => "Too few hosts to name outliers.",
        };
        return vec![Block::text(text)];
    }
    let mut blocks = Vec::new();
    if !groups.is_empty() {
        blocks.push(Block::Table(group_table(of, length)));
        blocks.push(Block::empty_line());
    }
    match single.is_empty() {
        true => blocks.push(Block::text("No host is an outlier by itself.")),
        false => blocks.extend(single_hosts(of, &single, length)),
    }
    blocks
}

/// The groups that deviate in the same rows.
fn group_table(of: &Hosts, length: Length) -> Table {
    let mut table = Table::new([left("group"), right("hosts"), right("rows"), right("change")]);
    for group in &of.deviations.shared {
        let hosts = &of.fleet.groupings[group.grouping].groups[group.group].hosts;
        let ratios = group.rows.iter().map(|(_, ratio)| *ratio);
        let [least, most] = [ratios.clone().fold(f64::MAX, f64::min), ratios.fold(0.0, f64::max)];
        let ends = match change(least) == change(most) {
            true => change(most),
            false => format!("{} .. {}", change(least), change(most)),
        };
        table.row([
            of.group_name(group).into(),
            hosts.len().to_string().into(),
            group.rows.len().to_string().into(),
            ends.into(),
        ]);
        table.note("  └ ", several(&of.row_names(&group.rows), length.in_a_line()));
        let names: Vec<&str> = hosts.iter().map(|host| &*of.fleet.hosts[*host].name).collect();
        table.note("  └ ", format!("hosts {}", several(&names, length.in_a_line())));
    }
    table
}

/// The hosts that are outliers by themselves.
fn single_hosts(of: &Hosts, single: &[usize], length: Length) -> Vec<Block> {
    let fleet = of.fleet;
    let mut table = Table::new([left("single host"), right("rows"), right("odd facts")]);
    for &place in single.iter().take(length.most_named()) {
        let host = &fleet.hosts[place];
        table.row([
            Cell::from(host.name.as_str()).to(Link::Machine(host.name.clone())),
            of.deviations.single[place].len().to_string().into(),
            (host.odd.len() + usize::from(host.noise.unusual)).to_string().into(),
        ]);
        table.note("  └ ", several(&of.rows_of(place), NAMED));
        for odd in of.odd(host) {
            table.note("  └ ", odd);
        }
    }
    let mut blocks = vec![Block::Table(table)];
    if let Some(more) = single.len().checked_sub(length.most_named()).filter(|more| *more > 0) {
        let where_all = match length {
            Length::Short => "-o FILE.html and --json name all",
            Length::Whole => "below, under Hosts",
        };
        blocks.push(Block::text(format!("{} more: {where_all}", counted(more, "host"))));
    }
    blocks
}
