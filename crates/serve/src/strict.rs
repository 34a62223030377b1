//! What a request asks for, refused with one line where it can't be meant.

use crate::problem::Problem;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The parameters behind the `?`: unknown, double and malformed ones are
/// refused.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(asked)) => Ok(Asked(asked)),
            Err(refused) => Err(Problem::bad_request(refused.body_text())),
        }
    }
}

/// The one part of the path that names something.
pub(crate) struct Named(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(name)) => Ok(Named(name)),
            Err(refused) => Err(Problem::bad_request(refused.body_text())),
        }
    }
}

/// No parameters at all.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// A list in pages.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunsAsked {
    /// Only runs of the machine with this key.
    pub(crate) machine: Option<String>,
    /// Runs to leave out, counted from the newest.
    #[serde(default)]
    #[schemars(range(max = 4294967295_u32))]
    pub(crate) offset: u32,
    /// Runs to list at most.
    #[serde(default = "RunsAsked::usual")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) limit: u32,
}

impl RunsAsked {
    const LARGEST: u32 = 1000;

    fn usual() -> u32 {
        100
    }

    pub(crate) fn checked(self) -> Result<RunsAsked, Problem> {
        match (1..=Self::LARGEST).contains(&self.limit) {
            true => Ok(self),
            false => Err(Problem::bad_request(format!(
                "limit is {}, and may be 1 to {}",
                self.limit,
                Self::LARGEST
            ))),
        }
    }
}

/// A row, or a point of it.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowAsked {
    /// The row's id, such as `memory.latency/L1`.
    pub(crate) row: String,
    /// The point of a curve or map, numbers with commas between: `65536`,
    /// `4096,64`. Left out for a single figure.
    #[schemars(regex(pattern = r"^([0-9]{1,19}(,[0-9]{1,19})?)?$"))]
    pub(crate) at: Option<String>,
}

/// A row on one machine.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryAsked {
    /// The machine's key.
    pub(crate) machine: String,
    /// The row's id, such as `memory.latency/L1`.
    pub(crate) row: String,
    /// The point of a curve or map, numbers with commas between: `65536`,
    /// `4096,64`. Left out for a single figure.
    #[schemars(regex(pattern = r"^([0-9]{1,19}(,[0-9]{1,19})?)?$"))]
    pub(crate) at: Option<String>,
}

/// Two sides.
#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompareAsked {
    /// The baseline: a run's id, `@` and a host's name, or a published table
    /// such as `2012`.
    pub(crate) a: String,
    /// What is set against it: the same kinds.
    pub(crate) b: String,
}

/// Numbers with commas between as a point.
pub(crate) fn point(at: Option<&str>) -> Result<Vec<u64>, Problem> {
    let at = at.unwrap_or("");
    if at.is_empty() {
        return Ok(Vec::new());
    }
    let number = |text: &str| {
        let digits = (1..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten()
    };
    let numbers: Option<Vec<u64>> = at.split(',').map(number).collect();
    match numbers {
        Some(numbers) if numbers.len() <= 2 => Ok(numbers),
        _ => Err(Problem::bad_request(
            "at is not a point: give one or two whole numbers with a comma between, such as 65536",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_one_or_two_numbers() {
        let of = |text| point(Some(text)).ok();
        assert_eq!(point(None).ok(), Some(vec![]));
        assert_eq!(of(""), Some(vec![]));
        assert_eq!(of("65536"), Some(vec![65536]));
        assert_eq!(of("18446744073709551615"), Some(vec![u64::MAX]));
        assert_eq!(of("4096,64"), Some(vec![4096, 64]));
        for bad in [
            "x",
            "1,2,3",
            "1,",
            ",",
            "-1",
            "+1",
            "1.5",
            "99999999999999999999",
            " 1",
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
