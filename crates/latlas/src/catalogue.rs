//! The catalogue's texts.

use meter::probe::{Derive, Probe};
use view::render::ProbeText;

pub fn texts(catalogue: &[Probe]) -> Vec<ProbeText> {
    catalogue.iter().map(probe_text).collect()
}

fn probe_text(probe: &Probe) -> ProbeText {
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
        by_shared_part: probe.depends_on.is_some(),
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
    fn the_page_of_all_rows_has_the_catalogues_texts() {
        let catalogue = probes::catalogue();
        let page = view::render::probes_page(&texts(&catalogue));
        for probe in &catalogue {
            // A probe of several shapes has a section for each.
            let sections = page.split("\n### ").filter_map(|own| own.strip_prefix(&*probe.id));
            let own: String = sections.filter(|own| own.starts_with('\n')).collect();
            for text in [&probe.title, &probe.operation, &probe.method, &probe.source] {
                assert!(own.contains(&**text), "{} lacks {text:?}", probe.id);
            }
            for row in probe.row_ids() {
                assert!(own.contains(&format!("`{row}`")), "{} lacks {row}", probe.id);
            }
        }
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
            let is_point = model::size::parse_size(point).is_some();
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
