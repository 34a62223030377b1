//! What is marked on pictures over the working set: the levels that were found,
//! and what the system says of its caches.

use super::super::source::{ChartSource, Picture};
use super::super::{Band, Body, Mark};
use model::story::levels::{CurveLevel, cache_name, cache_size, os_caches};

/// Shades the levels that were found in this curve.
pub(super) fn levels(source: &ChartSource, picture: &mut Picture, curve: &str) {
    let Body::Lines(lines) = &mut picture.chart.body else {
        return;
    };
    for level in CurveLevel::all(source.run).filter(|level| level.curve == curve) {
        lines.bands.push(Band {
            name: level.name.into(),
            figure: level.figure_text(),
            from: level.from_bytes as f64,
            to: level.to_bytes as f64,
        });
    }
}

/// Marks the caches that the system tells of.
pub(super) fn caches(source: &ChartSource, picture: &mut Picture) {
    let Body::Lines(lines) = &mut picture.chart.body else {
        return;
    };
    let caches = match os_caches(source.run) {
        Ok(caches) => caches,
        Err(why) => {
            let notes = &mut picture.chart.notes;
            notes.push(format!("The system's cache sizes are not known: {why}."));
            return;
        }
    };
    lines.marks.extend(caches.iter().filter_map(|cache| {
        Some(Mark {
            name: format!("{} {}", cache_name(cache), cache_size(cache)),
            x: cache.size_bytes? as f64,
        })
    }));
}
