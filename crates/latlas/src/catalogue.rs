//! The catalogue's texts.

use meter::probe::{Derive, Probe};
use view::render::ProbeText;

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
        long_from: probe.long_from,
        since: probe.since,
        axes: probe.shape.axes(),
        levels: matches!(probe.derive, Derive::Levels(_)),
        points: probe.point_ids(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use compare::references::References;

    #[test]
    fn the_page_of_all_rows_is_the_catalogues() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/probes.md");
        let text = view::render::probes_page(&texts(&probes::catalogue()));
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
    fn every_published_row_is_in_the_catalogue() {
        let probes = probes::catalogue();
        let levels: Vec<String> = probes
            .iter()
            .filter(|probe| matches!(probe.derive, Derive::Levels(_)))
            .flat_map(Probe::row_ids)
            .collect();
        let own = |probe: &Probe| [probe.row_ids(), probe.point_ids()].concat();
        let rows: Vec<String> = probes.iter().flat_map(own).collect();
        let is_here = |id: &str| {
            let (curve, point) = id.rsplit_once('/').unwrap_or_default();
            let is_point = model::size::parse(point).is_some();
            rows.iter().any(|row| row == id || (row == curve && is_point))
                || levels.iter().any(|level| level == curve)
        };
        let references = References::embedded().expect("our own tables");
        let mut here = 0;
        for key in references.keys() {
            let table = references.find(key).expect("a key of its own list");
            // The row that does the same job through other code is one too.
            let ids = table.rows.iter().filter(|row| !row.reference_only);
            for id in ids.flat_map(|row| [Some(&row.id), row.like.as_ref()]).flatten() {
                let group = id.split('.').next().unwrap_or_default();
                assert!(probes::GROUPS.contains(&group), "{key}: {id} is of no group");
                assert!(is_here(id), "{key}: {id} is not in the catalogue");
                here += 1;
            }
        }
        assert!(here >= 60, "only {here} published rows are here");
    }
}
