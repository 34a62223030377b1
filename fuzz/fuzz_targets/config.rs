//! Any text as the configuration: refused in one line that names the line, or values of the keys' kinds.
#![no_main]
#![allow(dead_code, reason = "parts of the program, without what uses them")]

// The program has no library: what reads its configuration is compiled here, too.
#[path = "../../crates/latlas/src/config/file.rs"]
mod file;
#[path = "../../crates/latlas/src/config/keys.rs"]
mod keys;
#[path = "../../crates/latlas/src/config/location.rs"]
mod location;

use clap::{Arg, ArgAction, Command, value_parser};
use file::Read;
use location::Location;
use std::path::Path;
use std::sync::LazyLock;

/// Options of each kind that keys are defaults of.
static COMMAND: LazyLock<Command> = LazyLock::new(|| {
    let option = |name: &'static str| Arg::new(name).long(name);
    let own = move |command: Command| {
        command.args([
            option("quick").action(ArgAction::SetTrue),
            option("full").action(ArgAction::SetTrue),
            option("pin").value_parser(value_parser!(u32)),
            option("nice").value_parser(value_parser!(i32)),
            option("fifo").value_parser(value_parser!(u8)),
            option("budget"),
            option("dir"),
            option("vs").action(ArgAction::Append),
            option("wide").action(ArgAction::SetTrue),
            option("color").value_parser(["auto", "always", "never"]),
            option("margin"),
            option("listen"),
        ])
    };
    let inner = ["run", "exec", "show", "selftest", "table", "serve"];
    own(Command::new("latlas")).subcommands(inner.map(|name| own(Command::new(name))))
});

libfuzzer_sys::fuzz_target!(|text: &str| {
    match Read::parse(Path::new("config.toml"), text, &COMMAND) {
        Ok(read) => {
            for setting in &read.settings {
                assert!((1..=text.lines().count().max(1)).contains(&setting.line), "{setting:?}");
                setting.option();
                setting.text();
            }
        }
        Err(error) => {
            let error = error.to_string();
            assert_eq!(error.lines().count(), 1, "{error:?}");
            assert!(error.starts_with("config.toml:"), "{error:?}");
        }
    }
});
