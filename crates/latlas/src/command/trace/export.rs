//! `latlas trace export`: a trace for other programs, by the file's ending.

use ::trace::{firefox, perf_data, perfetto};
use anyhow::bail;
use model::trace::Trace;
use std::path::Path;
use view::timeline;

/// What a trace is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Perfetto,
    Html,
    PerfData,
    Firefox,
}

/// Endings of files, with what they ask for.
const ENDINGS: [(&str, Format); 4] = [
    (".html", Format::Html),
    (".pftrace", Format::Perfetto),
    (".json", Format::Firefox),
    (".perf.data", Format::PerfData),
];

/// What a file's ending asks for; on standard output it is Perfetto's.
pub(super) fn format(out: &Path) -> anyhow::Result<Format> {
    let name = out.to_string_lossy();
    let known = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
    match known {
        Some((_, format)) => Ok(*format),
        None if name == "-" => Ok(Format::Perfetto),
        None => {
            let endings = ENDINGS.map(|(ending, _)| ending).join(", ");
            bail!("can't tell the format of {name}: its ending is not one of {endings}")
        }
    }
}

/// The trace in this format.
pub(super) fn converted(trace: &Trace, format: Format) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match format {
        Format::Perfetto => perfetto::write(trace, &mut bytes)?,
        Format::Firefox => firefox::write(trace, &mut bytes)?,
        Format::PerfData => perf_data::write(trace, &mut bytes)?,
        Format::Html => bytes = timeline::page(trace).into_bytes(),
    }
    Ok(bytes)
}
