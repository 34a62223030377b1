//! A tool's JSON as tools write it: a field that comes twice is the first (user counters may have any name,
//! and follow the tool's own), NaN and Infinity stand where numbers do, and what nobody needs may hold
//! anything. Every refusal names the tool, the entry and the field.

use super::file_checks::line_and_column;
use super::{ImportFault, InputFormat, UnfitValue};
use model::misfit::{self, Misfit};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The longest time: 115 days.
const MAX_NS: f64 = 1e16;
const MAX_FIELDS: usize = 10_000;
/// Largest whole number that a double has exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub(super) struct JsonSource<'t> {
    tool: &'static str,
    original: &'t str,
    strict: Cow<'t, str>,
}

/// A time in ns, or why there is none.
pub(super) type Time = Result<f64, NotATime>;

/// A field in which something else stands: `real_time is NaN`.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
#[error("{field} is {word}")]
pub(super) struct NotATime {
    field: String,
    word: String,
}

impl NotATime {
    pub(super) fn from_word(field: &str, word: &str) -> NotATime {
        NotATime { field: field.to_owned(), word: word.to_owned() }
    }
}

impl<'t> JsonSource<'t> {
    pub(super) fn new(format: InputFormat, text: &'t str) -> JsonSource<'t> {
        JsonSource { tool: format.program(), original: text, strict: strict(text) }
    }

    /// The object that the text is.
    pub(super) fn object(&self) -> Result<Object<'_>, ImportFault> {
        let raw: &RawValue =
            misfit::read_json(self.strict.as_bytes()).map_err(ImportFault::from)?;
        self.root(raw)
    }

    /// The objects of the list that the text is.
    pub(super) fn list(&self, most: usize) -> Result<Vec<Object<'_>>, ImportFault> {
        let raw: &RawValue =
            misfit::read_json(self.strict.as_bytes()).map_err(ImportFault::from)?;
        if !raw.get().starts_with('[') {
            let reason = format!("a list is needed, not {}", kind(raw));
            return Err(ImportFault::at(self.line_and_column(raw), reason));
        }
        let items: Vec<&RawValue> =
            misfit::read_json(raw.get().as_bytes()).map_err(ImportFault::from)?;
        if items.len() > most {
            return Err(ImportFault::of_file(format!("{}: a list of more than {most}", self.tool)));
        }
        let whole = Object { source: self, raw, what: String::new(), fields: Vec::new() };
        let items = items.into_iter().enumerate();
        items.map(|(at, raw)| whole.child(raw, format!("[{at}]"))).collect()
    }

    /// The lists that the text is a list of, as fields of these names.
    pub(super) fn list_as(&self, names: &[&str]) -> Result<Option<Object<'_>>, ImportFault> {
        let raw: &RawValue =
            misfit::read_json(self.strict.as_bytes()).map_err(ImportFault::from)?;
        let lists: Vec<&RawValue> = match raw.get().starts_with('[') {
            true => misfit::read_json(raw.get().as_bytes()).map_err(ImportFault::from)?,
            false => return Ok(None),
        };
        Ok((lists.len() == names.len()).then(|| {
            let names = names.iter().map(ToString::to_string);
            Object { source: self, raw, what: String::new(), fields: names.zip(lists).collect() }
        }))
    }

    /// The objects that stand one after the other (JSON Lines).
    pub(super) fn objects(&self) -> impl Iterator<Item = Result<Object<'_>, ImportFault>> {
        let values = serde_json::Deserializer::from_str(&self.strict).into_iter::<&RawValue>();
        values.map(|raw| match raw {
            Ok(raw) => self.root(raw),
            Err(error) => Err(misfit::misfit(&error, self.strict.as_bytes()).into()),
        })
    }

    fn root<'s>(&'s self, raw: &'s RawValue) -> Result<Object<'s>, ImportFault> {
        match Fields::from_raw(raw) {
            Some(Ok(fields)) => Ok(Object { source: self, raw, what: String::new(), fields }),
            Some(Err(reason)) => Err(ImportFault::at(self.line_and_column(raw), reason)),
            None => {
                let reason = format!("an object is needed, not {}", kind(raw));
                Err(ImportFault::at(self.line_and_column(raw), reason))
            }
        }
    }

    fn offset(&self, raw: &RawValue) -> usize {
        (raw.get().as_ptr() as usize).saturating_sub(self.strict.as_ptr() as usize)
    }

    fn line_and_column(&self, raw: &RawValue) -> (usize, usize) {
        line_and_column(self.original.as_bytes(), self.offset(raw))
    }

    /// The word that stands where a number should, without its quotes.
    fn word(&self, raw: &RawValue) -> &str {
        let at = self.offset(raw);
        let word = self.original.get(at..at + raw.get().len());
        word.unwrap_or_default().trim_matches('"')
    }
}

