//! Kernel files by a pattern, in which `<n>` stands for a decimal number.

use sys::files::Files;

const NUMBER: &str = "<n>";

/// Whether a path is one of a pattern.
pub(crate) fn fits(pattern: &str, path: &str) -> bool {
    match pattern.split_once(NUMBER) {
        None => pattern == path,
        Some((before, after)) => path
            .strip_prefix(before)
            .and_then(|path| path.strip_suffix(after))
            .is_some_and(|n| (1..10).contains(&n.len()) && n.bytes().all(|b| b.is_ascii_digit())),
    }
}

/// The files of a pattern that exist, by their numbers.
pub(crate) fn expand(files: &dyn Files, pattern: &str) -> Vec<(Option<u32>, String)> {
    let mut found = match pattern.split_once(NUMBER) {
        None => vec![(None, pattern.to_owned())],
        Some((before, after)) => {
            let (directory, start) = before.rsplit_once('/').unwrap_or_default();
            let names = files.names(directory).into_iter();
            let numbers = names.filter_map(|name| name.strip_prefix(start)?.parse::<u32>().ok());
            let path = |n: u32| (Some(n), format!("{before}{n}{after}"));
            numbers.map(path).collect()
        }
    };
    found.retain(|(_, path)| files.exists(path));
    found.sort_unstable();
    found
}
