//! The commands in the main help, under headings. clap knows one list only.

use clap::Command;

/// Headings with their commands, in the order of the help.
const GROUPS: &[(&str, &[&str])] = &[
    ("Measure", &["run", "exec", "ci", "trace", "qos", "selftest", "fit", "echo"]),
    ("Results", &["show", "table", "compare", "history", "report", "plot", "serve"]),
    ("Many hosts", &["fleet"]),
    ("Stored runs", &["atlas", "export", "import"]),
    ("Reference", &["list", "explain", "machine"]),
    ("Reduce noise", &["noise"]),
    ("Set up", &["pack", "config", "completions", "man"]),
];

/// Heading of commands without a group.
const OTHER: &str = "Other";

/// The command with a help that shows its commands in groups.
pub(super) fn grouped(command: Command) -> Command {
    let template = template(&command);
    command.help_template(template)
}

fn template(command: &Command) -> String {
    let (header, literal) =
        (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let width = names(command).map(str::len).max().unwrap_or(0);
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (heading, members) in groups(command) {
        text.push_str(&format!("\n{header}{heading}:{header:#}\n"));
        for member in members {
            let about = command.find_subcommand(member).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {literal}{member:width$}{literal:#}  {about}\n"));
        }
    }
    text.push_str(&format!(
        "\nRun `latlas COMMAND --help` for its options and examples.\n\n{header}Options of latlas \
         and latlas run:{header:#}\n{{options}}{{after-help}}"
    ));
    text
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
        members.sort_unstable();
        there.sort_unstable();
        assert_eq!(members, there);
    }

    #[test]
    fn what_is_new_is_shown_all_the_same() {
        let command = Command::new("latlas")
            .subcommand(Command::new("run").about("Measure"))
            .subcommand(Command::new("dance").about("Dance"));
        let help = grouped(command).render_help().to_string();
        assert!(help.contains("Measure:\n  run    Measure\n"), "{help}");
        assert!(help.contains("Other:\n  dance  Dance\n"), "{help}");
    }
}
