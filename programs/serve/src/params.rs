//! Parameters of requests. Unknown, repeated and malformed ones are refused.

use crate::app::App;
use crate::problem::Problem;
use crate::share::Client;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use model::misfit;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use store::index::Index;

/// What every handler needs: the state, who asks, and the parameters.
pub(crate) struct Ask<P = NoParams> {
    pub(crate) app: App,
    pub(crate) client: Client,
    pub(crate) params: P,
}

impl<P: DeserializeOwned> FromRequestParts<App> for Ask<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Ok(client) = Client::from_request_parts(parts, app).await;
        let Params(params) = Params::from_request_parts(parts, app).await?;
        Ok(Ask { app: app.clone(), client, params })
    }
}

impl<P: Send + 'static> Ask<P> {
    pub(crate) async fn query<T: Send + 'static>(
        self,
        query: impl FnOnce(&Index, &App, P) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let Ask { app, client, params } = self;
        app.query(client, |index, app| query(index, app, params)).await
    }

    /// The same of a query that reads whole documents.
    pub(crate) async fn draw_whole<T: Send + 'static>(
        self,
        query: impl FnOnce(&Index, &App, P) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let Ask { app, client, params } = self;
        app.draw_whole(client, |index, app| query(index, app, params)).await
    }
}

struct Params<T>(T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(params)) => Ok(Params(params)),
            Err(refused) => Err(Problem::Malformed(refusal_text(&refused.body_text()))),
        }
    }
}

/// Why parameters are refused, without the words of the parser.
fn refusal_text(refused: &str) -> String {
    let reason = refused.trim_start_matches("Failed to deserialize query string: ");
    match reason.split_once(": ") {
        Some((key, reason)) if !key.contains(' ') => {
            format!("parameter {key}: {}", misfit::plain_message(reason))
        }
        _ => format!("parameters: {}", misfit::plain_message(reason)),
    }
}

/// The `{id}` or `{key}` in the path.
pub(crate) struct Name(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(name)) => Ok(Name(name)),
            Err(refused) => Err(Problem::Malformed(refused.body_text())),
        }
    }
}

/// No parameters.
#[derive(Deserialize, Debug)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// A page of the list of runs.
#[derive(Deserialize, Debug)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RunsParams {
    /// Only runs of the machine with this key.
    pub(crate) machine: Option<String>,
    /// Newest runs to skip.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(max = 4294967295_u32)))]
    pub(crate) offset: u32,
    /// List at most this many runs.
    #[serde(default = "RunsParams::default_limit", deserialize_with = "limit")]
    #[cfg_attr(test, schemars(range(min = 1, max = 1000)))]
    pub(crate) limit: u32,
}

impl RunsParams {
    pub(crate) fn default_limit() -> u32 {
        100
    }
}

fn limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let limit = u32::deserialize(deserializer)?;
    match limit {
        1..=1000 => Ok(limit),
        _ => Err(D::Error::custom("limit must be 1 to 1000")),
    }
}

/// A row, or a point of it.
#[derive(Deserialize, Debug)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RowParams {
    /// The row's id, such as `memory.latency/L1`.
    pub(crate) row: String,
    /// Point of a curve or map: one or two numbers, such as `65536` or
    /// `4096,64`. Omit for a single figure.
    #[serde(default)]
    pub(crate) at: Point,
}

/// A row on one machine.
#[derive(Deserialize, Debug)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryParams {
    /// The machine's key.
    pub(crate) machine: String,
    /// The row's id, such as `memory.latency/L1`.
    pub(crate) row: String,
    /// Point of a curve or map: one or two numbers, such as `65536` or
    /// `4096,64`. Omit for a single figure.
    #[serde(default)]
    pub(crate) at: Point,
}

/// Two sides.
#[derive(Deserialize, Debug)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct CompareParams {
    /// Baseline: a run's id, `@HOST`, or a published table such as `2012`.
    pub(crate) a: String,
    /// Compared with the baseline: the same kinds.
    pub(crate) b: String,
}

/// Coordinates of a point; none for a single figure.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub(crate) struct Point(
    #[cfg_attr(
        test,
        schemars(with = "String", regex(pattern = r"^([0-9]{1,19}(,[0-9]{1,19})?)?$"))
    )]
    pub(crate) Vec<u64>,
);

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Point, D::Error> {
        let text = String::deserialize(deserializer)?;
        Point::parse(&text).ok_or_else(|| {
            D::Error::custom("not a point: give one or two whole numbers, such as 65536 or 4096,64")
        })
    }
}

impl Point {
    fn parse(text: &str) -> Option<Point> {
        if text.is_empty() {
            return Some(Point::default());
        }
        let digits = |number: &str| number.bytes().all(|b| b.is_ascii_digit());
        let number = |number: &str| digits(number).then(|| number.parse().ok()).flatten();
        let numbers: Option<Vec<u64>> = text.split(',').map(number).collect();
        numbers.filter(|all| all.len() <= 2).map(Point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_at_most_two_numbers() {
        let of = |text| Point::parse(text).map(|point| point.0);
        assert_eq!(of(""), Some(vec![]));
        assert_eq!(of("65536"), Some(vec![65536]));
        assert_eq!(of("18446744073709551615"), Some(vec![u64::MAX]));
        assert_eq!(of("4096,64"), Some(vec![4096, 64]));
        let too_large = "99999999999999999999";
        for bad in ["x", "1,2,3", "1,", ",", "-1", "+1", "1.5", too_large, " 1"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
