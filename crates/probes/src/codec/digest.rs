//! The hash of a kibibyte.

use super::{TEXT, blank};
use crate::engine::repeated::{PLAIN, calls};
use meter::probe::Probe;
use sha2::{Digest, Sha256};
use std::hint::black_box;

pub(super) fn digest_probe() -> Probe {
    Probe {
        title: "SHA-256 of a kibibyte".into(),
        operation: "One SHA-256 of 1024 bytes, from an empty state to the 32 bytes of the result: seventeen blocks with the padding.".into(),
        method: format!("{PLAIN} The sha2 crate, which uses the CPU's SHA instructions where there are any: the note says which. The bytes are the text of the compression rows; the time does not depend on them.").into(),
        source: "Ours: content addresses, signatures and downloads use it.".into(),
        make: Box::new(|_, _| {
            let digest = || {
                black_box(Sha256::digest(black_box(TEXT)));
                Ok(())
            };
            let note = format!("instructions: {}", instructions());
            calls("digesting", digest).note(note).boxed()
        }),
        ..blank("codec.sha256_1K")
    }
}

/// What the sha2 crate asks the CPU for, asked again.
fn instructions() -> &'static str {
    let present = |features: &[&str]| {
        let mut features = features.iter();
        features.all(|feature| sys::cpu_feature::is_present(feature) == Some(true))
    };
    match present(&["sha", "sse4.1"]) || present(&["sha2"]) {
        true => "the CPU's SHA-256 instructions",
        false => "general ones: this CPU has none for SHA-256",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_sha_256() {
        let hex = |bytes: &[u8]| -> String {
            let digest = Sha256::digest(bytes);
            digest.iter().map(|byte| format!("{byte:02x}")).collect()
        };
        // FIPS 180-4's example.
        assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_ne!(hex(TEXT), hex(&TEXT[..1023]));
    }
}
