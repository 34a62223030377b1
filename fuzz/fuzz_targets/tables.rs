//! Any text as a campaign's file, a file of hosts, a file of references: refused in one line, or read.
#![no_main]

use compare::references::References;
use fleet::campaign::Campaign;
use std::path::Path;

fn refused(error: &dyn std::error::Error) {
    let line = error.to_string();
    assert!(!line.contains("invalid type") && !line.contains("expected struct"), "{line:?}");
    assert!(line.lines().count() < 2, "{line:?}");
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Some((kind, text)) = text.split_at_checked(1) else {
        return;
    };
    match kind {
        "c" => match Campaign::parse(Path::new("lab.toml"), text) {
            Ok(campaign) => drop(campaign.digest()),
            Err(error) => refused(&error),
        },
        "h" => match fleet::hosts::checked(text) {
            // It becomes part of paths and of commands.
            Ok(host) => assert!(!host.contains(['/', ' ', ';', '\n', '\'', '"', '$'])),
            Err(error) => refused(&error),
        },
        _ => match References::parse("any.toml", text) {
            Ok(all) => {
                for key in all.keys() {
                    all.find(key);
                }
            }
            Err(error) => refused(&error),
        },
    }
});
