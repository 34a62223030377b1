//! Any bytes from a child: frames, answers of a probe pack's child, and what they add to the catalogue; what a store
//! helper sends and gets.
#![no_main]

use meter::pack::{Listing, add_pack};
use meter::wire::Reply;
use std::path::Path;
use store_protocol::{Answer, Request};
use sys::role::frame;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut frames = bytes;
    while let Ok(Some(_)) = frame::receive_frame(&mut frames) {}
    let mut from = bytes;
    let _ = frame::receive::<Reply>(&mut from);
    let _ = frame::parse_body::<Reply>(bytes);
    let listing = frame::open_within::<Result<Listing, String>>(bytes, &model::limits::PACK);
    if let Ok(Ok(listing)) = listing {
        let mut catalogue = Vec::new();
        let refused = add_pack(&mut catalogue, Path::new("any.so"), &listing);
        assert!(refused.len() + catalogue.len() <= listing.probes.len() + 1);
    }
    let _ = Answer::read(&mut &bytes[..]);
    let mut requests = bytes;
    while let Ok(Some(request)) = Request::read(&mut requests) {
        let again = Request::read(&mut &request.to_bytes()[..]);
        assert_eq!(again.expect("what was read"), Some(request));
    }
});
