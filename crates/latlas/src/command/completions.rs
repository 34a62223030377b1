//! `latlas completions`: a completion script, with the names of the rows.

use crate::arguments::completions::CompletionsOptions;
use crate::{arguments, catalogue, output, selection};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command};
use clap_complete::Shell;
use meter::probe::Probe;
use std::process::ExitCode;

/// Value name of arguments that take rows.
const ROW: &str = "ROW";
const PATTERN: &str = "PATTERN";

/// Prints the script.
pub(crate) fn completions(
    catalogue: &[Probe],
    options: &CompletionsOptions,
) -> anyhow::Result<ExitCode> {
    let rows = rows(catalogue);
    let mut command = with_rows(arguments::command(), &rows);
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command, "latlas", &mut script);
    let mut script = String::from_utf8(script)?;
    if options.shell == Shell::Fish {
        script.push_str(&for_fish(&command, &rows));
    }
    output::print(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Names of rows, levels, points and probes, with their titles.
fn rows(catalogue: &[Probe]) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for probe in catalogue::texts(catalogue) {
        for name in selection::ids(&probe) {
            if !rows.iter().any(|(known, _)| *known == name) {
                rows.push((name, probe.title.clone()));
            }
        }
    }
    rows
}

/// The command line for the script generator, with rows as possible values. The program itself
/// accepts patterns and points too.
fn with_rows(command: Command, rows: &[(String, String)]) -> Command {
    command
        .mut_args(|arg| match takes_rows(&arg) {
            true => {
                let values = rows
                    .iter()
                    .map(|(name, title)| PossibleValue::new(name.clone()).help(title.clone()));
                arg.value_parser(PossibleValuesParser::new(values))
            }
            false => arg,
        })
        .mut_subcommands(|inner| with_rows(inner, rows))
}

fn takes_rows(arg: &Arg) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    let mut names = names.iter().map(|name| name.as_str());
    names.any(|name| [ROW, PATTERN].contains(&name))
}

/// clap's script for fish does not complete positional arguments.
fn for_fish(command: &Command, rows: &[(String, String)]) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let mut script = String::from("\nfunction __fish_latlas_rows\n");
    for (name, title) in rows {
        let line = format!("{name}\t{title}");
        script.push_str(&format!("    echo {}\n", quoted(&line)));
    }
    script.push_str("end\n");
    let of_rows = command
        .get_subcommands()
        .filter(|inner| inner.get_positionals().any(takes_rows));
    for inner in of_rows {
        script.push_str(&format!(
            "complete -c latlas -n \"__fish_latlas_using_subcommand {}\" -f -a \
             \"(__fish_latlas_rows)\"\n",
            inner.get_name()
        ));
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_points_are_rows() {
        let rows = rows(&probes::catalogue());
        for name in ["cpu.add_i32", "memory.latency", "memory.latency/L2"] {
            assert_eq!(
                rows.iter().filter(|(own, _)| own == name).count(),
                1,
                "{name}"
            );
        }
    }

    #[test]
    fn rows_are_arguments_of_the_first_commands_only() {
        let command = arguments::command();
        let takes = |command: &Command| command.get_positionals().any(takes_rows);
        assert!(command.get_subcommands().filter(|one| takes(one)).count() >= 4);
        let deeper = command.get_subcommands().flat_map(Command::get_subcommands);
        for command in deeper {
            assert!(
                !takes(command),
                "fish completes no row for {}",
                command.get_name()
            );
        }
    }
}
