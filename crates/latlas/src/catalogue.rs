//! The catalogue's texts, as the renderer wants them.

use atlas::render::ProbeText;
use meter::probe::{Derive, Probe, Shape};

/// The texts of all probes.
pub(crate) fn texts(catalogue: &[Probe]) -> Vec<ProbeText> {
    catalogue.iter().map(text).collect()
}

fn text(probe: &Probe) -> ProbeText {
    ProbeText {
        id: probe.id.to_string(),
        rows: probe.row_ids(),
        title: probe.title.to_string(),
        operation: probe.operation.to_string(),
        method: probe.method.to_string(),
        source: probe.source.to_string(),
        unit: probe.unit,
        bound: probe.bound,
        regime: probe.regime,
        since: probe.since,
        axes: match &probe.shape {
            Shape::Figure => Vec::new(),
            Shape::Curve(axis, _) => vec![*axis],
            Shape::Map { y, x } => vec![y.0, x.0],
        },
        levels: probe.derive == Derive::Levels,
    }
}
