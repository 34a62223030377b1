//! What is marked on pictures over the working set: the levels that were found,
//! and what the system says of its caches.

use super::super::source::{Picture, Source};
use super::super::{Band, Body, Mark};
use model::story::levels::{Level, cache_name, cache_size, os_caches};

/// Shades the levels that were found.
pub(super) fn levels(source: &Source, picture: &mut Picture) {
    let Body::Lines(lines) = &mut picture.chart.body else {
        return;
    };
    for level in Level::of_latency(source.run) {
        lines.bands.push(Band {
            name: level.name.into(),
            figure: level.figure(),
            from: level.from_bytes as f64,
            to: level.to_bytes as f64,
        });
    }
}

/// Marks the caches that the system tells of.
pub(super) fn caches(source: &Source, picture: &mut Picture) {
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
