//! What programs ask: each a request, a question, and JSON.

use crate::app::App;
use crate::file_body::of_file;
use crate::problem::Problem;
use crate::strict::{
    Asked, CompareAsked, HistoryAsked, Named, Nothing, RowAsked, RunsAsked, point,
};
use crate::{questions, upload, wire};
use atlas::history::Level;
use atlas::render::sentence;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

type Answer<T> = Result<Json<T>, Problem>;

pub(crate) async fn machines(
    State(app): State<App>,
    Asked(Nothing {}): Asked<Nothing>,
) -> Answer<wire::Machines> {
    let machines = app.ask(|index, _| questions::machines(index)).await?;
    Ok(Json(wire::Machines { machines }))
}

pub(crate) async fn runs(
    State(app): State<App>,
    Asked(asked): Asked<RunsAsked>,
) -> Answer<wire::Runs> {
    let asked = asked.checked()?;
    let runs = app.ask(move |index, _| questions::runs(index, &asked));
    Ok(Json(runs.await?))
}

pub(crate) async fn run(
    State(app): State<App>,
    Named(id): Named,
    Asked(Nothing {}): Asked<Nothing>,
) -> Answer<wire::RunWithFigures> {
    let whole = app.ask(move |index, _| {
        let (kept, run) = questions::run(index, &id)?;
        let figures = atlas::index::results(&run);
        Ok(wire::RunWithFigures {
            run: wire::Run::from(&kept),
            figures: figures.iter().map(wire::Figure::from).collect(),
            facts: run.machine,
        })
    });
    Ok(Json(whole.await?))
}

/// The document as it is kept, or as it would be: a store may hold plain JSON.
pub(crate) async fn document(
    State(app): State<App>,
    Named(id): Named,
    Asked(Nothing {}): Asked<Nothing>,
) -> Result<Response, Problem> {
    let (id, packed, body) = app
        .ask(move |index, _| {
            let path = questions::path(index, &id)?;
            let (packed, body) = opened(&path).map_err(|cause| {
                Problem::ours(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "the document can't be read; the server's own messages say why",
                    format!("can't read {}: {cause}", path.display()),
                )
            })?;
            Ok((id.to_ascii_lowercase(), packed, body))
        })
        .await?;
    let (kind, end) = match packed {
        true => ("application/zstd", "json.zst"),
        false => ("application/json", "json"),
    };
    let file = format!("attachment; filename=\"{id}.{end}\"");
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_str(&file).unwrap_or_else(|_| HeaderValue::from_static("attachment")),
        ),
    ];
    Ok((headers, body).into_response())
}

/// A document as a body, and whether it is compressed: by its first byte.
fn opened(path: &Path) -> std::io::Result<(bool, Body)> {
    let mut file = File::open(path)?;
    let mut first = Vec::new();
    Read::take(&mut file, 1).read_to_end(&mut first)?;
    file.rewind()?;
    Ok((first != b"{", of_file(file)?))
}

pub(crate) async fn rows(
    State(app): State<App>,
    Asked(Nothing {}): Asked<Nothing>,
) -> Answer<wire::Rows> {
    let rows = app.ask(|index, _| questions::rows(index)).await?;
    Ok(Json(wire::Rows { rows }))
}

pub(crate) async fn percentiles(
    State(app): State<App>,
    Asked(asked): Asked<RowAsked>,
) -> Answer<wire::Percentiles> {
    let at = point(asked.at.as_deref())?;
    let percentiles = app.ask(move |index, _| questions::percentiles(index, &asked.row, &at));
    Ok(Json(percentiles.await?))
}

pub(crate) async fn machine_percentiles(
    State(app): State<App>,
    Named(key): Named,
    Asked(Nothing {}): Asked<Nothing>,
) -> Answer<wire::MachinePercentiles> {
    let percentiles = app.ask(move |index, _| {
        Ok(wire::MachinePercentiles {
            rows: questions::standings(index, &key)?,
            machine: key,
        })
    });
    Ok(Json(percentiles.await?))
}

pub(crate) async fn history(
    State(app): State<App>,
    Asked(asked): Asked<HistoryAsked>,
) -> Answer<wire::History> {
    let at = point(asked.at.as_deref())?;
    let history = app.ask(move |index, _| {
        let (found, past) = questions::history(index, &asked.machine, &asked.row, &at)?;
        let moment = |(kept, result): &(_, _)| wire::Moment {
            run: wire::Run::from(kept),
            figure: wire::Figure::from(result),
        };
        let id = |place: usize| past.runs[place].run.id.clone();
        let level = |level: &Level| wire::Level {
            first: id(level.first),
            last: id(level.last),
            runs: level.runs,
            level: level.level.into(),
            ratio: level.ratio.map(wire::Range::from),
        };
        Ok(wire::History {
            moments: found.iter().map(moment).collect(),
            machine: asked.machine,
            row: asked.row,
            at,
            unit: past.unit.to_owned(),
            levels: past.levels.iter().map(level).collect(),
            said: sentence(&past),
        })
    });
    Ok(Json(history.await?))
}

pub(crate) async fn compare(
    State(app): State<App>,
    Asked(asked): Asked<CompareAsked>,
) -> Answer<atlas::compare::Comparison> {
    let comparison =
        app.ask(move |index, app| questions::comparison(index, app, &asked.a, &asked.b));
    Ok(Json(comparison.await?))
}

/// Types that a run document may be sent as; which of them it is, its first
/// bytes say.
const TAKEN: [&str; 3] = [
    "application/json",
    "application/zstd",
    "application/octet-stream",
];

pub(crate) async fn upload(
    State(app): State<App>,
    Asked(Nothing {}): Asked<Nothing>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let kept = uploaded(&app, &headers, body).await;
    upload::count(&app, &kept);
    let kept = kept?;
    let status = match kept.already {
        true => StatusCode::OK,
        false => StatusCode::CREATED,
    };
    let location = HeaderValue::from_str(&kept.location).ok();
    let mut response = (status, Json(kept)).into_response();
    if let Some(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

async fn uploaded(app: &App, headers: &HeaderMap, body: Body) -> Result<wire::Kept, Problem> {
    if app.options().read_only {
        upload::linger(body).await;
        return Err(upload::read_only());
    }
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.map_or("", |kind| kind.to_str().unwrap_or("?"));
    let essence = kind.split(';').next().unwrap_or("").trim();
    let taken = |of: &str| of.eq_ignore_ascii_case(essence);
    if !TAKEN.iter().any(|of| taken(of)) || headers.contains_key(header::CONTENT_ENCODING) {
        upload::linger(body).await;
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!(
                "send the document as {}, without a Content-Encoding",
                TAKEN.join(", ")
            ),
        ));
    }
    let received = upload::body(app, headers, body).await?;
    let _place = app.place_for_upload().await?;
    upload::keep(app, received).await
}

pub(crate) async fn openapi(Asked(Nothing {}): Asked<Nothing>, headers: HeaderMap) -> Response {
    crate::openapi::answer(&headers)
}

pub(crate) async fn metrics(
    State(app): State<App>,
    Asked(Nothing {}): Asked<Nothing>,
) -> Result<Response, Problem> {
    let (runs, machines) = app
        .ask(|index, _| Ok((index.runs()?.len(), index.machines()?.len())))
        .await?;
    let text = app.metrics().text(runs, machines);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

pub(crate) async fn health(Asked(Nothing {}): Asked<Nothing>) -> Json<wire::Health> {
    Json(wire::Health { status: "ok" })
}
