//! Any bytes as a file to import: refused with a reason, or a run that holds
//! what every run must.
#![no_main]

#[path = "../../crates/view/tests/exchange/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    invariants::import_anything(bytes);
});
