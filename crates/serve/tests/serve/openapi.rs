//! The description of the interface, made once and sent from memory.

use crate::common::Atlas;
use axum::body::Body;
use axum::http::Method;

const PATH: &str = "/api/openapi.json";

#[test]
fn the_description_is_sent_with_a_tag_and_not_again_to_a_client_that_has_it() {
    let atlas = Atlas::empty();
    let first = atlas.get(PATH);
    assert_eq!(first.status, 200);
    assert_eq!(first.header("content-type"), "application/json");
    assert_eq!(first.header("cache-control"), "private, no-cache");
    let tag = first.header("etag");
    assert!(tag.starts_with('"') && tag.len() == 34, "{tag}");
    assert_eq!(first.json(), serve::openapi());

    let with = |tags: &str| {
        let request = Atlas::request(Method::GET, PATH).header("if-none-match", tags);
        atlas.ask(request.body(Body::empty()).expect("a request"))
    };
    for same in [
        tag.to_owned(),
        format!("W/{tag}"),
        format!("\"other\", {tag}"),
        "*".into(),
    ] {
        let again = with(&same);
        assert_eq!(
            (again.status.as_u16(), again.body.len()),
            (304, 0),
            "{same}"
        );
        assert_eq!(again.header("etag"), tag);
        assert_eq!(again.header("x-content-type-options"), "nosniff");
    }
    for other in ["\"other\"", "", tag.trim_matches('"')] {
        assert_eq!(with(other).body, first.body, "{other:?}");
    }
}