impl From<Misfit> for ImportFault {
    fn from(misfit: Misfit) -> ImportFault {
        ImportFault::at((misfit.line, misfit.column), misfit.reason)
    }
}

/// The text with `NaN` and `Infinity` in quotes that take the place of their first and last letter: JSON, with
/// everything in its place.
fn strict(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut changed: Option<Vec<u8>> = None;
    let (mut at, mut in_text) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_text => at += 1,
            b'"' => in_text = !in_text,
            byte if !in_text && is_of_word(byte) => {
                let rest = &bytes[at..];
                let end = at + rest.iter().take_while(|&&byte| is_of_word(byte)).count();
                if is_no_number(&text[at..end]) {
                    let changed = changed.get_or_insert_with(|| bytes.to_vec());
                    changed[at] = b'"';
                    changed[end - 1] = b'"';
                }
                at = end - 1;
            }
            _ => {}
        }
        at += 1;
    }
    match changed.map(String::from_utf8) {
        Some(Ok(strict)) => Cow::Owned(strict),
        // One byte of ASCII for another.
        _ => Cow::Borrowed(text),
    }
}

/// Whether a number, or a word in its place, may hold this byte.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-+.#()".contains(&byte)
}

/// The words of C, C++, Python, Java and JavaScript for what is no number: also those of printf on Windows, of the
/// present (`-nan(ind)`) and before 2015 (`-1.#IND`).
fn is_no_number(word: &str) -> bool {
    let word = word.trim_start_matches('-').to_ascii_lowercase();
    let kind = word.strip_suffix(')').and_then(|word| word.split_once('('));
    let is_kind = |(word, kind): (&str, &str)| {
        word == "nan" && kind.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    ["nan", "inf", "infinity"].contains(&&*word)
        || ["1.#ind", "1.#inf", "1.#qnan", "1.#snan"].iter().any(|one| {
            let rest = word.strip_prefix(one);
            rest.is_some_and(|digits| digits.bytes().all(|byte| byte == b'0'))
        })
        || kind.is_some_and(is_kind)
}

fn kind(raw: &RawValue) -> &'static str {
    match raw.get().as_bytes().first() {
        Some(b'"') => "a text",
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    }
}

pub(super) struct Object<'s> {
    source: &'s JsonSource<'s>,
    raw: &'s RawValue,
    /// Where in the file: `benchmarks[3] "BM_push"`.
    what: String,
    fields: Vec<(String, &'s RawValue)>,
}

