//! What a page may do: run our script, which the policy names by its hash, use
//! styles of its own, draw a picture of its own as an image, and nothing else. No
//! request can leave it. (W3C, Content
//! Security Policy Level 3.)

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};
use sha2::{Digest, Sha256};

/// The policy of a page that runs [`super::script`].
pub fn policy() -> String {
    policy_for(super::script())
}

/// What the head of every page begins with. It runs this script and no other.
pub fn meta(generator: &str, script: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta http-equiv="Content-Security-Policy" content=(policy_for(script));
        meta name="generator" content=(generator);
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
    }
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
