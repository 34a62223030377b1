//! The API: a handler for each operation.

use crate::app::App;
use crate::params::{CompareParams, HistoryParams, Name, NoParams, Params, RowParams, RunsParams};
use crate::problem::Problem;
use crate::share::Client;
use crate::{queries, upload, wire};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use compare::history::Level;
use futures_util::stream::try_unfold;
use std::io::{Read, Seek};
use std::path::Path;
use store::index::MachineStanding;
use tokio::io::AsyncReadExt;

type Answer<T> = Result<Json<T>, Problem>;

pub(crate) async fn machines(
    State(app): State<App>,
    client: Client,
    _: Params<NoParams>,
) -> Answer<wire::Machines> {
    let machines = app.query(client, |index, _| Ok(index.machines()?)).await?;
    Ok(Json(wire::Machines { machines }))
}

pub(crate) async fn runs(
    State(app): State<App>,
    client: Client,
    Params(params): Params<RunsParams>,
) -> Answer<wire::Runs> {
    let runs = app.query(client, move |index, _| {
        let (total, runs) = queries::runs(index, &params)?;
        Ok(wire::Runs {
            total,
            offset: params.offset,
            limit: params.limit,
            runs: runs.into_iter().map(wire::Run::from).collect(),
        })
    });
    Ok(Json(runs.await?))
}

pub(crate) async fn run(
    State(app): State<App>,
    client: Client,
    Name(id): Name,
    _: Params<NoParams>,
) -> Answer<wire::RunWithFigures> {
    let run = app.draw(client, move |index, _| {
        let (kept, run) = queries::run(index, &id)?;
        Ok(wire::RunWithFigures {
            run: wire::Run::from(kept),
            figures: store::index::results(&run),
            facts: run.machine,
        })
    });
    Ok(Json(run.await?))
}

/// The document as it is stored: compressed, or plain JSON.
pub(crate) async fn document(
    State(app): State<App>,
    client: Client,
    Name(id): Name,
    _: Params<NoParams>,
) -> Result<Response, Problem> {
    let name = id.to_ascii_lowercase();
    let document = app
        .query(client, move |index, _| {
            let path = queries::path(index, &id)?;
            // The server of a database hands out whole documents.
            if index.store().is_database() {
                return Ok(Document::of(index.store().bytes(&path)?));
            }
            open(&path).map_err(|cause| Problem::Document(path, cause))
        })
        .await?;
    let (kind, end) = match document.compressed {
        true => ("application/zstd", "json.zst"),
        false => ("application/json", "json"),
    };
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_LENGTH, document.length.to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.{end}\"")),
    ];
    Ok((headers, document.body).into_response())
}

/// A document to be sent.
struct Document {
    body: Body,
    length: u64,
    compressed: bool,
}

impl Document {
    fn of(bytes: Vec<u8>) -> Document {
        Document {
            length: bytes.len() as u64,
            compressed: !bytes.starts_with(b"{"),
            body: bytes.into(),
        }
    }
}

/// A document in a file, up to its length now.
fn open(path: &Path) -> std::io::Result<Document> {
    let mut file = sys::input::open_file(path)?;
    let mut first = Vec::new();
    Read::take(&mut file, 1).read_to_end(&mut first)?;
    file.rewind()?;
    let length = file.metadata()?.len();
    let file = AsyncReadExt::take(tokio::fs::File::from_std(file), length);
    // In pieces: whole documents of many readers would fill the memory.
    let pieces = try_unfold(file, async |mut file| {
        let mut piece = Vec::with_capacity(64 << 10);
        let read = file.read_buf(&mut piece).await?;
        Ok::<_, std::io::Error>((read > 0).then_some((piece, file)))
    });
    Ok(Document { body: Body::from_stream(pieces), length, compressed: first != b"{" })
}

pub(crate) async fn rows(
    State(app): State<App>,
    client: Client,
    _: Params<NoParams>,
) -> Answer<wire::Rows> {
    let (rows, _) = app.query(client, queries::rows).await?;
    Ok(Json(wire::Rows { rows }))
}

