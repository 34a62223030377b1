//! Texts of strangers: a document may come from anywhere, and what it says is
//! shown on terminals, in tables and in other tools' files. Here is the one
//! rule for what is shown as it is and what is spelled out instead.

use std::borrow::Cow;

/// Whether a character could do something to a terminal instead of being
/// seen: control characters, marks of direction and others without a width,
/// and the private ones by which colours are marked until they are written.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e000}'..='\u{f8ff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A text in one line, with everything hidden spelled out.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|c| push(&mut shown, c));
    shown
}

fn push(shown: &mut String, c: char) {
    match c {
        '\n' => shown.push_str("\\n"),
        '\t' => shown.push_str("\\t"),
        c if is_hidden(c) => shown.extend(c.escape_unicode()),
        c => shown.push(c),
    }
}

/// A text in which a sign (U+FFFD) stands for every hidden character other than line feeds and tabs, so that
/// names keep their shape in every script: joiners of letters and emoji are hidden, too.
pub fn with_signs(text: &str) -> String {
    let shown = |c: char| match is_hidden(c) && !matches!(c, '\n' | '\t') {
        true => '\u{fffd}',
        false => c,
    };
    text.chars().map(shown).collect()
}

/// JSON whose texts are [`visible`], names included; the same bytes where
/// nothing is hidden. What is no UTF-8, or no JSON, is for the parser to say.
pub fn visible_json(json: &[u8]) -> Cow<'_, [u8]> {
    let Ok(text) = std::str::from_utf8(json) else {
        return Cow::Borrowed(json);
    };
    let mut shown = String::new();
    let mut copied = 0;
    let mut at = 0;
    // In JSON a backslash stands in texts only, and so does what is not ASCII.
    while let Some(next) = json[at..].iter().position(|&b| b == b'\\' || b >= 0x7f) {
        at += next;
        let (character, length) = character_at(text, at);
        if let Some(hidden) = character.filter(|&c| is_hidden(c)) {
            shown.push_str(&text[copied..at]);
            let mut spelled = String::new();
            push(&mut spelled, hidden);
            shown.push_str(&spelled.replace('\\', "\\\\"));
            copied = at + length;
        }
        at += length;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    shown.push_str(&text[copied..]);
    Cow::Owned(shown.into_bytes())
}

/// JSON in which every hidden character is written by its escape: the same
/// content, and nothing that a terminal would obey.
pub fn escaped_json(json: Vec<u8>) -> Vec<u8> {
    let is_plain = |text: &str| !text.chars().any(|c| c != '\n' && is_hidden(c));
    match std::str::from_utf8(&json) {
        Ok(text) if !is_plain(text) => {
            let mut escaped = String::with_capacity(text.len() + 64);
            let mut units = [0; 2];
            for c in text.chars() {
                match c {
                    // Between texts: in them it is an escape already.
                    '\n' => escaped.push(c),
                    c if is_hidden(c) => {
                        for unit in c.encode_utf16(&mut units) {
                            escaped.push_str(&format!("\\u{unit:04x}"));
                        }
                    }
                    c => escaped.push(c),
                }
            }
            escaped.into_bytes()
        }
        _ => json,
    }
}

/// The character written at this place, plainly or by an escape, and how many
/// bytes that takes; `None` for one that is never hidden.
fn character_at(text: &str, at: usize) -> (Option<char>, usize) {
    let rest = &text[at..];
    let mut chars = rest.chars();
    let first = chars.next();
    if first != Some('\\') {
        return (first, first.map_or(1, char::len_utf8));
    }
    let escaped = match chars.next() {
        Some('n') => '\n',
        Some('t') => '\t',
        Some('r') => '\r',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('u') => return unicode_escape(rest),
        other => return (None, 1 + other.map_or(0, char::len_utf8)),
    };
    (Some(escaped), 2)
}

/// `\u1b2e`, or two of them for a character beyond U+FFFF.
fn unicode_escape(rest: &str) -> (Option<char>, usize) {
    let unit = |from: usize| {
        let digits = rest.get(from..from + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else {
        return (None, 2);
    };
    if let Some(c) = char::from_u32(u32::from(first)) {
        return (Some(c), 6);
    }
    let pair = [first, unit(6).unwrap_or(0)];
    match char::decode_utf16(pair).next() {
        Some(Ok(c)) => (Some(c), 12),
        _ => (None, 6),
    }
}

/// A text as a field of a CSV file (RFC 4180). One that begins with a character
/// of formulas stands behind an apostrophe: a spreadsheet might fetch or run
/// something for it (<https://owasp.org/www-community/attacks/CSV_Injection>).
pub fn csv_field(text: &str) -> String {
    let text = match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match text.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_stays_hidden() {
        assert_eq!(visible("a\x1b[31m\u{202e}b\nc"), "a\\u{1b}[31m\\u{202e}b\\nc");
        assert_eq!(visible("größer ✓"), "größer ✓");
    }

    #[test]
    fn hidden_characters_of_json_become_escapes_and_stay_what_they_are() {
        let value = serde_json::json!(["\u{202e}a\u{9b}\u{e0041}", "\x1b\n größe", 1]);
        let json = serde_json::to_vec_pretty(&value).expect("JSON");
        let escaped = escaped_json(json);
        let text = std::str::from_utf8(&escaped).expect("UTF-8");
        assert!(!text.chars().any(|c| c != '\n' && is_hidden(c)), "{text}");
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&escaped).ok(), Some(value));
    }

    #[test]
    fn texts_of_json_are_spelled_out_however_they_are_written() {
        let shown = |json: &str| {
            let shown = visible_json(json.as_bytes()).into_owned();
            serde_json::from_slice::<serde_json::Value>(&shown).expect("still JSON")
        };
        for (json, expected) in [
            (r#""a\u001b[2Jb""#, "a\\u{1b}[2Jb"),
            (r#""a\nb\tc\rd""#, "a\\nb\\tc\\u{d}d"),
            ("\"x\u{202e}y\u{9b}z\"", "x\\u{202e}y\\u{9b}z"),
            (r#""\u202E""#, "\\u{202e}"),
            // A backslash that is meant as one, before an n.
            (r#""C:\\new \"größe\" \u00e9""#, "C:\\new \"größe\" é"),
            (r#""\udb40\udc41""#, "\\u{e0041}"),
            (r#""\ud83d\ude00 😀""#, "😀 😀"),
        ] {
            assert_eq!(shown(json), expected, "{json}");
        }
        let plain = "{\"größe\": [1, 2, \"a \\\\ b\"]}".as_bytes();
        assert!(matches!(visible_json(plain), Cow::Borrowed(_)));
        for broken in [&b"\"\\"[..], b"\"\\u12", b"\"\\ud800\"", b"\xff\\n"] {
            visible_json(broken);
        }
    }
}
