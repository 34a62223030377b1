//! What talking over a network costs, on this machine's loopback and to a
//! peer.

mod bulk;
mod connect;
pub(crate) mod loopback;
mod peer;
mod round_trip;

use meter::probe::{Effort, Probe};
use model::run::{Bound, Regime};

pub(crate) fn net_probes() -> Vec<Probe> {
    let mut probes = round_trip::round_trip_probes();
    probes.push(connect::connect_probe());
    probes.push(bulk::send());
    probes.push(bulk::bandwidth());
    probes.push(peer::peer_probe());
    probes
}

/// What the rows of the group have in common.
fn blank(id: &'static str, samples: u32, sample_ns: f64) -> Probe {
    Probe {
        bound: Bound::Memory,
        regime: Regime::Stamped,
        effort: Effort::stamped(2, samples, sample_ns),
        ..Probe::blank(id)
    }
}
