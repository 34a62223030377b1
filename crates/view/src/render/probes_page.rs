//! The catalogue as a page of documentation, in Markdown.

use super::explain::sampling;
use super::list::{ProbeText, since_text};
use super::table::group_of;

/// Every probe by group: what one operation is, how it is measured, where the
/// definition comes from.
pub fn probes_page(probes: &[ProbeText]) -> String {
    let mut text = String::from(
        "# Every row\n\nMade from the catalogue; `latlas explain ROW` prints the same with the published figures.\n",
    );
    let mut group = "";
    for probe in probes {
        if group_of(&probe.id) != group {
            group = group_of(&probe.id);
            text.push_str(&format!("\n## {group}\n"));
        }
        let rows: Vec<String> = probe.rows.iter().map(|row| format!("`{row}`")).collect();
        text.push_str(&format!("\n### {}\n\n{}: {}.\n\n", probe.id, rows.join(", "), probe.title));
        for (label, words) in [
            ("One operation", probe.operation.as_str()),
            ("Measured", probe.method.as_str()),
            ("Sampling", sampling(probe).as_str()),
            ("Source", probe.source.as_str()),
        ] {
            text.push_str(&format!("- {label}: {words}\n"));
        }
        let runs = since_text(probe.since);
        text.push_str(&format!("- Unit: {}; runs: {runs}\n", probe.unit.name()));
    }
    text
}
