//! What a page may do: run our script, which the policy names by its hash, use
//! styles of its own, draw a picture of its own as an image, and nothing else. No
//! request can leave it. (W3C, Content
//! Security Policy Level 3.)

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The policy of a page that runs [`super::script`].
pub fn policy() -> String {
    policy_for(super::script())
}

/// The policy of a page that runs this script and no other. Styles need no hashes:
/// without images and fonts from elsewhere none can ask for anything.
pub(crate) fn policy_for(script: &str) -> String {
    format!(
        "default-src 'none'; {}; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
        scripts_for(script)
    )
}

/// The part of a policy that allows [`super::script`] and no other.
pub fn scripts() -> String {
    scripts_for(super::script())
}

fn scripts_for(script: &str) -> String {
    let own = STANDARD.encode(Sha256::digest(script));
    format!("script-src 'sha256-{own}'")
}