impl<'s> Object<'s> {
    /// The value of a field; one that comes twice has the first.
    fn get(&self, key: &str) -> Option<&'s RawValue> {
        let mut fields = self.fields.iter();
        fields.find(|(name, _)| name == key).map(|&(_, raw)| raw)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Its fields, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| &**name)
    }

    /// A text. Anything else in the field is not the tool's.
    pub(super) fn text_field(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// A text that must be there.
    pub(super) fn needed_text(&self, key: &str) -> Result<String, ImportFault> {
        let Some(raw) = self.get(key) else {
            return Err(self.missing_field(key));
        };
        let text = || serde_json::from_str(raw.get()).ok();
        text().ok_or_else(|| match kind(raw) {
            "a text" => self.fault(key, "half of a character stands alone in the text"),
            other => self.fault(key, format!("a text is needed, not {other}")),
        })
    }

    /// The text of a field as an entry's name in messages.
    pub(super) fn called(mut self, key: &str) -> Self {
        if let Some(name) = self.text_field(key) {
            let name: String = name.chars().take(60).collect();
            self.what = format!("{} {name:?}", self.what);
        }
        self
    }

    pub(super) fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|raw| raw.get() == "true")
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// A whole number from 0, as it may stand in a field that nobody needs.
    pub(super) fn whole(&self, key: &str) -> Option<u64> {
        whole(self.get(key)?)
    }

    /// The same in a field that is needed, if it is there.
    pub(super) fn needed_whole(&self, key: &str) -> Result<Option<u64>, ImportFault> {
        let Some(raw) = self.get(key) else {
            return Ok(None);
        };
        let wrong =
            || self.fault(key, format!("{} is not a whole number from 0", value_beginning(raw)));
        whole(raw).map(Some).ok_or_else(wrong)
    }

    /// A time, if the field is there.
    pub(super) fn time(&self, key: &str, ns_per_unit: f64) -> Result<Option<Time>, ImportFault> {
        let Some(raw) = self.get(key) else {
            return Ok(None);
        };
        self.time_of(raw, key, ns_per_unit).map(Some)
    }

    /// A list of times; `None` without one.
    pub(super) fn times_field(
        &self,
        key: &str,
        ns_per_unit: f64,
        most: usize,
    ) -> Result<Option<Vec<Time>>, ImportFault> {
        let items = self.items(key, most)?;
        let read = |items: Vec<&RawValue>| {
            let times = items.into_iter().enumerate();
            let time = |(at, raw)| match json_number(raw) {
                // The usual case makes no text of its place.
                Some(value) if (0.0..=MAX_NS).contains(&(value * ns_per_unit)) => {
                    Ok(Ok(value * ns_per_unit + 0.0))
                }
                _ => self.time_of(raw, &format!("{key}[{at}]"), ns_per_unit),
            };
            times.map(time).collect::<Result<Vec<Time>, ImportFault>>()
        };
        items.map(read).transpose()
    }

    /// The times of a list, and of the lists within it; `None` without one.
    pub(super) fn flat_times(
        &self,
        key: &str,
        ns_per_unit: f64,
        most: usize,
    ) -> Result<Option<Vec<Time>>, ImportFault> {
        let Some(raw) = self.get(key) else { return Ok(None) };
        let mut times = Vec::new();
        let mut left = vec![raw];
        while let Some(raw) = left.pop() {
            if raw.get().starts_with('[') {
                let items: Vec<&RawValue> = serde_json::from_str(raw.get())
                    .map_err(|_| self.fault_at(raw, key, "a list is needed"))?;
                left.extend(items.into_iter().rev());
            } else {
                times.push(self.time_of(raw, key, ns_per_unit)?);
            }
            if times.len() + left.len() > most {
                return Err(self.fault(key, format!("a list of more than {most}")));
            }
        }
        Ok(Some(times))
    }

    /// A list of whole numbers; `None` without one.
    pub(super) fn wholes(&self, key: &str, most: usize) -> Result<Option<Vec<u64>>, ImportFault> {
        let Some(items) = self.items(key, most)? else {
            return Ok(None);
        };
        let items = items.into_iter().enumerate();
        let of = |(at, raw)| {
            let reason = || format!("{} is not a number of iterations", value_beginning(raw));
            let whole = whole(raw).filter(|&whole| whole > 0);
            whole.ok_or_else(|| self.fault_at(raw, &format!("{key}[{at}]"), reason()))
        };
        items.map(of).collect::<Result<Vec<u64>, ImportFault>>().map(Some)
    }

    /// A number that may be negative.
    pub(super) fn code(&self, key: &str) -> Option<i64> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// A list of them; null after a signal.
    pub(super) fn codes(&self, key: &str, most: usize) -> Result<Vec<Option<i64>>, ImportFault> {
        let items = self.items(key, most)?.unwrap_or_default();
        let code = |raw: &RawValue| serde_json::from_str(raw.get()).ok();
        Ok(items.into_iter().map(code).collect())
    }

    pub(super) fn object(&self, key: &str) -> Option<Object<'s>> {
        self.child(self.get(key)?, key.to_owned()).ok()
    }

    /// The objects of a list that must be there.
    pub(super) fn objects(&self, key: &str, most: usize) -> Result<Vec<Object<'s>>, ImportFault> {
        let items = self.items(key, most)?.ok_or_else(|| self.missing_field(key))?;
        let items = items.into_iter().enumerate();
        items.map(|(at, raw)| self.child(raw, format!("{key}[{at}]"))).collect()
    }

    /// The values of a list; `None` without one.
    fn items(&self, key: &str, most: usize) -> Result<Option<Vec<&'s RawValue>>, ImportFault> {
        let Some(raw) = self.get(key).filter(|raw| raw.get() != "null") else {
            return Ok(None);
        };
        let list = serde_json::from_str::<Vec<&RawValue>>(raw.get());
        let list =
            list.map_err(|_| self.fault(key, format!("a list is needed, not {}", kind(raw))))?;
        match list.len() > most {
            true => Err(self.fault(key, format!("a list of more than {most}"))),
            false => Ok(Some(list)),
        }
    }

    fn child(&self, raw: &'s RawValue, name: String) -> Result<Object<'s>, ImportFault> {
        let fields = match Fields::from_raw(raw) {
            Some(Ok(fields)) => fields,
            Some(Err(reason)) => return Err(self.fault_at(raw, &name, reason)),
            None => {
                let reason = format!("an object is needed, not {}", kind(raw));
                return Err(self.fault_at(raw, &name, reason));
            }
        };
        let what = match &*self.what {
            "" => name,
            what => format!("{what}, {name}"),
        };
        Ok(Object { source: self.source, raw, what, fields })
    }

    fn time_of(&self, raw: &RawValue, field: &str, ns_per_unit: f64) -> Result<Time, ImportFault> {
        let refused = |reason: UnfitValue| Err(self.fault_at(raw, field, reason));
        if let Some(value) = json_number(raw) {
            let ns = value * ns_per_unit;
            return match value {
                value if value < 0.0 => refused(UnfitValue::Negative(value_beginning(raw))),
                _ if ns > MAX_NS => {
                    refused(UnfitValue::LongTime(value_beginning(raw), unit(ns_per_unit)))
                }
                // -0.0 is 0.
                _ => Ok(Ok(ns + 0.0)),
            };
        }
        let word = self.source.word(raw);
        match word == "null" || is_no_number(word) {
            true => Ok(Err(NotATime::from_word(field, word))),
            false => {
                Err(self.fault_at(raw, field, format!("a number is needed, not {}", kind(raw))))
            }
        }
    }

    pub(super) fn fault(&self, key: &str, reason: impl fmt::Display) -> ImportFault {
        self.fault_at(self.get(key).unwrap_or(self.raw), key, reason)
    }

    pub(super) fn fault_of_it(&self, reason: impl fmt::Display) -> ImportFault {
        self.fault_at(self.raw, "", reason)
    }

    /// Without a field that must be there.
    pub(super) fn missing_field(&self, key: &str) -> ImportFault {
        self.fault_at(self.raw, "", format!("{key:?} is missing"))
    }

    fn fault_at(&self, raw: &RawValue, field: &str, reason: impl fmt::Display) -> ImportFault {
        let where_it_is = [self.source.tool, &self.what, field];
        let parts = where_it_is.into_iter().filter(|part| !part.is_empty());
        let place = parts.collect::<Vec<_>>().join(", ");
        ImportFault::at(self.source.line_and_column(raw), format!("{place}: {reason}"))
    }
}

