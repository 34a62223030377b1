//! What the ending of a file's name says about its content: the one list for every command that
//! writes a file of the user.

use anyhow::bail;
use std::path::Path;
use store::Output;

/// What is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Json,
    /// Compressed JSON, or a trace.
    Zst,
    Html,
    Svg,
    Png,
    Pdf,
    Perfetto,
    /// A format of `latlas export`.
    Exported(&'static str),
    /// What no command writes.
    Other,
}

const ENDINGS: [(&str, Ending); 27] = [
    (".json", Ending::Json),
    (".zst", Ending::Zst),
    (".html", Ending::Html),
    (".htm", Ending::Html),
    (".svg", Ending::Svg),
    (".png", Ending::Png),
    (".pdf", Ending::Pdf),
    (".pftrace", Ending::Perfetto),
    (".perfetto-trace", Ending::Perfetto),
    (".perf.data", Ending::Other),
    (".md", Ending::Exported("markdown")),
    (".csv", Ending::Exported("csv")),
    (".jsonl", Ending::Exported("jsonl")),
    (".tsv", Ending::Other),
    (".xml", Ending::Other),
    (".yaml", Ending::Other),
    (".yml", Ending::Other),
    (".toml", Ending::Other),
    (".jpg", Ending::Other),
    (".jpeg", Ending::Other),
    (".gif", Ending::Other),
    (".webp", Ending::Other),
    (".gz", Ending::Other),
    (".bz2", Ending::Other),
    (".xz", Ending::Other),
    (".zip", Ending::Other),
    (".sqlite", Ending::Other),
];

/// What the ending says; `None` where it says nothing.
pub(crate) fn from_path(path: &Path) -> Option<Ending> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let known = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
    known.map(|(_, ending)| *ending)
}

/// The ending, if it is one of these.
pub(crate) fn one_of(path: &Path, known: &[Ending]) -> anyhow::Result<Ending> {
    match from_path(path).filter(|ending| known.contains(ending)) {
        Some(ending) => Ok(ending),
        None => bail!(
            "can't tell the format of {}: its ending is not one of {}",
            path.display(),
            ending_names(known)
        ),
    }
}

/// Refuses a file whose ending says something else than the format that was asked for.
pub(crate) fn check_format(path: &Path, format: &str, written: &[Ending]) -> anyhow::Result<()> {
    match from_path(path) {
        Some(other) if !written.contains(&other) => bail!(
            "can't write {}: --format {format} writes {}: change the name or the format",
            path.display(),
            ending_names(written)
        ),
        _ => Ok(()),
    }
}

/// Refuses a file whose ending says something else than what is `written` to it.
pub(crate) fn check_ending(path: &Path, written: &[Ending]) -> anyhow::Result<()> {
    match from_path(path) {
        Some(other) if !written.contains(&other) => bail!("{}", ending_refused(path, written)),
        _ => Ok(()),
    }
}

fn ending_refused(path: &Path, written: &[Ending]) -> String {
    let path = path.display();
    format!("can't write {path}: this command writes {}", ending_names(written))
}

fn ending_names(endings: &[Ending]) -> String {
    let first = |wanted| ENDINGS.iter().find(|(_, ending)| ending == wanted);
    let names = endings.iter().filter_map(first).map(|(name, _)| *name);
    names.collect::<Vec<_>>().join(", ")
}

/// The file for a Run document, checked before measuring.
///
/// # Errors
/// Why it can't be written; which command writes what its ending says.
pub fn run_file(path: &Path) -> anyhow::Result<Output> {
    const WRITTEN: [Ending; 2] = [Ending::Json, Ending::Zst];
    let instead = match from_path(path) {
        Some(Ending::Html) => "report -o",
        Some(Ending::Svg | Ending::Png | Ending::Pdf) => "plot ROW -o",
        Some(Ending::Perfetto) => "trace ROW --out",
        Some(Ending::Exported(format)) => &format!("export --format {format} -o"),
        _ => {
            check_ending(path, &WRITTEN)?;
            return output_named(path);
        }
    };
    let (refused, path) = (ending_refused(path, &WRITTEN), path.display());
    bail!("{refused}; afterwards, `latlas {instead} {path}` writes that")
}

/// The file for another JSON document, checked before measuring.
pub fn json_file(path: &Path) -> anyhow::Result<Output> {
    check_ending(path, &[Ending::Json])?;
    output_named(path)
}

/// Whether the name of an output means standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn output_named(path: &Path) -> anyhow::Result<Output> {
    if is_stdout(path) {
        bail!("--out needs the name of a file: --json prints the document");
    }
    Ok(Output::open(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_decides_and_an_unknown_one_says_nothing() {
        for (name, expected) in [
            ("a/run.json", Some(Ending::Json)),
            ("run.json.zst", Some(Ending::Zst)),
            ("R.HTML", Some(Ending::Html)),
            ("t.perf.data", Some(Ending::Other)),
            ("perf.data.old", None),
            ("v1.2", None),
            ("html", None),
            ("a.html/run", None),
        ] {
            assert_eq!(from_path(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn a_run_is_not_written_under_another_formats_name() {
        for (name, instead) in [
            ("r.html", "latlas report -o r.html"),
            ("r.svg", "latlas plot ROW -o r.svg"),
            ("r.pftrace", "latlas trace ROW --out r.pftrace"),
            ("r.csv", "latlas export --format csv -o r.csv"),
            ("r.gz", ".json, .zst"),
            ("-", "--json"),
        ] {
            let error = run_file(Path::new(name)).expect_err(name).to_string();
            assert!(error.contains(instead), "{error}");
        }
        let check = |name| {
            let checked = check_format(Path::new(name), "csv", &[Ending::Exported("csv")]);
            checked.map_err(|error| error.to_string())
        };
        assert_eq!((check("r.csv"), check("r.txt")), (Ok(()), Ok(())));
        let wrong = "can't write z.json: --format csv writes .csv: change the name or the format";
        assert_eq!(check("z.json"), Err(wrong.to_owned()));
        let error = json_file(Path::new("n.json.zst")).expect_err("zst");
        assert!(error.to_string().ends_with("writes .json"), "{error}");
    }
}
