//! Any text as the configuration: refused in one line that names the line, or options.
#![no_main]
#![allow(dead_code, reason = "parts of the program, without what uses them")]

// The program has no library: what reads its configuration is compiled here, too.
#[path = "../../crates/latlas/src/config/lines.rs"]
mod lines;
#[path = "../../crates/latlas/src/config/location.rs"]
mod location;

/// Programs beside latlas, as far as the lines ask.
mod programs {
    pub(crate) fn is_known(word: &str) -> bool {
        ["fleet", "serve"].contains(&word)
    }
}

use clap::{Arg, ArgAction, Command, value_parser};
use lines::{Known, Read};
use location::Location;
use std::path::Path;
use std::sync::LazyLock;

/// Options of each kind.
static COMMAND: LazyLock<Command> = LazyLock::new(|| {
    let option = |name: &'static str| Arg::new(name).long(name);
    let own = move |command: Command| {
        command.args([
            option("quick").action(ArgAction::SetTrue),
            option("pin").value_parser(value_parser!(u32)),
            option("dir"),
            option("vs").action(ArgAction::Append),
            option("verbose").action(ArgAction::Count),
        ])
    };
    let inner = ["run", "exec", "show"];
    own(Command::new("latlas")).subcommands(inner.map(|name| own(Command::new(name))))
});

libfuzzer_sys::fuzz_target!(|text: &str| {
    let known = Known { command: &COMMAND, program: None };
    match Read::parse(Path::new("config"), text, &known) {
        Ok(read) => {
            for setting in &read.settings {
                assert!((1..=text.lines().count()).contains(&setting.line), "{setting:?}");
                assert!(setting.option_text().starts_with("--"), "{setting:?}");
            }
        }
        Err(error) => {
            let error = error.to_string();
            assert_eq!(error.lines().count(), 1, "{error:?}");
            assert!(error.starts_with("config:"), "{error:?}");
        }
    }
});
