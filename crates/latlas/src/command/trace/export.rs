//! `latlas trace export`: a trace for other programs, by the file's ending.

use crate::command::picture::{Paint, painted};
use ::trace::{firefox, perf_data, perfetto};
use anyhow::bail;
use model::trace::{Tier, Trace};
use std::path::Path;
use view::chart::of_trace;
use view::timeline;

/// What a trace is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Perfetto,
    Html,
    PerfData,
    Firefox,
    /// Of a stretch, in ns.
    Picture(Paint, Option<(u64, u64)>),
}

/// Threads of a picture.
const MOST_THREADS: usize = 24;

/// Endings of files, with what they ask for.
const ENDINGS: [(&str, Format); 7] = [
    (".html", Format::Html),
    (".pftrace", Format::Perfetto),
    (".svg", Format::Picture(Paint::Svg, None)),
    (".png", Format::Picture(Paint::Png, None)),
    (".pdf", Format::Picture(Paint::Pdf, None)),
    (".json", Format::Firefox),
    (".perf.data", Format::PerfData),
];

/// What a file's ending asks for; on standard output it is Perfetto's.
pub(super) fn format(out: &Path, stretch: Option<(u64, u64)>) -> anyhow::Result<Format> {
    let name = out.to_string_lossy();
    let known = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
    match known {
        Some((_, Format::Picture(paint, _))) => Ok(Format::Picture(*paint, stretch)),
        _ if stretch.is_some() => bail!("--from and --to need a picture: .svg, .png or .pdf"),
        Some((_, format)) => Ok(*format),
        None if name == "-" => Ok(Format::Perfetto),
        None => {
            let endings = ENDINGS.map(|(ending, _)| ending).join(", ");
            bail!("can't tell the format of {name}: its ending is not one of {endings}")
        }
    }
}

/// The trace in this format.
///
/// # Errors
/// If the tier recorded nothing that the format can hold.
pub(super) fn converted(trace: &Trace, format: Format) -> anyhow::Result<Vec<u8>> {
    let threads = &trace.threads;
    let has_signposts = || threads.iter().any(|thread| !thread.signposts.is_empty());
    match format {
        Format::PerfData if trace.tier != Tier::Full => bail!(
            "nothing to export: .perf.data needs the scheduler's tracepoints, which this trace (tier \
             {}) does not have; record with --tier full (root)",
            trace.tier.name()
        ),
        Format::Perfetto if trace.tier == Tier::Minimal && !has_signposts() => bail!(
            "nothing to export: .pftrace holds states and signposts, and this trace (tier {}) has \
             none; record with --tier own or full",
            trace.tier.name()
        ),
        _ => {}
    }
    let mut bytes = Vec::new();
    match format {
        Format::Perfetto => perfetto::write(trace, &mut bytes)?,
        Format::Firefox => firefox::write(trace, &mut bytes)?,
        Format::PerfData => perf_data::write(trace, &mut bytes)?,
        Format::Html => bytes = timeline::page(trace).into_bytes(),
        Format::Picture(paint, stretch) => {
            bytes = painted(&of_trace(trace, stretch, MOST_THREADS), paint)?;
        }
    }
    Ok(bytes)
}
