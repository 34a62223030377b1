//! Files of the commands' output and input.

use crate::arguments::exec::TimingOptions;
use anyhow::bail;
use meter::commands::input::Input;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Refuses a check of an output that is not there, and an output file that is also read, or written
/// by latlas (`out`). Returns the commands' input: a pipe is read here, before the measuring lock.
pub(in crate::command) fn check_files(
    options: &TimingOptions,
    out: Option<&Path>,
) -> anyhow::Result<Input> {
    if options.check.is_some() && options.warmup == Some(0) {
        bail!("--check needs a warm-up run: remove --warmup 0");
    }
    let others = [("--input", options.input.as_deref()), ("--out", out)];
    for (name, other) in others {
        let output = output_file(options);
        let is_output = |other: &&Path| output.is_some_and(|output| same_file(&output, other));
        if let Some(other) = other.filter(is_output) {
            bail!(
                "--output and {name} are the same file, {}: each run would truncate it",
                other.display()
            );
        }
    }
    match &options.input {
        Some(path) => Ok(Input::open_named(path)?),
        None => Ok(Input::default()),
    }
}

/// The file that the commands' output goes to, if it goes to one.
pub(super) fn output_file(options: &TimingOptions) -> Option<PathBuf> {
    match options.output.to_str() {
        _ if options.show_output => None,
        Some("null" | "show") => None,
        _ => Some(options.output.clone().into()),
    }
}

/// Whether two paths are the same regular file, or would be once it exists.
fn same_file(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(a), Ok(b)) => a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino()),
        (Err(_), Err(_)) => {
            let resolved = |path: &Path| {
                let directory = match path.parent() {
                    Some(parent) if parent != Path::new("") => parent,
                    _ => Path::new("."),
                };
                Some((directory.canonicalize().ok()?, path.file_name()?.to_owned()))
            };
            resolved(one).is_some_and(|one| resolved(other) == Some(one))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_may_have_two_names() {
        let here = std::env::temp_dir().join(format!("latlas-same-{}", std::process::id()));
        std::fs::create_dir_all(here.join("b")).expect("a directory");
        let at = |name: &str| here.join(name);
        std::fs::write(at("a"), "x").expect("a file");
        std::fs::hard_link(at("a"), at("link")).expect("a link");
        assert!(same_file(&at("a"), &at("link")));
        assert!(same_file(&at("new"), &at("b/../new")));
        assert!(!same_file(&at("new"), &at("b/new")));
        assert!(!same_file(&at("a"), &at("new")));
        let null = Path::new("/dev/null");
        assert!(!same_file(null, null), "nothing is lost there");
        std::fs::remove_dir_all(&here).expect("removed");
    }
}
