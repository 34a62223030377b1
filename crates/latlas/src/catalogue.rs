//! The catalogue's texts, as the renderer wants them.

use atlas::render::ProbeText;
use meter::probe::{Derive, Probe};

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
        axes: probe.shape.axes(),
        levels: probe.derive == Derive::Levels,
        points: probe.point_ids(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas::references::References;

    const MEASURED: [&str; 10] = [
        "memory",
        "cpu",
        "call",
        "alloc",
        "collections",
        "sync",
        "thread",
        "sched",
        "process",
        "net",
    ];
    /// Rows of the 2012 list that one machine can't measure by itself.
    const ELSEWHERE: [&str; 3] = [
        "net.send_1K_1Gbps",
        "net.round_trip_datacenter",
        "net.round_trip_ca_nl",
    ];
    /// Rows of the published tables that come with later groups.
    const OTHER_GROUPS: [&str; 7] = [
        "dispatch",
        "event_loop",
        "file",
        "disk",
        "codec",
        "objc",
        "ui",
    ];

    #[test]
    fn the_page_of_all_rows_is_the_catalogues() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/probes.md");
        let text = atlas::render::probes_page(&texts(&probes::catalogue()));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(page, &text).expect("docs can be written");
        }
        let kept = std::fs::read_to_string(page).unwrap_or_default();
        assert!(
            kept == text,
            "docs/probes.md differs from the catalogue: UPDATE_DOCS=1 cargo test -p latlas"
        );
    }

    #[test]
    fn every_published_row_of_our_groups_is_measured() {
        let probes = probes::catalogue();
        let levels: Vec<String> = probes
            .iter()
            .filter(|probe| probe.derive == Derive::Levels)
            .flat_map(Probe::row_ids)
            .collect();
        let own = |probe: &Probe| [probe.row_ids(), probe.point_ids()].concat();
        let rows: Vec<String> = probes.iter().flat_map(own).collect();
        let references = References::embedded().expect("our own tables");
        let mut ours = 0;
        for key in references.keys() {
            let table = references.find(key).expect("a key of its own list");
            for row in &table.rows {
                let group = row.id.split('.').next().unwrap_or_default();
                if MEASURED.contains(&group) && !ELSEWHERE.contains(&row.id.as_str()) {
                    let level = row.id.rsplit_once('/').map_or("", |(curve, _)| curve);
                    assert!(
                        rows.contains(&row.id) || levels.iter().any(|id| id == level),
                        "{key}: {} is not in the catalogue",
                        row.id
                    );
                    ours += 1;
                } else {
                    assert!(
                        OTHER_GROUPS.contains(&group) || ELSEWHERE.contains(&row.id.as_str()),
                        "{key}: {} is of no group",
                        row.id
                    );
                }
            }
        }
        assert!(ours >= 15, "only {ours} published rows of our groups");
    }
}
