//! Any text as a campaign's file, a file of hosts, a file of references: refused in one line, or read.
#![no_main]

#[path = "../words.rs"]
mod words;

use compare::references::References;
use fleet::campaign::Campaign;
use std::path::Path;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Some((kind, text)) = text.split_at_checked(1) else {
        return;
    };
    match kind {
        "c" => match Campaign::parse(Path::new("lab.toml"), text) {
            Ok(campaign) => drop(campaign.digest()),
            Err(error) => words::check(&error.to_string(), text),
        },
        "h" => match fleet::hosts::checked(text) {
            // It becomes part of paths and of commands.
            Ok(host) => assert!(!host.contains(['/', ' ', ';', '\n', '\'', '"', '$'])),
            Err(error) => words::check(&error.to_string(), text),
        },
        _ => match References::parse("any.toml", text) {
            Ok(all) => {
                for key in all.keys() {
                    all.find(key);
                }
            }
            Err(error) => words::check(&error.to_string(), text),
        },
    }
});
