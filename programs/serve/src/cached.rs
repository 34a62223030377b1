//! A JSON document that clients may keep, with an entity tag of its content.

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

/// The document's text and its entity tag.
pub(crate) struct CachedDocument {
    bytes: Bytes,
    tag: String,
}

impl CachedDocument {
    pub(crate) fn new(json: &'static str) -> CachedDocument {
        let hash = Sha256::digest(json);
        let tag = model::phrases::hexadecimal(&hash[..16]);
        CachedDocument { bytes: Bytes::from_static(json.as_bytes()), tag: format!("\"{tag}\"") }
    }

    /// The document, or 304 for a client that has it.
    pub(crate) fn response(&self, headers: &HeaderMap) -> Response {
        let headers = headers.get_all(header::IF_NONE_MATCH).iter();
        let mut known = headers.filter_map(|tags| tags.to_str().ok());
        let has_it =
            known.any(|tags| tags.split(',').any(|known| matches(known.trim(), &self.tag)));
        let cached =
            [(header::ETAG, self.tag.as_str()), (header::CACHE_CONTROL, "private, no-cache")];
        match has_it {
            true => (StatusCode::NOT_MODIFIED, cached).into_response(),
            false => {
                let json = [(header::CONTENT_TYPE, "application/json")];
                (cached, json, self.bytes.clone()).into_response()
            }
        }
    }
}

/// The weak comparison of `If-None-Match` (RFC 9110, 13.1.2).
fn matches(known: &str, tag: &str) -> bool {
    known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag
}
