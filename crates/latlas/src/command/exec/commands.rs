//! The commands of a command line.

use crate::arguments::exec::ExecOptions;
use anyhow::{Context, bail};
use model::text::counted;
use std::ffi::{OsStr, OsString};
use std::path::Path;

pub(in crate::command) struct NamedCommand {
    pub(in crate::command) name: String,
    pub(in crate::command) words: Vec<OsString>,
    pub(in crate::command) shell: Option<String>,
}

pub(super) fn named_commands(options: &ExecOptions) -> anyhow::Result<Vec<NamedCommand>> {
    let mut named = Vec::new();
    let first = match &options.timing.shell {
        None => (options.words.clone(), None),
        Some(shell) => {
            let line = options.words.join(OsStr::new(" "));
            (in_shell(shell, &line)?, Some(line.to_string_lossy().into_owned()))
        }
    };
    let others = options.vs.iter().map(|text| match &options.timing.shell {
        None => split(text).map(|words| (words, None)),
        Some(shell) => Ok((in_shell(shell, OsStr::new(text))?, Some(text.clone()))),
    });
    let all: Vec<_> = std::iter::once(Ok(first)).chain(others).collect();
    if options.name.len() > all.len() {
        bail!(
            "{} for {}: give one --name for each command",
            counted(options.name.len(), "name"),
            counted(all.len(), "command")
        );
    }
    for (k, command) in all.into_iter().enumerate() {
        let (words, shell) = command?;
        let own = || name_of(shell.as_deref(), &words);
        let wanted = options.name.get(k).cloned().unwrap_or_else(own);
        named.push(NamedCommand {
            name: unused(wanted, &named, options.name.get(k).is_some())?,
            words,
            shell,
        });
    }
    Ok(named)
}

/// A line for a shell.
///
/// # Errors
/// That there is no command in it: a shell that starts and ends would be timed.
pub(in crate::command) fn in_shell(shell: &OsStr, line: &OsStr) -> anyhow::Result<Vec<OsString>> {
    let text = line.to_string_lossy();
    let is_empty = |line: &str| line.trim().is_empty() || line.trim().starts_with('#');
    if text.lines().all(is_empty) {
        bail!("no command in {text:?}");
    }
    Ok(vec![shell.to_owned(), "-c".into(), line.to_owned()])
}

/// Splits like a shell, without expansions.
pub(in crate::command) fn split(text: &str) -> anyhow::Result<Vec<OsString>> {
    let words = shlex::split(text)
        .with_context(|| format!("can't split {text:?} into words: a quote is not closed"))?;
    if words.is_empty() {
        bail!("no command in {text:?}");
    }
    Ok(words.into_iter().map(OsString::from).collect())
}

/// A name from the program's file, or from the first word of a shell's line.
fn name_of(shell: Option<&str>, words: &[OsString]) -> String {
    let word = match shell {
        Some(line) => line.split_whitespace().next().unwrap_or("shell").to_owned(),
        None => words.first().map_or(String::new(), |w| w.to_string_lossy().into_owned()),
    };
    let file = Path::new(&word).file_name().unwrap_or_default().to_string_lossy();
    let name: String = file
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_+".contains(c) { c } else { '_' })
        .take(64)
        .collect();
    if name.is_empty() { "command".into() } else { name }
}

/// The name, with a number where another command has it already.
fn unused(name: String, named: &[NamedCommand], given: bool) -> anyhow::Result<String> {
    let taken = |name: &str| named.iter().any(|a| a.name == name);
    if !taken(&name) {
        return Ok(name);
    }
    if given {
        bail!("two commands are named {name:?}");
    }
    let numbered = (2..).map(|k| format!("{name}-{k}")).find(|n| !taken(n));
    Ok(numbered.unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn names_come_from_the_program() {
        assert_eq!(name_of(None, &words(&["/usr/bin/git", "status"])), "git");
        assert_eq!(name_of(None, &words(&["./a.out"])), "a_out");
        assert_eq!(name_of(Some("zcat f | wc"), &words(&["sh"])), "zcat");
        assert_eq!(name_of(Some("  "), &words(&["sh"])), "shell");
        assert_eq!(name_of(None, &words(&["/"])), "command");
    }

    #[test]
    fn a_second_command_of_the_name_gets_a_number() {
        let one = NamedCommand { name: "grep".into(), words: Vec::new(), shell: None };
        let named = [one];
        assert_eq!(unused("grep".into(), &named, false).expect("free"), "grep-2");
        assert!(unused("grep".into(), &named, true).is_err());
        assert_eq!(unused("sed".into(), &named, true).expect("free"), "sed");
    }

    #[test]
    fn words_are_split_without_a_shell() {
        let split_of = |text: &str| split(text).map_err(|e| e.to_string());
        assert_eq!(split_of("a 'b c' $D"), Ok(words(&["a", "b c", "$D"])));
        assert!(split_of("a 'b").expect_err("open").contains("can't split"));
        assert!(split_of("  ").expect_err("none").contains("no command"));
    }
}
