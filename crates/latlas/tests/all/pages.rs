//! The documentation: whatever a text of the program or a page names is there, offline too.

use crate::support::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Hand-written pages have at most this many words together.
const MOST_WORDS: usize = 30_000;
/// Made from the points of the studies.
const MADE: &str = "seeds.md";

/// All files below these folders with one of these endings.
fn files(folders: &[&str], endings: &[&str]) -> Vec<PathBuf> {
    let mut left: Vec<PathBuf> = folders.iter().map(|name| Path::new(ROOT).join(name)).collect();
    let mut found = Vec::new();
    while let Some(path) = left.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == "target" || name == "node_modules" {
            continue;
        }
        match path.read_dir() {
            Ok(entries) => left.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) if endings.iter().any(|end| name.ends_with(end)) => found.push(path),
            Err(_) => {}
        }
    }
    found
}

/// The pages for people; changes of the past may name what is gone.
fn pages() -> Vec<PathBuf> {
    let root = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "INVARIANTS.md"];
    let mut pages = files(&["docs", "crates", "libraries", "packs", "apps", "benches"], &[".md"]);
    pages.extend(root.map(|name| Path::new(ROOT).join(name)));
    pages
}

/// What `latlas help` takes: topics and commands.
fn topics(home: &Home) -> BTreeSet<String> {
    let help = home.run("help").ok().out;
    let (commands, topics) = help.split_once("\nTopics of latlas help:\n").expect("topics");
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let indented =
        commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    topics.lines().chain(indented).filter_map(first).collect()
}

/// The words after each `latlas help ` of a text, up to two.
fn asked_topics(text: &str) -> impl Iterator<Item = (String, String)> {
    text.split("latlas help ").skip(1).map(|rest| {
        let is_word = |c: char| c.is_ascii_lowercase() || c == '-';
        let mut words = rest.split(|c| !is_word(c));
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        (first.to_owned(), format!("{first}-{second}"))
    })
}

#[test]
fn every_topic_that_a_text_names_is_there() {
    let home = Home::new();
    let there = topics(&home);
    let sources = files(
        &["crates", "programs", "libraries", "packs", "contrib", "docs", "README.md"],
        &[".rs", ".md", ".js", ".h", ".sh", ".toml", ".json", ".snap"],
    );
    let mut named = 0;
    for path in sources.iter().filter(|path| !path.ends_with("tests/all/pages.rs")) {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        for (one, two) in asked_topics(&text).filter(|(one, _)| !one.is_empty()) {
            named += 1;
            let known = there.contains(&one) || there.contains(&two);
            assert!(known, "{} names `latlas help {one}`, which is not there", path.display());
        }
    }
    assert!(named > 40, "only {named}");
}

#[test]
fn no_text_of_the_program_names_a_file_of_the_sources() {
    for path in files(&["crates", "programs", "libraries"], &[".rs"]) {
        let text = std::fs::read_to_string(&path).expect("a source");
        let is_test = path.to_string_lossy().contains("/tests/") || path.ends_with("tests.rs");
        for line in text.lines().map(str::trim) {
            let Some((_, rest)) = line.split_once("docs/") else { continue };
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-_./".contains(c));
            let name = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
            if line.contains("://") || !name.contains('.') {
                continue;
            }
            let file = Path::new(ROOT).join("docs").join(name);
            assert!(file.exists(), "{}: {line}: no docs/{name}", path.display());
            // What is printed is read where no sources are.
            let printed =
                !line.starts_with("//") && !is_test && !line.contains("CARGO_MANIFEST_DIR");
            let in_test = ["include_str!", "assert", "expect(", "UPDATE_DOCS", "differs from"];
            let printed = printed && !in_test.iter().any(|mark| line.contains(mark));
            assert!(!printed, "{}: {line}: name `latlas help TOPIC` instead", path.display());
        }
    }
}

/// A heading as the anchor that Markdown makes of it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

#[test]
fn links_of_pages_lead_somewhere() {
    let mut links = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        for link in text.split("](").skip(1) {
            let target = link.split(')').next().unwrap_or_default();
            if target.contains("://") || target.contains(['\n', ' ', '"']) || target.is_empty() {
                continue;
            }
            let (file, part) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => page.clone(),
                file => page.parent().expect("a folder").join(file),
            };
            assert!(path.exists(), "{}: no {target}", page.display());
            if !part.is_empty() {
                let linked = std::fs::read_to_string(&path).expect("a page");
                let mut headings = linked.lines().filter(|line| line.starts_with('#'));
                let there = headings.any(|line| anchor(line.trim_start_matches('#')) == part);
                assert!(there, "{}: no heading {target}", page.display());
            }
            links += 1;
        }
    }
    assert!(links > 100, "only {links}");
}

#[test]
fn hand_written_pages_are_short() {
    let all = files(&["docs"], &[".md"]).into_iter().filter(|page| !page.ends_with(MADE));
    let words: usize = all
        .map(|page| std::fs::read_to_string(page).expect("a page").split_whitespace().count())
        .sum();
    assert!(words <= MOST_WORDS, "{words} words in docs/, {MOST_WORDS} at most: cut some");
}

#[test]
fn pages_are_printed_without_anything_else() {
    let home = Home::new();
    let tutorial = home.run("help tutorial").ok().out;
    has(&tutorial, ["# Tutorial", "    $ latlas\n", "`latlas help trust`"]);
    lacks(&tutorial, ["](", "```"]);
    has(&home.run("help noise tune").ok().out, ["noise tune", "Options: latlas noise tune --help"]);
    has(&home.run("help show").ok().out, ["Print a stored run", "Usage: latlas show"]);
    has(&home.run("help rows").ok().out, ["memory.latency", "cpu.add_i32"]);
    has(&home.run("help commands").ok().out, ["latlas noise tune", "--baseline"]);
    home.run("help tutoriel").refused("no topic or command \"tutoriel\"; did you mean tutorial?");
}
