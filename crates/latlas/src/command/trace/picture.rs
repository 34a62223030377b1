//! A picture of a trace.

use anyhow::Context;
use model::trace::Trace;
use std::path::Path;
use view::chart::svg::{Look, Unit, draw_as};
use view::chart::{of_trace, pdf, png};

/// Threads of a picture.
const MOST_THREADS: usize = 24;
/// For screens of two pixels a point.
const DPI: f64 = 192.0;

/// The picture of a stretch, in ns, if the file's name is one of a picture.
///
/// # Errors
/// If it can't be painted.
pub(super) fn drawn(
    trace: &Trace,
    out: &Path,
    stretch: Option<(u64, u64)>,
) -> anyhow::Result<Option<Vec<u8>>> {
    let extension = out
        .extension()
        .map(|end| end.to_string_lossy().to_lowercase());
    let drawn = || draw_as(&of_trace(trace, stretch, MOST_THREADS), &Look::default());
    let painted = || format!("can't paint {}", out.display());
    Ok(Some(match extension.as_deref() {
        Some("svg") => drawn().into_bytes(),
        Some("png") => png(&drawn(), Unit::Pixel, DPI).with_context(painted)?,
        Some("pdf") => pdf(&drawn(), Unit::Pixel).with_context(painted)?,
        _ => return Ok(None),
    }))
}
