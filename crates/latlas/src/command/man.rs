//! `latlas man`: manual pages from the same texts as `--help`. man-pages(7).

use crate::arguments::layout;
use crate::arguments::man::ManOptions;
use crate::{arguments, output};
use anyhow::{Context, bail};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::path::Path;
use std::process::ExitCode;

/// Writes the pages, or prints the main one.
pub(crate) fn man(options: &ManOptions) -> anyhow::Result<ExitCode> {
    if let Some(directory) = &options.directory {
        return write_pages(arguments::command(), directory);
    }
    let mut command = laid_out(arguments::command());
    command.build();
    output::print(&String::from_utf8(man_page(&command)?)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of a command line; of a program beside latlas, those of its command.
pub(crate) fn write_pages(command: Command, directory: &Path) -> anyhow::Result<ExitCode> {
    let mut command = laid_out(command);
    command.build();
    if !directory.is_dir() {
        bail!("no directory {0}: create it first (mkdir -p {0})", directory.display());
    }
    let mut pages = pages(&command)?;
    if !pages.iter().any(|(name, _)| name == "latlas-run.1") {
        pages.retain(|(name, _)| name != "latlas.1");
    }
    for (written, (name, page)) in pages.iter().enumerate() {
        store::write_bytes(page, &directory.join(name)).with_context(|| {
            format!(
                "only {written} of {} manual pages were written to {}",
                pages.len(),
                directory.display()
            )
        })?;
    }
    output::message(format_args!("wrote {} manual pages to {}", pages.len(), directory.display()));
    Ok(ExitCode::SUCCESS)
}

/// The texts below the options as wide as a page of man(1) is; the options of `run` stand in its page alone.
fn laid_out(command: Command) -> Command {
    let main = command.find_subcommand("run").is_some();
    let command = layout::laid_out(command, PAGE);
    let is_main = |arg: &clap::Arg| main && !arg.is_global_set();
    command.mut_args(|arg| if is_main(&arg) { arg.hide(true) } else { arg })
}

/// Columns of the text of a page, where the terminal has 80.
const PAGE: usize = 72;

/// Pages of the command and all its subcommands, by file name.
fn pages(command: &Command) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let mut all = vec![(format!("{name}.1"), man_page(command)?)];
    for inner in command.get_subcommands().filter(|one| is_own(one)) {
        all.extend(pages(inner)?);
    }
    Ok(all)
}

/// Neither hidden nor the `help` that clap adds.
fn is_own(command: &Command) -> bool {
    command.get_name() != "help" && !command.is_hide_set()
}

fn man_page(command: &Command) -> anyhow::Result<Vec<u8>> {
    let man = Man::new(command.clone());
    // clap_mangen omits an empty date, which shifts the other fields.
    let name = command.get_display_name().unwrap_or(command.get_name());
    let version = env!("CARGO_PKG_VERSION");
    let mut page =
        format!(".TH {name} 1 \"\" \"latlas {version}\" \"latlas manual\"\n").into_bytes();
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut page)?;
    }
    if command.get_subcommands().any(is_own) {
        man.render_subcommands_section(&mut page)?;
    }
    let below = command.get_after_long_help().or(command.get_after_help());
    page.extend(sections(&below.map(ToString::to_string).unwrap_or_default()).to_roff().bytes());
    Ok(page)
}

/// The text below the options in `--help`, as sections: examples keep their lines.
fn sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut paragraphs = text.split("\n\n").filter(|p| !p.trim().is_empty()).peekable();
    if paragraphs.peek().is_some_and(|first| heading(first).is_none()) {
        roff.control("SH", ["NOTES"]);
    }
    for (number, paragraph) in paragraphs.enumerate() {
        let body = match heading(paragraph) {
            Some((heading, body)) => {
                roff.control("SH", [heading]);
                body
            }
            None => {
                if number > 0 {
                    roff.control("PP", []);
                }
                paragraph
            }
        };
        let as_it_is = body.lines().any(|line| line.starts_with("  "));
        if as_it_is {
            roff.control("nf", []);
        }
        for line in body.lines().filter(|line| !line.trim().is_empty()) {
            roff.text([roman(line)]);
        }
        if as_it_is {
            roff.control("fi", []);
        }
    }
    roff
}

/// The section that a paragraph starts, and its text.
fn heading(paragraph: &str) -> Option<(&'static str, &str)> {
    let of = |beginning, heading| Some((heading, paragraph.strip_prefix(beginning)?));
    of("Examples:\n", "EXAMPLES").or_else(|| of("Exit codes:", "EXIT STATUS"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_examples() {
        let mut command = arguments::command();
        command.build();
        let pages = pages(&command).expect("pages");
        let mut names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        for name in ["latlas.1", "latlas-run.1", "latlas-noise-tune.1"] {
            assert!(names.contains(&name), "no {name} in {names:?}");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), pages.len(), "two pages of one name");
        let with_examples: Vec<&str> = pages
            .iter()
            .filter(|(_, page)| String::from_utf8_lossy(page).contains(".SH EXAMPLES\n.nf\n"))
            .map(|(name, _)| name.as_str())
            .collect();
        // Subcommands may have their examples in the page of the command.
        for inner in command.get_subcommands().filter(|one| is_own(one)) {
            let page = format!("latlas-{}.1", inner.get_name());
            assert!(with_examples.contains(&page.as_str()), "{page}");
        }
    }

    #[test]
    fn an_incomplete_set_is_said() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("latlas-run.1")).expect("a directory");
        let directory = Some(directory.path().to_owned());
        let error = man(&ManOptions { directory }).expect_err("no file of that name");
        let text = format!("{error:#}");
        assert!(text.starts_with("only "), "{text}");
        assert!(text.contains(" manual pages were written to ") && text.contains("latlas-run.1"));
    }

    #[test]
    fn the_text_below_the_options_becomes_sections() {
        let text =
            "It is so.\n\nAnd so.\n\nExamples:\n  latlas a  b\n\nExit codes:\n  0  done\n  2  not";
        assert_eq!(
            sections(text).to_roff(),
            ".SH NOTES\nIt is so.\n.PP\nAnd so.\n.SH EXAMPLES\n.nf\n  latlas a  b\n.fi\n\
             .SH \"EXIT STATUS\"\n.nf\n  0  done\n  2  not\n.fi\n"
        );
    }
}
