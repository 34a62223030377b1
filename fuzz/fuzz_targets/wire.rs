//! Any bytes from a child: frames, answers of a probe pack's child, and what they add to the catalogue.
#![no_main]

use meter::pack::{Listing, add};
use meter::wire::Reply;
use std::path::Path;
use sys::role::frame;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut frames = bytes;
    while let Ok(Some(_)) = frame::receive_frame(&mut frames) {}
    let mut from = bytes;
    let _ = frame::receive::<Reply>(&mut from);
    let _ = frame::open::<Reply>(bytes);
    let listing = frame::open_within::<Result<Listing, String>>(bytes, &model::limits::PACK);
    if let Ok(Ok(listing)) = listing {
        let mut catalogue = Vec::new();
        let refused = add(&mut catalogue, Path::new("any.so"), &listing);
        assert!(refused.len() + catalogue.len() <= listing.probes.len() + 1);
    }
});
