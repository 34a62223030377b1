//! `latlas report`: an HTML page of a run.

mod share;

use crate::arguments::report::ReportOptions;
use crate::ending::{self, Ending};
use crate::{catalogue, output};
use anyhow::{Context, bail};
use compare::operand::Operand;
use compare::references::References;
use compare::{Comparison, Normalize, Options, compare};
use meter::probe::Probe;
use model::phrases::short_id;
use model::run::Run;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::index::Index;
use store::operand;
use store::{self, LastOf, Output, Store, StoreError};
use sys::input;
use view::chart::{OtherRun, Picture, pictures, png, svg};
use view::report::{
    Content, Link, Offered, TitledRun, card, histories, is_ours, link, report_html, set_over_time,
};

/// A run of the command line.
struct NamedRun {
    name: String,
    run: Run,
    /// The document, byte for byte.
    bytes: Vec<u8>,
}

/// Writes the page of the first run, compared with the others.
pub fn report(catalogue: &[Probe], options: &ReportOptions) -> anyhow::Result<ExitCode> {
    let to_stdout = ending::is_stdout(&options.out);
    if to_stdout && options.json {
        bail!("the report and --json can't both use standard output: add -o FILE");
    }
    if !to_stdout {
        check_page(&options.out, options.force)?;
    }
    let references = References::embedded()?;
    let store = Store::of_user();
    let runs = named_runs(&options.runs, &store)?;
    if options.share {
        return share::share(&runs, &references, options);
    }
    let [first, rest @ ..] = runs.as_slice() else {
        bail!("give a run (default: the last one)");
    };
    let named = rest.iter().map(|other| (other.name.clone(), &other.run));
    let compared = compared((&first.name, &first.run), named.collect(), &store)?;
    for other in &compared {
        // The page is useful without it.
        if let Err(why) = &other.comparison {
            output::message(format_args!("no comparison: {why}"));
        }
    }
    let (mut drawn, mut left_out) = pictures(&first.run, &references, &compared);
    set_over_time(history(&first.run), &mut drawn, &mut left_out);
    let comparisons = compared.into_iter().filter_map(|b| b.comparison.ok());
    let comparisons: Vec<Comparison> = comparisons.collect();
    // Next to a device or a pipe there is no place for files.
    let to_stream = to_stdout || is_stream(&options.out);
    let documents = match to_stream || options.no_documents {
        true => Vec::new(),
        false => documents(&runs, &options.out),
    };
    let preview = picture_beside(&first.run, options, to_stream)?;
    let link = options.url.as_ref().map(|page| Link {
        page: page.clone(),
        image: preview.as_ref().map(|preview| preview.url.clone()),
    });
    for document in &documents {
        document.check_overwrite(options.force)?;
    }

    let others: Vec<TitledRun> = rest.iter().map(NamedRun::shown).collect();
    let offered: Vec<Offered> = documents.iter().map(|d| d.offered.clone()).collect();
    let text = report_html(&Content {
        shown: first.shown(),
        others: &others,
        references: &references,
        probes: &catalogue::texts(catalogue),
        pictures: &drawn,
        left_out: &left_out,
        comparisons: &comparisons,
        offered: &offered,
        link: link.as_ref(),
        all_runs: None,
    });
    if to_stdout {
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    // The page last: it links to the others.
    for document in &documents {
        store::write_bytes(document.bytes, &document.path)?;
    }
    if let Some(preview) = &preview {
        store::write_bytes(&preview.bytes, &preview.path)?;
    }
    store::write_bytes(text.as_bytes(), &options.out)?;

    let files: Vec<&PathBuf> = documents.iter().map(|d| &d.path).collect();
    let image = preview.as_ref().map(|preview| &preview.path);
    match options.json {
        true => output::print(&format!(
            "{:#}\n",
            serde_json::json!({
                "page": options.out,
                "bytes": text.len(),
                "documents": files,
                "image": image,
                "runs": runs.iter().map(|one| &one.run.id).collect::<Vec<_>>(),
                "pictures": drawn.iter().map(|p| &p.chart.id).collect::<Vec<_>>(),
                "left_out": left_out,
            })
        ))?,
        false => {
            let mut text = format!("{}\n", options.out.display());
            for file in files.into_iter().chain(image) {
                text.push_str(&format!("{}\n", file.display()));
            }
            output::print(&text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The page of a run by itself.
pub fn alone(run: &Run, references: &References) -> String {
    let (drawn, left_out) = pictures(run, references, &[]);
    report_html(&Content {
        shown: TitledRun { name: "this run", run },
        others: &[],
        references,
        probes: &[],
        pictures: &drawn,
        left_out: &left_out,
        comparisons: &[],
        offered: &[],
        link: None,
        all_runs: None,
    })
}

impl NamedRun {
    fn shown(&self) -> TitledRun<'_> {
        TitledRun { name: &self.name, run: &self.run }
    }
}

/// The runs by their names, each once.
fn named_runs(
    names: &[String],
    store: &Result<Store, StoreError>,
) -> anyhow::Result<Vec<NamedRun>> {
    let mut all: Vec<NamedRun> = Vec::new();
    for name in names {
        let (run, bytes) = match super::trace::foreign_document(Path::new(name))? {
            Some(run) => {
                let bytes = store::packed(&run)?;
                (run, bytes)
            }
            None => {
                let path = super::run_path_named(name, store, LastOf::RowsIfAny)?;
                store::read_with_bytes(&path)?
            }
        };
        if all.iter().any(|other| other.run.id == run.id) {
            bail!("{name:?} is given twice");
        }
        let name = name.clone();
        all.push(NamedRun { name, run, bytes });
    }
    Ok(all)
}

/// Charts of the run's rows over time.
fn history(run: &Run) -> Result<Vec<Picture>, StoreError> {
    let index = Index::open(Store::of_user()?)?;
    let result = histories(&index, run);
    for line in index.messages() {
        output::message(format_args!("{line}"));
    }
    result
}

/// The other runs, each compared with the run.
pub fn compared<'r>(
    (name, run): (&str, &Run),
    others: Vec<(String, &'r Run)>,
    store: &Result<Store, StoreError>,
) -> anyhow::Result<Vec<OtherRun<'r>>> {
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let now = Operand::from_run(name, run.clone());
    let befores = others.iter().map(|(name, run)| Operand::from_run(name, (*run).clone()));
    let befores: Vec<Operand> = befores.collect();
    let mut messages = Vec::new();
    // Without a store there is no history of run-to-run variation.
    let recent = match store {
        Ok(store) => {
            let sides: Vec<&Operand> = befores.iter().chain([&now]).collect();
            operand::recent_like(store, &sides, &mut messages)?
        }
        Err(_) => Vec::new(),
    };
    super::atlas::print_messages(&messages);
    let how = Options { margin: 0.05, fail_above: None, normalize: None::<Normalize> };
    let of = |((name, run), before): ((String, &'r Run), &Operand)| {
        let kept = ::compare::operand::kept_like(&[before, &now], &recent);
        let comparison = compare(before, &now, &kept, &|_| true, &how);
        OtherRun { name, run, comparison: comparison.map_err(|why| why.to_string()) }
    };
    Ok(others.into_iter().zip(&befores).map(of).collect())
}

/// The preview picture of links to the page.
struct Preview {
    path: PathBuf,
    url: String,
    bytes: Vec<u8>,
}

/// The picture next to the page, where the page will have an address.
fn picture_beside(
    run: &Run,
    options: &ReportOptions,
    to_stream: bool,
) -> anyhow::Result<Option<Preview>> {
    let Some(url) = options.url.as_ref().filter(|_| !to_stream) else {
        return Ok(None);
    };
    let path = options.out.with_extension("png");
    // Next to a report of ours it is the picture of that one.
    let is_free = !path.exists() || options.out.exists() || options.force;
    if !is_free {
        bail!("{}", taken(&path, "this report's picture"));
    }
    Output::open(&path)?;
    let image = png(&card(run), svg::Unit::Pixel, svg::SCREEN_DPI);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match image {
        Ok(bytes) => {
            let url = beside(url, &name);
            Ok(Some(Preview { path, url, bytes }))
        }
        Err(why) => {
            output::message(format_args!("no picture for links: {why}"));
            Ok(None)
        }
    }
}

/// The address of a file next to a page.
fn beside(page: &str, file: &str) -> String {
    let host = page.find("://").map_or(0, |at| at + "://".len());
    let directory = page[host..].rfind('/').map_or(page, |at| &page[..host + at]);
    let path = link(file);
    format!("{directory}{}", path.trim_start_matches('.'))
}

/// A run's document next to the page.
struct OfferedDocument<'a> {
    path: PathBuf,
    bytes: &'a [u8],
    offered: Offered,
}

fn documents<'a>(runs: &'a [NamedRun], page: &Path) -> Vec<OfferedDocument<'a>> {
    let stem = page.file_stem().unwrap_or_default().to_string_lossy();
    let of = |one: &'a NamedRun| {
        let bytes = &one.bytes;
        let packed = if store::is_packed(bytes) { ".zst" } else { "" };
        let short = short_id(&one.run.id);
        let file = format!("{stem}.{short}.run.json{packed}");
        OfferedDocument {
            path: page.with_file_name(&file),
            offered: Offered { file, what: format!("run {short}"), bytes: bytes.len() as u64 },
            bytes,
        }
    };
    runs.iter().map(of).collect()
}

