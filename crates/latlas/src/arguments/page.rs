//! `docs/cli.md`: the help of every command, in one page.

use clap::Command;

/// As wide as the help is on a wide terminal.
const WIDTH: usize = 100;

fn page() -> String {
    let mut command = crate::arguments::command().term_width(WIDTH).disable_help_subcommand(true);
    command.build();
    let mut text = String::from(
        "# Command line\n\nThe help of every command (`latlas COMMAND --help`). This page is \
         generated: `UPDATE_DOCS=1 cargo test -p latlas`.\n",
    );
    add(&mut text, &mut command);
    text
}

fn add(text: &mut String, command: &mut Command) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    text.push_str(&format!("\n## {name}\n\n```text\n"));
    let help = command.render_long_help().to_string();
    for line in help.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str("```\n");
    for inner in command.get_subcommands_mut().filter(|one| !one.is_hide_set()) {
        add(text, inner);
    }
}

#[test]
fn the_page_of_the_command_line_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
    let text = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &text).expect("docs can be written");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == text,
        "docs/cli.md differs from the command line: UPDATE_DOCS=1 cargo test -p latlas"
    );
}
