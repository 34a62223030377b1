//! The API: a handler for each operation.

use crate::params::{Ask, CompareParams, HistoryParams, Name, RowParams, RunsParams};
use crate::problem::Problem;
use crate::{queries, upload, wire};
use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use compare::history::HistoryLevel;
use futures_util::stream::try_unfold;
use std::io::{Read, Seek};
use std::path::Path;
use store::index::MachineStanding;
use tokio::io::AsyncReadExt;

type ApiResult<T> = Result<Json<T>, Problem>;

pub(crate) async fn machines(ask: Ask) -> ApiResult<wire::Machines> {
    ask.query(|index, _, _| Ok(wire::Machines { machines: index.machines()? })).await.map(Json)
}

pub(crate) async fn runs(ask: Ask<RunsParams>) -> ApiResult<wire::Runs> {
    ask.query(|index, _, params| {
        let (total, runs) = queries::runs(index, &params)?;
        Ok(wire::Runs {
            total,
            offset: params.offset,
            limit: params.limit,
            runs: runs.into_iter().map(wire::Run::from).collect(),
        })
    })
    .await
    .map(Json)
}

pub(crate) async fn run_with_figures(Name(id): Name, ask: Ask) -> ApiResult<wire::RunWithFigures> {
    ask.draw_whole(move |index, _, _| {
        let (kept, run) = queries::run_by_id(index, &id)?;
        Ok(wire::RunWithFigures {
            run: wire::Run::from(kept),
            figures: store::index::results(&run),
            facts: run.machine,
        })
    })
    .await
    .map(Json)
}

/// The document as it is stored: compressed, or plain JSON.
pub(crate) async fn document(Name(id): Name, ask: Ask) -> Result<Response, Problem> {
    let name = id.to_ascii_lowercase();
    let document = ask
        .query(move |index, _, _| {
            let path = queries::document_path(index, &id)?;
            // The server of a database hands out whole documents.
            if index.store().is_database() {
                return Ok(StoredDocument::from_bytes(index.store().bytes(&path)?));
            }
            open_document(&path).map_err(|cause| Problem::Document(path, cause))
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

struct StoredDocument {
    body: Body,
    length: u64,
    compressed: bool,
}

impl StoredDocument {
    fn from_bytes(bytes: Vec<u8>) -> StoredDocument {
        StoredDocument {
            length: bytes.len() as u64,
            compressed: !bytes.starts_with(b"{"),
            body: bytes.into(),
        }
    }
}

/// A document in a file, up to its length now.
fn open_document(path: &Path) -> std::io::Result<StoredDocument> {
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
    Ok(StoredDocument { body: Body::from_stream(pieces), length, compressed: first != b"{" })
}

pub(crate) async fn rows(ask: Ask) -> ApiResult<wire::Rows> {
    ask.query(|index, app, _| Ok(wire::Rows { rows: queries::rows(index, app)?.0 })).await.map(Json)
}

pub(crate) async fn percentiles(ask: Ask<RowParams>) -> ApiResult<wire::Percentiles> {
    ask.query(|index, _, RowParams { row, at }| {
        let all = queries::over_machines(index, &row, &at.0)?;
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
            row,
            at: at.0,
            mode: all.standing.mode.clone(),
            unit: all.unit,
            results: all.standing.results,
            quantiles: all.standing.quantiles.clone(),
        })
    })
    .await
    .map(Json)
}

pub(crate) async fn machine_percentiles(
    Name(machine): Name,
    ask: Ask,
) -> ApiResult<wire::MachinePercentiles> {
    ask.query(|index, _, _| {
        let rows = queries::machine_percentiles(index, &machine)?;
        Ok(wire::MachinePercentiles { rows, machine })
    })
    .await
    .map(Json)
}

pub(crate) async fn history(ask: Ask<HistoryParams>) -> ApiResult<wire::History> {
    ask.query(|index, _, HistoryParams { machine, row, at }| {
        let (figures, history) = queries::history_of(index, &machine, &row, &at.0)?;
        let id = |place: usize| history.runs[place].run.id.clone();
        let level = |level: &HistoryLevel| wire::Level {
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
    })
    .await
    .map(Json)
}

pub(crate) async fn compare(ask: Ask<CompareParams>) -> ApiResult<compare::Comparison> {
    ask.draw_whole(|index, app, params| queries::comparison(index, app, &params.a, &params.b))
        .await
        .map(Json)
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

pub(crate) async fn upload(ask: Ask, headers: HeaderMap, body: Body) -> Result<Response, Problem> {
    let uploaded =
        upload::upload(&ask.app, ask.client, &headers, body, is_document, |_, _| Ok(())).await?;
    if uploaded.already {
        return Ok(Json(uploaded).into_response());
    }
    let location = [(header::LOCATION, uploaded.location.clone())];
    Ok((StatusCode::CREATED, location, Json(uploaded)).into_response())
}

pub(crate) async fn openapi(ask: Ask, headers: HeaderMap) -> Response {
    ask.app.openapi().response(&headers)
}

pub(crate) async fn metrics(ask: Ask) -> Result<Response, Problem> {
    let app = ask.app.clone();
    let (runs, machines) =
        ask.query(|index, _, _| Ok((index.runs()?.len(), index.machines()?.len()))).await?;
    let text = app.metrics().metrics_text(runs, machines);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

pub(crate) async fn health(_: Ask) -> Json<wire::Health> {
    Json(wire::Health { status: "ok" })
}
