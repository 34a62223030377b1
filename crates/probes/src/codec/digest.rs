//! A kibibyte's fingerprint.

use super::{TEXT, blank};
use crate::repeated::{PLAIN, Repeated};
use meter::probe::{Probe, Work};
use sha2::{Digest, Sha256};
use std::hint::black_box;

pub(super) fn probe() -> Probe {
    Probe {
        title: "SHA-256 of a kibibyte".into(),
        operation: "One SHA-256 of 1024 bytes, from an empty state to the 32 bytes of the result: seventeen blocks with the padding.".into(),
        method: format!("{PLAIN} The sha2 crate, which takes the CPU's own instructions for it where there are any: the note says which. The bytes are the text of the compression rows; no time depends on them.").into(),
        source: "Ours: content addresses, signatures and downloads are made of it.".into(),
        make: Box::new(|_, _| digesting()),
        ..blank("codec.sha256_1K")
    }
}

fn digesting() -> Result<Box<dyn Work>, String> {
    let work = Repeated::new("digesting", || {
        black_box(Sha256::digest(black_box(TEXT)));
        Ok(())
    })?;
    Ok(Box::new(
        work.with_note(format!("instructions: {}", instructions())),
    ))
}

/// What the sha2 crate asks the CPU for, asked again.
fn instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    let own =
        std::arch::is_x86_feature_detected!("sha") && std::arch::is_x86_feature_detected!("sse4.1");
    #[cfg(target_arch = "aarch64")]
    let own = std::arch::is_aarch64_feature_detected!("sha2");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let own = false;
    match own {
        true => "the CPU's own for SHA-256",
        false => "ordinary ones, the CPU has none for SHA-256",
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
        assert_eq!(
            hex(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_ne!(hex(TEXT), hex(&TEXT[..1023]));
        let notes = crate::smoke::run(&[probe()], "codec.sha256_1K").expect("it runs");
        assert!(notes[0].starts_with("instructions: "));
    }
}
