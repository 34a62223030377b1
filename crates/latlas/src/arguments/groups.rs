//! The main help: the commands that most need and the names of the others with `-h`, all of them under headings with
//! `--help`. clap knows one list only. The options of `latlas` alone are those of `latlas run`, and stand there.

use crate::programs;
use clap::Command;
use clap::builder::styling::Style;
use view::terminal::wrap;

/// What most need, in the order of the short help.
const FIRST: [&str; 8] = ["run", "show", "explain", "exec", "compare", "report", "trace", "noise"];

/// Headings with their commands, in the order of the long help.
const GROUPS: &[(&str, &[&str])] = &[
    ("Measure", &["run", "exec", "ci", "judge", "trace", "qos", "selftest", "fit", "echo"]),
    ("Results", &["show", "table", "compare", "history", "report", "plot"]),
    ("Stored runs", &["atlas", "export", "import"]),
    ("Reference", &["help", "list", "explain", "machine"]),
    ("Reduce noise", &["noise"]),
    ("Set up", &["pack", "config", "completions", "man"]),
];

/// Heading of commands without a group.
const OTHER: &str = "Other";

/// Usage, and below it what [`short`] and [`long`] say.
const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}{after-help}";

/// The command with a help that shows its commands, as wide as `columns`.
pub(super) fn grouped(command: Command, columns: usize) -> Command {
    let (short, long) = (short(&command, columns), long(&command, columns));
    command.help_template(TEMPLATE).after_help(short).after_long_help(long)
}

fn short(command: &Command, columns: usize) -> String {
    let (header, _) = styles(command);
    let mut others: Vec<&str> = names(command).filter(|name| !FIRST.contains(name)).collect();
    let packaged = programs::packaged_names();
    others.extend(packaged.filter(|name| !others.contains(name)).collect::<Vec<_>>());
    others.sort_unstable();
    let width = FIRST.iter().map(|name| name.len()).max().unwrap_or(0);
    let first = FIRST.iter().map(|name| listed(command, name, width, columns));
    let prose = |text: &str| wrap("", text, columns).join("\n");
    [
        format!("{header}Commands:{header:#}\n{}", first.collect::<String>().trim_end()),
        prose(&format!("Also: {}.", others.join(", "))),
        prose("Without a command, latlas takes the options of run: latlas --quick."),
        prose(
            "`latlas --help` describes every command, `latlas COMMAND -h` its options; -V prints the version.",
        ),
    ]
    .join("\n\n")
}

fn long(command: &Command, columns: usize) -> String {
    let (header, _) = styles(command);
    let width = names(command).map(str::len).max().unwrap_or(0);
    let mut text = String::new();
    for (heading, members) in groups(command) {
        text.push_str(&format!("{header}{heading}:{header:#}\n"));
        for member in members {
            text.push_str(&listed(command, member, width, columns));
        }
        text.push('\n');
    }
    text.push_str(&programs_beside(width, styles(command)));
    let run = "Without a command, latlas takes the options of run: `latlas run --help`. --config FILE, --no-config \
               and --store DIR|URL may also precede a command. `latlas COMMAND --help` has its options and examples.";
    text.push_str(&wrap("", run, columns).join("\n"));
    let own = command.get_after_long_help().map(ToString::to_string);
    own.map_or(text.clone(), |own| format!("{text}\n\n{own}"))
}

/// A command and what it does.
fn listed(command: &Command, name: &str, width: usize, columns: usize) -> String {
    let (_, literal) = styles(command);
    let about = command.find_subcommand(name).and_then(Command::get_about);
    let about = about.map(ToString::to_string).unwrap_or_default();
    let lead = format!("  {name:width$}  ");
    let text = wrap(&lead, &about, columns).join("\n");
    let rest = text.strip_prefix(&format!("  {name}")).unwrap_or(&text);
    format!("  {literal}{name}{literal:#}{rest}\n")
}

fn styles(command: &Command) -> (Style, Style) {
    (*command.get_styles().get_header(), *command.get_styles().get_literal())
}

/// The commands of programs beside latlas; nothing where no help is asked for, since it looks through PATH.
fn programs_beside(width: usize, (header, literal): (Style, Style)) -> String {
    let asked = |word: &str| ["--help", "help"].contains(&word);
    if !std::env::args().any(|word| asked(&word)) {
        return String::new();
    }
    let mut text = format!("{header}More programs:{header:#}\n");
    let (packaged, others) = programs::listed();
    for (name, about, is_there) in packaged {
        let missing = if is_there { "" } else { " (not installed)" };
        text.push_str(&format!("  {literal}{name:width$}{literal:#}  {about}{missing}\n"));
    }
    for name in others {
        text.push_str(&format!("  {literal}{name:width$}{literal:#}  latlas-{name}\n"));
    }
    text + "\n"
}

fn names(command: &Command) -> impl Iterator<Item = &str> {
    let seen = command.get_subcommands().filter(|one| !one.is_hide_set());
    seen.map(Command::get_name)
}

/// The groups that have commands, and last the commands without a group.
fn groups(command: &Command) -> Vec<(&'static str, Vec<&str>)> {
    let there: Vec<&str> = names(command).collect();
    let grouped = |name: &str| GROUPS.iter().any(|(_, members)| members.contains(&name));
    let mut groups: Vec<(&str, Vec<&str>)> = GROUPS
        .iter()
        .map(|(heading, members)| {
            let members = members.iter().copied();
            (*heading, members.filter(|name| there.contains(name)).collect())
        })
        .collect();
    let others = there.iter().copied().filter(|name| !grouped(name));
    groups.push((OTHER, others.collect()));
    groups.retain(|(_, members)| !members.is_empty());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_in_one_group() {
        let command = crate::arguments::command();
        let groups = groups(&command);
        assert!(groups.iter().all(|(heading, _)| *heading != OTHER), "{groups:?}");
        let mut members: Vec<&str> = groups.into_iter().flat_map(|(_, all)| all).collect();
        let mut there: Vec<&str> = names(&command).collect();
        assert!(FIRST.iter().all(|first| there.contains(first)));
        members.sort_unstable();
        there.sort_unstable();
        assert_eq!(members, there);
    }

    #[test]
    fn what_is_new_is_shown_all_the_same() {
        let command = Command::new("latlas")
            .subcommand(Command::new("run").about("Measure"))
            .subcommand(Command::new("dance").about("Dance"));
        let mut command = grouped(command, 80);
        let help = command.render_long_help().to_string();
        assert!(help.contains("Measure:\n  run    Measure\n"), "{help}");
        assert!(help.contains("Other:\n  dance  Dance\n"), "{help}");
        assert!(command.render_help().to_string().contains("Also: dance, fleet"));
    }
}
