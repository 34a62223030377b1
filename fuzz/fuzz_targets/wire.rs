//! Any bytes from a child: frames, answers of a probe pack's child, and what they add to the catalogue.
#![no_main]

use meter::pack::{Listing, add};
use meter::wire;
use std::path::Path;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut frames = bytes;
    while let Ok(Some(_)) = wire::receive_frame(&mut frames) {}
    let mut from = bytes;
    let _ = wire::receive::<wire::Reply>(&mut from);
    let _ = wire::open::<wire::Reply>(bytes);
    let listing = wire::open_within::<Result<Listing, String>>(bytes, &model::limits::PACK);
    if let Ok(Ok(listing)) = listing {
        let mut catalogue = Vec::new();
        let refused = add(&mut catalogue, Path::new("any.so"), &listing);
        assert!(refused.len() + catalogue.len() <= listing.probes.len() + 1);
    }
});