impl OfferedDocument<'_> {
    /// Refuses to overwrite another file.
    fn check_overwrite(&self, force: bool) -> anyhow::Result<()> {
        match input::read_file(&self.path, store::MAX_DOCUMENT_BYTES) {
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Ok(there) if force || there == self.bytes => {}
            _ => bail!("{}", taken(&self.path, "this run's document")),
        }
        Ok(Output::open(&self.path).map(drop)?)
    }
}

/// Refuses to overwrite a file that is not a report, or can't be written.
pub fn check_page(path: &Path, force: bool) -> anyhow::Result<()> {
    ending::check_ending(path, &[Ending::Html])?;
    // Closing a pipe again would end its reader.
    if is_stream(path) {
        return Ok(());
    }
    match input::open_file(path) {
        // What else it is, is said when it can't be written.
        Err(_) if !path.is_file() => {}
        Err(e) => return Err(e).with_context(|| format!("can't read {}", path.display())),
        Ok(_) if force => {}
        Ok(file) => {
            let mut head = Vec::new();
            // The mark of a report is near the start.
            let read = file.take(4096).read_to_end(&mut head);
            read.with_context(|| format!("can't read {}", path.display()))?;
            if !head.is_empty() && !is_ours(&head) {
                bail!("{}", taken(path, "a latlas report"));
            }
        }
    }
    Ok(Output::open(path).map(drop)?)
}

/// A device or a pipe: neither a file nor a directory.
fn is_stream(path: &Path) -> bool {
    let kind = std::fs::metadata(path).map(|known| known.file_type());
    kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir())
}

fn taken(path: &Path, what: &str) -> String {
    format!(
        "{} exists and is not {what}: choose another file with -o, or overwrite it with --force",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn a_file_next_to_a_page() {
        for (page, expected) in [
            ("https://a.org/b/c.html", "https://a.org/b/my%20run.png"),
            ("https://a.org/b/", "https://a.org/b/my%20run.png"),
            ("https://a.org", "https://a.org/my%20run.png"),
        ] {
            assert_eq!(beside(page, "my run.png"), expected);
        }
    }
}
