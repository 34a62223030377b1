//! Types of fields that can't hold what they must not: the parser itself
//! refuses, and so knows the line.

use super::text::place;
use super::{Fault, MAX_SAMPLES};
use model::text::is_hidden;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;
use std::fmt;
use std::marker::PhantomData;

/// The longest name: a command line can be long, a name for a row can't.
const MAX_NAME_BYTES: usize = 4096;
/// The longest time: 115 days.
const MAX_NS: f64 = 1e16;

/// Parses a whole JSON text.
pub(super) fn parse<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|e| fault(&e, text, 0))
}

/// Parses one part of a text, which tells its faults by their place in the
/// whole.
pub(super) fn part<'t, T: Deserialize<'t>>(text: &'t str, raw: &'t RawValue) -> Result<T, Fault> {
    let at = offset(text, raw);
    serde_json::from_str(raw.get()).map_err(|e| fault(&e, text, at))
}

/// Line and column at which a part begins.
pub(super) fn place_of(text: &str, raw: &RawValue) -> (usize, usize) {
    place(text.as_bytes(), offset(text, raw))
}

/// Where a part that was borrowed from a text begins in it.
fn offset(text: &str, raw: &RawValue) -> usize {
    (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

fn fault(error: &serde_json::Error, text: &str, from: usize) -> Fault {
    use serde_json::error::Category;
    let (line, column) = place(text.as_bytes(), from);
    let place = match error.line() {
        0 => None,
        1 => Some((line, column + error.column().max(1) - 1)),
        n => Some((line + n - 1, error.column().max(1))),
    };
    let message = error.to_string();
    let message = match message.rfind(" at line ") {
        Some(end) => &message[..end],
        None => &message,
    };
    let reason = match error.classify() {
        Category::Eof => "it ends in the middle: it was cut off".to_owned(),
        Category::Syntax => format!("it is not JSON: {message}{}", no_numbers(text, place)),
        Category::Data | Category::Io => message.to_owned(),
    };
    Fault { place, reason }
}

/// Words for what many writers put where a number should be.
fn no_numbers(text: &str, place: Option<(usize, usize)>) -> &'static str {
    let line = place.and_then(|(line, _)| text.lines().nth(line - 1));
    match line {
        Some(line) if line.contains("NaN") || line.contains("Infinity") => {
            " (JSON has no NaN and no Infinity)"
        }
        _ => "",
    }
}

/// A text that can be shown: not too long, and nothing hidden in it but line
/// feeds and tabs, which a command may well hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(pub(super) String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Refused while it is visited: later the parser is a line further.
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Name, E> {
                check_name(text).map_err(E::custom)?;
                Ok(Name(text.to_owned()))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Why a value can't be a name or a time of a benchmark.
#[derive(thiserror::Error, Clone, Copy, Debug, PartialEq)]
pub enum UnfitValue {
    /// A name is too long.
    #[error("a text of more than {MAX_NAME_BYTES} bytes")]
    LongText,
    /// A terminal would obey a character of a name, or not show it.
    #[error("the control or invisible character U+{:04X} in a text", *.0 as u32)]
    HiddenCharacter(char),
    /// A time in ns is too long.
    #[error("a time of {0:.1e} ns is longer than any measurement ({MAX_NS:.0e} ns is 115 days)")]
    LongTime(f64),
}

/// Whether a text can be a name.
///
/// # Errors
/// It has too many bytes, or characters that a terminal would obey.
pub fn check_name(text: &str) -> Result<(), UnfitValue> {
    if text.len() > MAX_NAME_BYTES {
        return Err(UnfitValue::LongText);
    }
    let hidden = |c: &char| is_hidden(*c) && !matches!(c, '\n' | '\t');
    match text.chars().find(hidden) {
        Some(c) => Err(UnfitValue::HiddenCharacter(c)),
        None => Ok(()),
    }
}

/// A time or a count as a floating-point number: at least 0, and finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amount(pub(super) f64);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Amount;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Amount, E> {
                match value {
                    v if !v.is_finite() => Err(E::custom("not a finite number")),
                    v if v < 0.0 => Err(E::custom(format!("{v} is negative, and a time is not"))),
                    // -0.0 is 0.
                    v => Ok(Amount(v + 0.0)),
                }
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Amount, E> {
                self.visit_f64(value as f64)
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Amount, E> {
                self.visit_f64(value as f64)
            }
        }
        deserializer.deserialize_f64(Number)
    }
}

/// A time in ns of a value in a unit, or why it can't be one.
pub(super) fn ns(value: Amount, ns_per_unit: f64) -> Result<f64, UnfitValue> {
    let ns = value.0 * ns_per_unit;
    match ns <= MAX_NS {
        true => Ok(ns),
        false => Err(UnfitValue::LongTime(ns)),
    }
}

/// A list of at most `MAX` entries.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AtMost<T, const MAX: usize>(pub(super) Vec<T>);

/// Samples of one benchmark.
pub(super) type Samples<T> = AtMost<T, MAX_SAMPLES>;

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for AtMost<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<T, const MAX: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for List<T, MAX> {
            type Value = AtMost<T, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                write!(f, "a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    if values.len() == MAX {
                        return Err(de::Error::custom(format!("a list of more than {MAX}")));
                    }
                    values.push(value);
                }
                Ok(AtMost(values))
            }
        }
        deserializer.deserialize_seq(List(PhantomData))
    }
}