/// The unit that has so many ns.
fn unit(ns: f64) -> &'static str {
    match ns {
        ns if ns >= 1e9 => "s",
        ns if ns >= 1e6 => "ms",
        ns if ns >= 1e3 => "us",
        _ => "ns",
    }
}

/// The beginning of a value, for a message.
fn value_beginning(raw: &RawValue) -> String {
    raw.get().chars().take(40).collect()
}

fn json_number(raw: &RawValue) -> Option<f64> {
    let text = raw.get();
    let begins = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    begins.then(|| text.parse().ok()).flatten()
}

/// A whole number from 0, which may be written with a point.
fn whole(raw: &RawValue) -> Option<u64> {
    let is_whole = |value: &f64| value.fract() == 0.0 && (0.0..=EXACT).contains(value);
    raw.get().parse().ok().or_else(|| json_number(raw).filter(is_whole).map(|value| value as u64))
}

/// The fields of an object, repeated ones too.
struct Fields<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Fields<'t> {
    /// `None` for what is not an object.
    #[allow(clippy::type_complexity, reason = "fields or a reason, if it is an object")]
    fn from_raw(raw: &'t RawValue) -> Option<Result<Vec<(String, &'t RawValue)>, String>> {
        let fields = || serde_json::from_str::<Fields>(raw.get());
        raw.get().starts_with('{').then(|| match fields() {
            Ok(fields) => Ok(fields.0),
            Err(error) => Err(misfit::misfit(&error, raw.get().as_bytes()).reason),
        })
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    if fields.len() == MAX_FIELDS {
                        let reason = format!("an object of more than {MAX_FIELDS} fields");
                        return Err(A::Error::custom(reason));
                    }
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_no_number_are_quoted_where_they_stand_and_nowhere_else() {
        for (text, expected) in [
            ("[NaN, -nan, inf, -Infinity]", "[\"a\", \"na\", \"n\", \"Infinit\"]"),
            ("{\"NaN\": NAN}", "{\"NaN\": \"A\"}"),
            ("[\"a \\\" NaN\", nan]", "[\"a \\\" NaN\", \"a\"]"),
            (
                "[-nan(ind),nan(ind), nan(0x8), NAN(snan)]",
                "[\"nan(ind\",\"an(ind\", \"an(0x8\", \"AN(snan\"]",
            ),
            ("{\"a\":-1.#IND,\"b\":1.#INF00}", "{\"a\":\"1.#IN\",\"b\":\".#INF0\"}"),
        ] {
            assert_eq!(strict(text), expected);
            let read: serde_json::Value = serde_json::from_str(&strict(text)).expect(text);
            assert!(read.is_array() || read.is_object());
        }
        for same in [
            "[null, true, 1e5, -1.5E+3, \"inf\"]",
            "größe",
            "nano",
            "nan(",
            "nan(a,b)",
            "inf(ind)",
            "1.#IND5",
            "\"\\",
        ] {
            assert!(matches!(strict(same), Cow::Borrowed(_)), "{same}");
        }
    }

    #[test]
    fn fields_are_the_first_of_their_name_and_of_their_kind() {
        let text = "{\"a\": 1, \"a\": 2, \"b\": \"x\", \"c\": null, \"d\": [1.0, NaN, \"Infinity\", null]}";
        let source = JsonSource::new(InputFormat::GoogleBenchmark, text);
        let object = source.object().expect("an object");
        assert_eq!(object.whole("a"), Some(1));
        assert_eq!((object.text_field("a"), object.text_field("b")), (None, Some("x".into())));
        let times = object.times_field("d", 1.0, 9).expect("times").expect("a list");
        let words: Vec<String> =
            times.into_iter().filter_map(Result::err).map(|no| no.to_string()).collect();
        assert_eq!(words, ["d[1] is NaN", "d[2] is Infinity", "d[3] is null"]);
        assert_eq!(object.times_field("c", 1.0, 9).expect("null"), None);
        let fault = object.time("b", 1.0).expect_err("a text");
        assert_eq!(fault.place, Some((1, 23)));
        assert_eq!(fault.reason, "Google Benchmark, b: a number is needed, not a text");
    }
}
