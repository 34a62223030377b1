//! The help of every command of a command line, in one page: `latlas help commands`.

use clap::Command;

/// As wide as the help is on a wide terminal.
const WIDTH: usize = 100;

/// The page below these first lines.
pub fn help_page(head: &str, command: Command) -> String {
    let mut command = super::helpful(command, WIDTH).disable_help_subcommand(true);
    command.build();
    let mut text = format!("{head}\n");
    match command.find_subcommand("run") {
        Some(_) => add_command(&mut text, &mut command),
        // A program beside latlas has one command.
        None => command.get_subcommands_mut().for_each(|own| add_command(&mut text, own)),
    }
    text
}

fn add_command(text: &mut String, command: &mut Command) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    text.push_str(&format!("\n## {name}\n\n```text\n"));
    let help = command.render_long_help().to_string();
    for line in help.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str("```\n");
    for inner in command.get_subcommands_mut().filter(|one| !one.is_hide_set()) {
        add_command(text, inner);
    }
}

/// Asserts that a page has every command that is shown, each with all its long options and its examples.
///
/// # Panics
/// Where it lacks one.
pub fn assert_complete(page: &str, command: &Command) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let heading = format!("\n## {name}\n");
    let (_, below) = page.split_once(&heading).unwrap_or_else(|| panic!("no {name} in the page"));
    let own = below.split("\n## ").next().unwrap_or_default();
    // Those of latlas itself are those of `latlas run`.
    let with_options = if name.contains(' ') { own } else { page };
    for option in command.get_arguments().filter(|option| !option.is_hide_set()) {
        let long = option.get_long().map(|long| format!("--{long}"));
        assert!(
            long.is_none_or(|long| with_options.contains(&long)),
            "{name}: an option is not there: {own}"
        );
    }
    // Long lines are wrapped.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    assert!(words(own).contains(&words(&examples)), "{name} lacks its examples: {own}");
    for inner in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        assert_complete(page, inner);
    }
}

#[test]
fn the_page_has_every_command_with_its_options_and_examples() {
    let mut command = super::command().term_width(WIDTH);
    let page = help_page("# Every command", command.clone());
    command.build();
    assert_complete(&page, &command);
}
