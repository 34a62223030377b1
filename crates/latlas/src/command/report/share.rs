//! `latlas report --share`: one page of a machine to send, without personal details.

use super::{NamedRun, Preview, is_stream, picture_beside};
use crate::arguments::report::ReportOptions;
use crate::command::export::personal_names;
use crate::ending;
use crate::output;
use anyhow::bail;
use compare::references::References;
use serde_json::Map;
use std::process::ExitCode;
use store::exchange::export::{ExportFormat, KnownBeside, export_with};
use view::report::{Link, SharedContent, shared_html};

/// Writes the page of a run.
pub(super) fn share(
    runs: &[NamedRun],
    references: &References,
    options: &ReportOptions,
) -> anyhow::Result<ExitCode> {
    let [one] = runs else { bail!("--share writes a page of one run: remove the others") };
    // What a published record may hold, this page may.
    let known = KnownBeside { names: personal_names(), more: &|_| Map::new() };
    let record = export_with(&one.run, ExportFormat::Reference, &[], &known)
        .map_err(|why| anyhow::anyhow!("no page to share: {why}"))?;
    let run = store::from_bytes(record.text.as_bytes())?;
    let to_stream = ending::is_stdout(&options.out) || is_stream(&options.out);
    let preview = picture_beside(&run, options, to_stream)?;
    let link = options.url.as_ref().map(|page| Link {
        page: page.clone(),
        image: preview.as_ref().map(|preview| preview.url.clone()),
    });
    let content =
        SharedContent { run: &run, left_out: &record.left_out, references, link: link.as_ref() };
    let text = shared_html(&content);
    if ending::is_stdout(&options.out) {
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(Preview { path, bytes, .. }) = &preview {
        store::write_bytes(bytes, path)?;
    }
    store::write_bytes(text.as_bytes(), &options.out)?;
    let image = preview.as_ref().map(|preview| &preview.path);
    let written = serde_json::json!({
        "page": options.out,
        "bytes": text.len(),
        "image": image,
        "runs": [&run.id],
        "left_out": record.left_out,
    });
    output::print_json_or(options.json, &written, || {
        let files = std::iter::once(&options.out).chain(image);
        files.map(|file| format!("{}\n", file.display())).collect()
    })?;
    if !options.json {
        for line in &record.left_out {
            output::message(format_args!("omitted: {}", output::harmless(line)));
        }
    }
    Ok(ExitCode::SUCCESS)
}
