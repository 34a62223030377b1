//! Any text as a campaign's file, a file of hosts, published records and their names: refused in one line, or read.
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
        "r" => {
            let refused = [
                references::checked_records::<references::CloudType>(text).err(),
                references::checked_records::<references::BoardReport>(text).err(),
                references::checked_records::<references::InstructionTimings>(text).err(),
                references::checked_records::<references::CoreMatrix>(text).err(),
                references::checked_records::<references::TestPopulation>(text).err(),
            ];
            refused.iter().flatten().for_each(|error| assert!(!error.to_string().contains('\n')));
        }
        "n" => {
            let found = references::find_reference(&References::default(), text);
            found.err().iter().for_each(|error| words::check(&error.to_string(), text));
        }
        _ => {}
    }
});
