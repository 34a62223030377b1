//! `latlas help`: the pages of the documentation, and the options of commands.

use crate::arguments::config::ConfigOptions;
use crate::arguments::help::HelpOptions;
use crate::arguments::page::help_page;
use crate::pages::{self, Page, plain_page};
use crate::{arguments, catalogue, output, pager, programs};
use anyhow::bail;
use meter::probe::Probe;
use model::nearest::suggestion;
use std::ffi::OsStr;
use std::process::ExitCode;

/// Pages that are made from the code, and what they have.
const MADE: [(&str, &str); 2] = [
    ("commands", "The options of every command"),
    ("rows", "Every row: what it is and how it is measured"),
];

pub(crate) fn help(
    catalogue: &[Probe],
    options: &HelpOptions,
    config: &ConfigOptions,
) -> anyhow::Result<ExitCode> {
    let words = &options.topic;
    let name = words.join("-");
    let text = match (pages::page_named(&name), &*name) {
        (Some(page), _) => with_options(&page, words),
        (None, "") => overview(),
        (None, "rows") => made_page(&view::render::probes_page(&catalogue::texts(catalogue))),
        (None, "commands") => help_page("# Every command\n", arguments::command()),
        (None, _) => match help_of_command(words) {
            Some(text) => text,
            None => return of_program(words, config),
        },
    };
    if !pager::paged(&text) {
        output::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn made_page(markdown: &str) -> String {
    plain_page(markdown, output::columns())
}

/// The page, and how to see the options of the command of its name.
fn with_options(page: &Page, words: &[String]) -> String {
    let text = made_page(&page.markdown);
    let command = words.join(" ");
    match help_of_command(words).is_some() || programs::is_known(&command) {
        true => format!("{text}\nOptions: latlas {command} --help\n"),
        false => text,
    }
}

/// The command line with helps as wide as the terminal.
fn laid_out() -> clap::Command {
    arguments::helpful(arguments::command(), output::columns())
}

/// The main help with the topics.
fn overview() -> String {
    let help = laid_out().render_long_help().to_string();
    let pages = pages::all_pages();
    let made = MADE.iter().copied();
    let mut topics: Vec<(&str, &str)> =
        pages.iter().map(|page| (page.topic, page.title())).collect();
    topics.extend(made);
    let width = topics.iter().map(|(topic, _)| topic.len()).max().unwrap_or(0);
    let line = |(topic, title): &(&str, &str)| format!("  {topic:width$}  {title}\n");
    let topics: String = topics.iter().map(line).collect();
    format!("{}\n\nTopics of latlas help:\n{topics}", help.trim_end())
}

/// The help of a command, by the words that are typed to run it.
fn help_of_command(words: &[String]) -> Option<String> {
    let mut root = laid_out();
    root.build();
    let mut command = &mut root;
    for word in words {
        command = command.find_subcommand_mut(word)?;
    }
    Some(command.render_long_help().to_string())
}

/// The help of a program beside latlas, in the place of this process.
fn of_program(words: &[String], config: &ConfigOptions) -> anyhow::Result<ExitCode> {
    if let Some((name, rest)) = words.split_first() {
        let asked = rest.iter().map(String::as_str).chain(["--help"]).map(Into::into);
        programs::run(OsStr::new(name), &asked.collect::<Vec<_>>(), config)?;
    }
    let pages = pages::all_pages();
    let names = pages.iter().map(|page| page.topic).chain(MADE.map(|(name, _)| name));
    let name = words.join(" ");
    let near = suggestion(&name, names);
    bail!("no topic or command {name:?}{near} (`latlas help` lists them)")
}