pub(crate) async fn percentiles(
    State(app): State<App>,
    client: Client,
    Params(params): Params<RowParams>,
) -> Answer<wire::Percentiles> {
    let percentiles = app.query(client, move |index, _| {
        let all = queries::over_machines(index, &params.row, &params.at.0)?;
        let ranked = |standing: &MachineStanding| {
            let (host, line) = all.name_of(&standing.machine);
            wire::RankedMachine {
                standing: standing.clone(),
                host: host.map(str::to_owned),
                line: line.to_owned(),
            }
        };
        Ok(wire::Percentiles {
            machines: all.standing.machines.iter().map(ranked).collect(),
            row: params.row,
            at: params.at.0,
            mode: all.standing.mode.clone(),
            unit: all.unit,
            results: all.standing.results,
            quantiles: all.standing.quantiles.clone(),
        })
    });
    Ok(Json(percentiles.await?))
}

pub(crate) async fn machine_percentiles(
    State(app): State<App>,
    client: Client,
    Name(key): Name,
    _: Params<NoParams>,
) -> Answer<wire::MachinePercentiles> {
    let percentiles = app.query(client, move |index, _| {
        Ok(wire::MachinePercentiles {
            rows: queries::machine_percentiles(index, &key)?,
            machine: key,
        })
    });
    Ok(Json(percentiles.await?))
}

pub(crate) async fn history(
    State(app): State<App>,
    client: Client,
    Params(params): Params<HistoryParams>,
) -> Answer<wire::History> {
    let history = app.query(client, move |index, _| {
        let HistoryParams { machine, row, at } = params;
        let (figures, history) = queries::history_of(index, &machine, &row, &at.0)?;
        let id = |place: usize| history.runs[place].run.id.clone();
        let level = |level: &Level| wire::Level {
            first: id(level.first),
            last: id(level.last),
            runs: level.runs,
            level: level.level,
            ratio: level.ratio,
        };
        let moment = |(run, figure)| wire::Moment { run: wire::Run::from(run), figure };
        Ok(wire::History {
            machine,
            row,
            at: at.0,
            moments: figures.into_iter().map(moment).collect(),
            unit: history.unit.to_owned(),
            levels: history.levels.iter().map(level).collect(),
            said: history.conclusion().to_string(),
        })
    });
    Ok(Json(history.await?))
}

pub(crate) async fn compare(
    State(app): State<App>,
    client: Client,
    Params(params): Params<CompareParams>,
) -> Answer<compare::Comparison> {
    let comparison =
        app.draw(client, move |index, app| queries::comparison(index, app, &params.a, &params.b));
    Ok(Json(comparison.await?))
}

/// Types that a run document may be sent as; its first bytes tell which it is.
const DOCUMENT_TYPES: [&str; 3] =
    ["application/json", "application/zstd", "application/octet-stream"];

fn is_document(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.map_or("", |kind| kind.to_str().unwrap_or("?"));
    let essence = kind.split(';').next().unwrap_or("").trim();
    let known = DOCUMENT_TYPES.iter().any(|of| of.eq_ignore_ascii_case(essence));
    match known && !headers.contains_key(header::CONTENT_ENCODING) {
        true => Ok(()),
        false => Err(Problem::MediaType(DOCUMENT_TYPES.join(", "))),
    }
}

pub(crate) async fn upload(
    State(app): State<App>,
    client: Client,
    _: Params<NoParams>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let uploaded = upload::upload(&app, client, &headers, body, is_document, |_, _| Ok(())).await?;
    Ok(match uploaded.already {
        true => Json(uploaded).into_response(),
        false => {
            let location = [(header::LOCATION, uploaded.location.clone())];
            (StatusCode::CREATED, location, Json(uploaded)).into_response()
        }
    })
}

pub(crate) async fn openapi(
    State(app): State<App>,
    _: Params<NoParams>,
    headers: HeaderMap,
) -> Response {
    app.openapi().response(&headers)
}

pub(crate) async fn metrics(
    State(app): State<App>,
    client: Client,
    _: Params<NoParams>,
) -> Result<Response, Problem> {
    let (runs, machines) =
        app.query(client, |index, _| Ok((index.runs()?.len(), index.machines()?.len()))).await?;
    let text = app.metrics().text(runs, machines);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

pub(crate) async fn health(_: Params<NoParams>) -> Json<wire::Health> {
    Json(wire::Health { status: "ok" })
}
