//! `latlas noise measure` as a program: what it prints, writes and refuses.
//! It really spins here, for a tenth of a second; no figure is asserted.

use crate::support::processes::{signal, wait_until};
use crate::support::{Done, Home, has, lacks, skip};
use serde_json::Value;

#[test]
fn the_document_adds_up_and_is_written_too() {
    let home = Home::new();
    let done = home.run("noise measure --for 150ms --document --out osnoise.json");
    let done = done.measured();
    assert_eq!(done.out, home.read_file("osnoise.json"));
    let document = done.json();
    let recording = &document["recordings"][0]["interruptions"];
    assert_eq!(recording["asked_ms"], 150);
    let cpus = recording["cpus"].as_array().expect("CPUs");
    assert_eq!(cpus.len(), 1);
    let osnoise = &cpus[0];
    let number = |value: &Value| value.as_u64().expect("a number");
    assert!(number(&osnoise["span_ns"]) >= 150_000_000);
    let causes = osnoise["causes"].as_array().expect("causes");
    let sum: u64 = causes.iter().map(|cause| number(&cause["lost_ns"])).sum();
    assert_eq!(sum, number(&osnoise["lost_ns"]));
    assert_eq!(osnoise["stretches"].as_array().expect("stretches").len(), 80);
}

#[test]
fn every_cpu_has_its_picture() {
    let allowed = sys::allowed_cpus().unwrap_or_default();
    if allowed.is_empty() {
        return skip("threads can't be pinned here");
    }
    let home = Home::new();
    let page = home.run("noise measure --for 100ms --all-cpus").measured().out;
    for cpu in &allowed {
        has(&page, [&*format!("CPU {cpu}: ")]);
    }
    assert_eq!(page.contains("at the same time"), allowed.len() > 1);
    lacks(&page, ["\x1b"]);
    let colored = home.run("noise measure --for 100ms --color always").out;
    // Without a detour in a tenth of a second there is nothing to colour.
    assert_eq!(colored.contains("by cause"), colored.contains("\x1b["), "{colored}");
}

#[test]
fn what_can_not_be_is_refused() {
    let home = Home::new();
    home.run("noise measure --cpu 8000").refused("CPU 8000 can't be used");
    let refused = home.refusals(
        "noise measure --out /nowhere/osnoise.json
         noise measure --for 1h
         noise measure --cpu 0 --all-cpus",
    );
    insta::assert_snapshot!(refused);
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let home = Home::new();
    let child = home.start("noise measure --for 10m");
    let id = child.id();
    let ticks = || -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or("");
        let user = after_name.split_whitespace().nth(11);
        user.and_then(|text| text.parse().ok()).unwrap_or(0)
    };
    wait_until("a second of spinning", || ticks() >= 100);
    signal(id, "INT");
    let page = Done::after(child).ended_with(3).out;
    has(&page, ["PARTIAL: interrupted", "lost"]);
}
