//! The document in a form as browsers send it (multipart/form-data, RFC 7578).

use super::Received;
use crate::problem::Problem;
use axum::http::{HeaderMap, header};
use memchr::memmem::Finder;

/// Reduces the body of a form to its field `document`.
pub(crate) fn document_in_form(headers: &HeaderMap, body: &mut Received) -> Result<(), Problem> {
    let malformed = |why: &str| Problem::Malformed(format!("malformed form: {why}"));
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let boundary = parameter(kind, "boundary").filter(|_| kind.starts_with("multipart/form-data"));
    let boundary = boundary.ok_or_else(|| malformed("no multipart/form-data with a boundary"))?;
    let document = field(&body.bytes, boundary, "document");
    let document = document.filter(|document| !document.is_empty());
    let document = document.ok_or_else(|| malformed("no file in the field `document`"))?;
    body.bytes = document.to_vec();
    Ok(())
}

/// The content of the first field of this name.
fn field<'a>(mut body: &'a [u8], boundary: &str, name: &str) -> Option<&'a [u8]> {
    let delimiter = format!("\r\n--{boundary}");
    let delimiter = Finder::new(&delimiter);
    body = body.strip_prefix(&delimiter.needle()[2..])?;
    loop {
        let content = body.strip_prefix(b"\r\n")?;
        let end = delimiter.find(content)?;
        let (part, rest) = content.split_at(end);
        let head = memchr::memmem::find(part, b"\r\n\r\n")?;
        let headers = std::str::from_utf8(&part[..head]).ok()?;
        let disposition = headers.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case("content-disposition").then_some(value)
        });
        if disposition.and_then(|value| parameter(value, "name")) == Some(name) {
            return Some(&part[head + 4..]);
        }
        body = &rest[delimiter.needle().len()..];
    }
}

/// The first parameter of this name in a header's value.
fn parameter<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    value.split(';').skip(1).find_map(|parameter| {
        let (key, value) = parameter.trim().split_once('=')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_and_what_is_no_form_is_refused() {
        let part = |name: &str, content: &str| {
            format!(
                "--B\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"; name=x\"\r\n\r\n{content}\r\n"
            )
        };
        let of = |body: &str| field(body.as_bytes(), "B", "document").map(<[u8]>::to_vec);
        let whole = part("other", "1") + &part("document", "a\r\n--b\0") + "--B--\r\n";
        assert_eq!(of(&whole), Some(b"a\r\n--b\0".to_vec()));
        assert_eq!(of(&(part("document", "") + "--B--")), Some(vec![]));
        assert_eq!(of(&(part("other", "") + "--B--")), None);
        for cut in 0..whole.len() - "\r\n--B--\r\n".len() + 1 {
            assert_eq!(of(&whole[..cut]), None, "{cut}");
        }
        assert_eq!(of("--B--"), None);
        assert_eq!(of("--B\r\nX\r\n--B--"), None);
        assert_eq!(parameter("multipart/form-data; boundary=\"B\"", "boundary"), Some("B"));
    }
}
