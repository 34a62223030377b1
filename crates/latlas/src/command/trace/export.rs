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
pub(super) enum Format {
    Perfetto,
    Html,
    /// Of a stretch, in ns.
    Picture(Paint, Option<(u64, u64)>),
}

/// Of these a trace is written, besides a run.
const WRITTEN: [Ending; 5] =
    [Ending::Html, Ending::Perfetto, Ending::Svg, Ending::Png, Ending::Pdf];

/// What a file's ending asks for; on standard output it is Perfetto's.
pub(super) fn format(out: &Path, stretch: Option<(u64, u64)>) -> anyhow::Result<Format> {
    let ending = match ending::is_stdout(out) {
        true => Ending::Perfetto,
        false => ending::one_of(out, &WRITTEN)?,
    };
    Ok(match (Paint::of(ending), ending) {
        (Some(paint), _) => Format::Picture(paint, stretch),
        _ if stretch.is_some() => bail!("--from and --to need a picture: .svg, .png or .pdf"),
        (None, Ending::Html) => Format::Html,
        (None, _) => Format::Perfetto,
    })
}

/// The same of a trace that is recorded: `None` for a run, which any other ending gets.
pub(super) fn recorded_format(
    out: &Path,
    stretch: Option<(u64, u64)>,
) -> anyhow::Result<Option<Format>> {
    let drawn = |ending| Paint::of(ending).and(stretch);
    match ending::of(out) {
        None | Some(Ending::Json | Ending::Zst) => Ok(None),
        // The stretch of what is printed is that of a picture, too.
        Some(ending) => format(out, drawn(ending)).map(Some),
    }
}

/// Refuses a format that holds nothing of what a tier records.
pub(super) fn check(format: Format, tier: Tier, has_signposts: bool) -> anyhow::Result<()> {
    match format {
        Format::Perfetto if tier == Tier::Minimal && !has_signposts => bail!(
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
pub(super) fn converted(trace: &Trace, format: Format) -> anyhow::Result<Vec<u8>> {
    let mut threads = trace.threads.iter();
    let has_signposts = threads.any(|thread| !thread.signposts.is_empty());
    check(format, trace.tier, has_signposts)?;
    let mut bytes = Vec::new();
    match format {
        Format::Perfetto => perfetto::write(trace, &mut bytes)?,
        Format::Html => bytes = timeline::page(trace).into_bytes(),
        Format::Picture(paint, stretch) => {
            bytes = painted(&of_trace(trace, stretch, MOST_THREADS), paint)?;
        }
    }
    Ok(bytes)
}
