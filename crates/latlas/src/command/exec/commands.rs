//! The commands of a command line.

use super::parameters::{self, Combination};
use crate::arguments::exec::{ExecOptions, ShellChoice};
use anyhow::{Context, bail};
use meter::commands::arm::Hooks;
use model::phrases::counted;
use std::ffi::{OsStr, OsString};
use std::path::Path;

pub(in crate::command) struct NamedCommand {
    pub(in crate::command) name: String,
    pub(in crate::command) words: Vec<OsString>,
    /// The line, if a shell runs it.
    pub(in crate::command) shell: Option<String>,
    pub(in crate::command) hooks: Hooks,
}

/// A command as it was given.
#[derive(Clone)]
enum Given {
    /// Words, the first of which is the program.
    Words(Vec<OsString>),
    /// A line that is split into words, unless a shell is asked for.
    Split(String),
    /// A line that a shell runs if it has to.
    Line(String),
}

pub(super) fn named_commands(options: &ExecOptions) -> anyhow::Result<Vec<NamedCommand>> {
    let shell = options.timing.shell_choice();
    refuse_shell_as_line(options)?;
    let words = Some(&options.words).filter(|words| !words.is_empty());
    let lines = options.lines.iter().cloned().map(Given::Line);
    let given: Vec<Given> = lines
        .chain(words.cloned().map(Given::Words))
        .chain(options.vs.iter().cloned().map(Given::Split))
        .collect();
    let combinations = parameters::combinations(options)?;
    let count = given.len() * combinations.len();
    let hooks = |texts: &[String], option| {
        let fits = [0, 1, given.len(), count].contains(&texts.len());
        anyhow::ensure!(fits, "{option}: give one for all commands, or one for each");
        Ok(texts.len())
    };
    hooks(&options.prepare, "--prepare")?;
    hooks(&options.conclude, "--conclude")?;
    if options.name.len() > count {
        bail!(
            "{} for {}: give one --name for each command",
            counted(options.name.len(), "name"),
            counted(count, "command")
        );
    }
    let mut named: Vec<NamedCommand> = Vec::new();
    for (of, given) in given.iter().enumerate() {
        for combination in &combinations {
            let at = named.len();
            let (words, line) = laid_out(&given.with(combination), &shell)?;
            let own = || name_of(line.as_deref(), &words);
            let wanted = options.name.get(at).cloned().unwrap_or_else(own);
            let of_each = |texts: &[String]| {
                let place = [at, of, 0].into_iter().find(|&k| {
                    texts.len() > k && (texts.len() == count || k == of || texts.len() == 1)
                });
                place.map(|k| texts[k].clone())
            };
            let texts = [
                options.setup.clone(),
                of_each(&options.prepare),
                of_each(&options.conclude),
                options.cleanup.clone(),
            ];
            let hook = |text: Option<String>| {
                let text = text.map(|text| parameters::replaced(&text, combination));
                text.map(|text| in_shell(OsStr::new("sh"), OsStr::new(&text))).transpose()
            };
            let [setup, prepare, conclude, cleanup] = texts.map(hook);
            named.push(NamedCommand {
                name: unused(wanted, &named, options.name.get(at).is_some())?,
                words,
                shell: line,
                hooks: [setup?, prepare?, conclude?, cleanup?],
            });
        }
    }
    Ok(named)
}

/// `--shell bash 'a | b'`, as hyperfine takes it, would time bash and `a | b`.
fn refuse_shell_as_line(options: &ExecOptions) -> anyhow::Result<()> {
    const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "fish", "ksh", "none", "default"];
    match (&options.timing.shell, options.lines.first()) {
        (Some(_), Some(line)) if SHELLS.contains(&&**line) => {
            bail!("--shell takes its value with =: --shell={line}, or -S {line}")
        }
        _ => Ok(()),
    }
}

impl Given {
    fn with(&self, combination: &Combination) -> Given {
        let replaced = |text: &str| parameters::replaced(text, combination);
        match self {
            Given::Split(text) => Given::Split(replaced(text)),
            Given::Line(text) => Given::Line(replaced(text)),
            Given::Words(words) => Given::Words(
                words
                    .iter()
                    .map(|word| word.to_str().map_or(word.clone(), |word| replaced(word).into()))
                    .collect(),
            ),
        }
    }
}

/// The words that are executed, and the line if a shell takes it apart.
fn laid_out(
    given: &Given,
    choice: &ShellChoice,
) -> anyhow::Result<(Vec<OsString>, Option<String>)> {
    let shell = |shell: &OsStr, line: &OsStr| {
        anyhow::Ok((in_shell(shell, line)?, Some(line.to_string_lossy().into_owned())))
    };
    match (given, choice) {
        (Given::Words(words), ShellChoice::In(name)) => shell(name, &words.join(OsStr::new(" "))),
        (Given::Words(words), _) => Ok((words.clone(), None)),
        (Given::Split(text) | Given::Line(text), ShellChoice::In(name)) => {
            shell(name, OsStr::new(text))
        }
        (Given::Line(text), ShellChoice::IfNeeded) if needs_shell(text) => {
            shell(OsStr::new("sh"), OsStr::new(text))
        }
        (Given::Split(text) | Given::Line(text), _) => Ok((split(text)?, None)),
    }
}

/// Whether a line has something that only a shell understands, or begins with something that is not a program
/// (a builtin). Without a shell there is no shell's start time in the figures.
fn needs_shell(line: &str) -> bool {
    let is_plain = !line.contains(|c: char| "|&;<>()$`*?[]{}~#!\n".contains(c));
    let first = shlex::split(line).and_then(|words| words.into_iter().next());
    let is_program = |word: &str| {
        // `a=1 program` sets a variable.
        !word.contains('=') && sys::command::find_program(OsStr::new(word)).is_some()
    };
    !(is_plain && first.is_some_and(|word| is_program(&word)))
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
    // A shell may have options: "bash --norc".
    let mut words = match shell.to_str() {
        Some(shell) => split(shell)?,
        None => vec![shell.to_owned()],
    };
    words.extend(["-c".into(), line.to_owned()]);
    Ok(words)
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
        let hooks = Hooks::default();
        let one = NamedCommand { name: "grep".into(), words: Vec::new(), shell: None, hooks };
        let named = [one];
        assert_eq!(unused("grep".into(), &named, false).expect("free"), "grep-2");
        assert!(unused("grep".into(), &named, true).is_err());
        assert_eq!(unused("sed".into(), &named, true).expect("free"), "sed");
    }

    #[test]
    fn a_line_gets_a_shell_only_if_it_needs_one() {
        for line in ["true", "true 'a b'", "/bin/true -x"] {
            assert!(!needs_shell(line), "{line}");
        }
        for line in ["true | cat", "a=1 true", "cd", "true > f", "no-such-program", "true $HOME"] {
            assert!(needs_shell(line), "{line}");
        }
    }

    #[test]
    fn words_are_split_without_a_shell() {
        let split_of = |text: &str| split(text).map_err(|e| e.to_string());
        assert_eq!(split_of("a 'b c' $D"), Ok(words(&["a", "b c", "$D"])));
        assert!(split_of("a 'b").expect_err("open").contains("can't split"));
        assert!(split_of("  ").expect_err("none").contains("no command"));
    }
}
