//! What published figures of hosts with this CPU let one expect of a host that was never seen, and what is said of it.

use super::identity::Differs;
use serde::Serialize;

/// A host is slow beyond so many spreads, and beyond [`LEAST`]. Chosen by `latlas-bench fit` with every tenth of the
/// published hosts left out.
pub const SPREADS: f64 = 3.25;
/// The same of the hosts of several providers, which are few: with every provider left out once.
const SPREADS_OF_PROVIDERS: f64 = 4.25;
/// What a host may be slower by, however little its group varies: the same host of another day does.
pub const LEAST: f64 = 0.12;
/// Where only more than this would be seen, a host that is not slow is not said to fit.
pub const DETECTABLE: f64 = 0.20;
/// What the spread of all groups is worth against that of a group, in hosts.
const HOSTS_OF_ALL: f64 = 8.0;

/// How much slower a host may be, as a logarithm, given the spread of its group.
pub fn published_reach(deviation: f64, spreads: f64) -> f64 {
    (spreads * deviation).max(LEAST.ln_1p())
}

/// The spread of a group, drawn to that of all groups.
pub fn shrunk_deviation(own: f64, hosts: usize, of_all: f64) -> f64 {
    let hosts = hosts as f64;
    let variance = (hosts * own * own + HOSTS_OF_ALL * of_all * of_all) / (hosts + HOSTS_OF_ALL);
    variance.sqrt()
}

/// Where what is expected comes from.
#[derive(Serialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Runs of latlas: on hosts of a fleet, or earlier ones on this machine.
    #[default]
    Runs,
    /// Published figures.
    Published(PublishedHosts),
}

/// Hosts with published figures that this machine is held against.
#[derive(Serialize, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedHosts {
    /// What they have in common: `CPU signature AuthenticAMD 25.17.1`.
    pub cpu: String,
    /// Their provider, if that of this machine is known and has enough of them; otherwise they are of several.
    pub provider: Option<String>,
    /// How many providers they are of.
    pub providers: usize,
    /// How many cloud types they are.
    pub types: usize,
    /// Bytes of L3 that most of them state.
    pub usual_l3_bytes: Option<u64>,
    /// Whom to credit.
    pub credit: String,
    /// What this machine shows that its CPU can't have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Differs>,
    /// Why memory is not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_memory: Option<String>,
}

impl PublishedHosts {
    /// Spreads beyond which a host is slow.
    pub fn spreads(&self) -> f64 {
        if self.provider.is_some() { SPREADS } else { SPREADS_OF_PROVIDERS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_may_be_slower_by_12_percent_or_by_its_groups_spreads() {
        assert_eq!(published_reach(0.01, SPREADS), 0.12_f64.ln_1p());
        assert_eq!(published_reach(0.1, 2.5), 0.25);
        let of = |provider: Option<&str>| PublishedHosts {
            provider: provider.map(Into::into),
            ..PublishedHosts::default()
        };
        assert!(of(None).spreads() > of(Some("AWS")).spreads());
    }

    #[test]
    fn a_small_group_has_half_of_its_spread_from_all() {
        let variance = |hosts| shrunk_deviation(0.0, hosts, 0.04).powi(2) / 0.04_f64.powi(2);
        assert!((variance(8) - 0.5).abs() < 1e-12);
        assert!((variance(72) - 0.1).abs() < 1e-12);
        assert!((shrunk_deviation(0.03, 20, 0.03) - 0.03).abs() < 1e-12);
    }
}
