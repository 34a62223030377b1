//! `latlas trace export`: a trace for other programs, by the file's ending.

use crate::command::picture::{Paint, painted};
use crate::ending::{self, Ending};
use ::trace::perfetto;
use anyhow::bail;
use model::trace::{Tier, Trace};
use std::path::Path;
use view::chart::{MOST_THREADS, of_trace};
use view::timeline;

/// What a trace is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TraceFormat {
    Perfetto,
    /// A page that opens on a stretch, in ns.
    Html(Option<(u64, u64)>),
    /// Of a stretch, in ns.
    Picture(Paint, Option<(u64, u64)>),
}

/// Of these a trace is written, besides a run.
const WRITTEN: [Ending; 5] =
    [Ending::Html, Ending::Perfetto, Ending::Svg, Ending::Png, Ending::Pdf];

/// What a file's ending asks for; on standard output it is Perfetto's.
pub(super) fn format(out: &Path, stretch: Option<(u64, u64)>) -> anyhow::Result<TraceFormat> {
    let ending = match ending::is_stdout(out) {
        true => Ending::Perfetto,
        false => ending::one_of(out, &WRITTEN)?,
    };
    Ok(match (Paint::for_ending(ending), ending) {
        (Some(paint), _) => TraceFormat::Picture(paint, stretch),
        (None, Ending::Html) => TraceFormat::Html(stretch),
        _ if stretch.is_some() => {
            bail!("--from and --to need a page or a picture: .html, .svg, .png or .pdf")
        }
        (None, _) => TraceFormat::Perfetto,
    })
}

/// The same of a trace that is recorded: `None` for a run, which any other ending gets.
pub(super) fn recorded_format(
    out: &Path,
    stretch: Option<(u64, u64)>,
) -> anyhow::Result<Option<TraceFormat>> {
    let is_drawn = |ending| ending == Ending::Html || Paint::for_ending(ending).is_some();
    let drawn = |ending| stretch.filter(|_| is_drawn(ending));
    match ending::from_path(out) {
        None | Some(Ending::Json | Ending::Zst) => Ok(None),
        // The stretch of what is printed is that of a page and of a picture, too.
        Some(ending) => format(out, drawn(ending)).map(Some),
    }
}

/// Refuses a format that holds nothing of what a tier records.
pub(super) fn check_format(
    format: TraceFormat,
    tier: Tier,
    has_signposts: bool,
) -> anyhow::Result<()> {
    match format {
        TraceFormat::Perfetto if tier == Tier::Minimal && !has_signposts => bail!(
            "nothing to export: .pftrace holds states and signposts, and this trace (tier {}) has \
             none; record with --tier own or full",
            tier.name()
        ),
        _ => Ok(()),
    }
}

/// The trace in this format.
///
/// # Errors
/// If the tier recorded nothing that the format can hold.
pub(super) fn converted(trace: &Trace, format: TraceFormat) -> anyhow::Result<Vec<u8>> {
    let mut threads = trace.threads.iter();
    let has_signposts =
        threads.any(|thread| !thread.signposts.is_empty() || !thread.heap.is_empty());
    check_format(format, trace.tier, has_signposts)?;
    let mut bytes = Vec::new();
    match format {
        TraceFormat::Perfetto => perfetto::write_perfetto(trace, &mut bytes)?,
        TraceFormat::Html(stretch) => {
            bytes = timeline::timeline_html(trace, stretch).into_bytes();
        }
        TraceFormat::Picture(paint, stretch) => {
            bytes = painted(&of_trace(trace, stretch, MOST_THREADS), paint)?;
        }
    }
    Ok(bytes)
}
