//! Any text as the output of squeue and sinfo: jobs with a host and numbers, hosts each once, or a refusal in one
//! line.
#![no_main]

use std::collections::BTreeSet;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let (jobs, hosts) = fleet::slurm::anything(text);
    assert!(jobs.len() <= text.lines().count());
    match hosts {
        Ok(hosts) => {
            let once: BTreeSet<&String> = hosts.iter().collect();
            assert_eq!(once.len(), hosts.len(), "{hosts:?}");
            for host in &hosts {
                // It becomes an argument of commands and part of paths.
                if let Ok(host) = fleet::hosts::checked(host) {
                    assert!(!host.contains(['/', ' ', ';', '\n', '\'', '"', '$', '|']));
                }
            }
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
    }
});
