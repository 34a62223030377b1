//! The one list of what can be asked. The router, the OpenAPI document and the
//! tests that set them beside each other are all made of it.

use crate::app::App;
use crate::problem::{Problem, ProblemDocument};
use crate::received::UploadLimits;
use crate::strict::{CompareAsked, HistoryAsked, Nothing, RowAsked, RunsAsked};
use crate::token::Token;
use crate::{api, guard, pages, wire};
use atlas::references::References;
use atlas::render::ProbeText;
use atlas::store::Store;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, get, post};
use schemars::{Schema, SchemaGenerator};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What people and programs wait for an answer.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What the system's clock says, ms since 1970 UTC; 0 before that.
pub fn now_unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

/// How to serve.
#[derive(Clone)]
pub struct Options {
    /// What whoever asks must know; without one only this machine may ask.
    pub token: Option<Token>,
    /// Largest upload, bytes as they come.
    pub max_upload_bytes: u64,
    /// How slowly uploads may come, and how much memory they share.
    pub upload: UploadLimits,
    /// The time, ms since 1970 UTC: [`now_unix_ms`], but for tests.
    pub now_unix_ms: fn() -> u64,
    /// Take no uploads.
    pub read_only: bool,
    /// How long a request waits for its turn, then for its answer, before it is
    /// told that too much is asked at once. [`PATIENCE`] is usual.
    pub patience: Duration,
    /// What the catalogue says of each probe, for reports.
    pub probes: Vec<ProbeText>,
    /// Hears, a line each, of what is the server's own trouble.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

/// What makes the schema of a type.
pub(crate) type Shape = fn(&mut SchemaGenerator) -> Schema;

fn shape<T: schemars::JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Parameters as one object, of which each property is one.
fn parameters<T: schemars::JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}

/// What makes whoever answers.
pub(crate) type Handler = fn() -> MethodRouter<App>;

/// What an answer's or a request's body is.
#[derive(Clone, Copy)]
pub(crate) enum Content {
    /// JSON of this shape.
    Json(Shape),
    /// A run document.
    RunDocument,
    /// Text of this type.
    Text(&'static str),
    /// No body.
    Nothing,
}

/// One thing that programs can ask.
pub(crate) struct Operation {
    /// Its name in the OpenAPI document.
    pub(crate) id: &'static str,
    /// `get` or `post`.
    pub(crate) method: &'static str,
    /// With `{id}` where a run's UUID stands, `{key}` where a machine's key does.
    pub(crate) path: &'static str,
    /// What it is, in a sentence.
    pub(crate) summary: &'static str,
    /// What may stand behind the `?`.
    pub(crate) query: Shape,
    /// Takes a run document.
    pub(crate) takes_document: bool,
    /// How it answers when all is well.
    pub(crate) answers: &'static [(u16, &'static str, Content)],
    /// How else it answers, each with a problem.
    pub(crate) problems: &'static [u16],
    /// What does it.
    pub(crate) handler: Handler,
}

/// All that programs can ask.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "machines",
        method: "get",
        path: "/api/machines",
        summary: "All machines with kept runs.",
        query: parameters::<Nothing>,
        takes_document: false,
        answers: &[(200, "The machines.", Content::Json(shape::<wire::Machines>))],
        problems: &[],
        handler: || get(api::machines),
    },
    Operation {
        id: "machine_percentiles",
        method: "get",
        path: "/api/machines/{key}/percentiles",
        summary: "Where a machine stands among all, for every row.",
        query: parameters::<Nothing>,
        takes_document: false,
        answers: &[(
            200,
            "Its place in each row.",
            Content::Json(shape::<wire::MachinePercentiles>),
        )],
        problems: &[404],
        handler: || get(api::machine_percentiles),
    },
    Operation {
        id: "runs",
        method: "get",
        path: "/api/runs",
        summary: "Kept runs, the newest first, in pages.",
        query: parameters::<RunsAsked>,
        takes_document: false,
        answers: &[(200, "The runs.", Content::Json(shape::<wire::Runs>))],
        problems: &[],
        handler: || get(api::runs),
    },
    Operation {
        id: "upload",
        method: "post",
        path: "/api/runs",
        summary: "Keep a run document, JSON or zstd of it. The same again changes nothing.",
        query: parameters::<Nothing>,
        takes_document: true,
        answers: &[
            (
                200,
                "It is kept already, the same.",
                Content::Json(shape::<wire::Kept>),
            ),
            (201, "It is kept now.", Content::Json(shape::<wire::Kept>)),
        ],
        problems: &[403, 408, 409, 413, 415, 422, 429, 507],
        handler: || post(api::upload),
    },
    Operation {
        id: "run",
        method: "get",
        path: "/api/runs/{id}",
        summary: "A kept run: facts of its machine and all figures, without samples.",
        query: parameters::<Nothing>,
        takes_document: false,
        answers: &[(
            200,
            "The run.",
            Content::Json(shape::<wire::RunWithFigures>),
        )],
        problems: &[404],
        handler: || get(api::run),
    },
    Operation {
        id: "document",
        method: "get",
        path: "/api/runs/{id}/document",
        summary: "The document of a kept run, with its samples.",
        query: parameters::<Nothing>,
        takes_document: false,
        answers: &[(200, "The document.", Content::RunDocument)],
        problems: &[404],
        handler: || get(api::document),
    },
    Operation {
        id: "rows",
        method: "get",
        path: "/api/rows",
        summary: "All rows that any kept run has.",
        query: parameters::<Nothing>,
        takes_document: false,
        answers: &[(200, "The rows.", Content::Json(shape::<wire::Rows>))],
        problems: &[],
        handler: || get(api::rows),
    },
    Operation {
        id: "percentiles",
        method: "get",
        path: "/api/percentiles",
        summary: "A row over all machines: percentiles, and where each machine stands.",
        query: parameters::<RowAsked>,
        takes_document: false,
        answers: &[(
            200,
            "The percentiles.",
            Content::Json(shape::<wire::Percentiles>),
        )],
        problems: &[404],
        handler: || get(api::percentiles),
    },
    Operation {
        id: "history",
        method: "get",
        path: "/api/history",
        summary: "A row on one machine over time.",
        query: parameters::<HistoryAsked>,
        takes_document: false,
        answers: &[(200, "The figures.", Content::Json(shape::<wire::History>))],
        problems: &[404],
        handler: || get(api::history),
    },
    Operation {
        id: "compare",
        method: "get",
        path: "/api/compare",
        summary: "Two runs, machines or published tables against each other.",
        query: parameters::<CompareAsked>,
        takes_document: false,
        answers: &[(
            200,
            "The comparison.",
            Content::Json(shape::<atlas::compare::Comparison>),
        )],
        problems: &[404, 422],
        handler: || get(api::compare),
    },
    Operation {
        id: "openapi",
        method: "get",
        path: "/api/openapi.json",
        summary: "This document.",
        query: parameters::<Nothing>,
        takes_document: false,
        answers: &[
            (
                200,
                "OpenAPI 3.1.",
                Content::Json(|_| Schema::from(serde_json::Map::new())),
            ),
            (
                304,
                "The same as the client has (If-None-Match).",
                Content::Nothing,
            ),
        ],
        problems: &[],
        handler: || get(api::openapi),
    },
    Operation {
        id: "metrics",
        method: "get",
        path: "/metrics",
        summary: "Counters and gauges in Prometheus' text format.",
        query: parameters::<Nothing>,
        takes_document: false,
        answers: &[(200, "The metrics.", Content::Text("text/plain"))],
        problems: &[],
        handler: || get(api::metrics),
    },
    Operation {
        id: "health",
        method: "get",
        path: guard::HEALTH,
        summary: "Whether the server answers. Needs no token.",
        query: parameters::<Nothing>,
        takes_document: false,
        answers: &[(200, "It does.", Content::Json(shape::<wire::Health>))],
        problems: &[],
        handler: || get(api::health),
    },
];

/// Shape of every problem.
pub(crate) const PROBLEM: Shape = shape::<ProblemDocument>;

/// Pages for people.
pub(crate) const PAGES: &[(&str, Handler)] = &[
    ("/", || get(pages::machines::page)),
    ("/machines/{key}", || get(pages::runs::of_machine)),
    ("/runs", || get(pages::runs::page)),
    ("/runs/{id}", || get(pages::run::page)),
    ("/runs/{id}/report", || get(pages::report::page)),
    // Under the name that the report offers it by.
    ("/runs/{id}/document", || get(api::document)),
    ("/rows", || get(pages::rows::page)),
    ("/row", || get(pages::row::page)),
    ("/compare", || get(pages::compare::page)),
    ("/upload", || {
        get(pages::upload::page).post(pages::upload::taken)
    }),
    ("/style.css", || get(pages::style)),
];

/// Everything that is served, as a service.
pub fn router(store: Store, references: References, options: Options) -> Router {
    let app = App::new(store, references, options);
    let mut router = Router::new();
    for operation in OPERATIONS {
        router = router.route(operation.path, (operation.handler)());
    }
    for (path, handler) in PAGES {
        router = router.route(path, handler());
    }
    router
        .fallback(nothing_there)
        .method_not_allowed_fallback(not_that_way)
        // Uploads are bounded where they are taken; nothing else has a body.
        .layer(DefaultBodyLimit::disable())
        .layer(axum::middleware::from_fn_with_state(
            app.clone(),
            guard::guard,
        ))
        .with_state(app)
}

async fn nothing_there() -> Problem {
    Problem::not_found("there is no such page; / has the machines, /api/openapi.json the interface")
}

async fn not_that_way() -> Problem {
    Problem::new(
        axum::http::StatusCode::METHOD_NOT_ALLOWED,
        "this can't be asked in that way; deleting and tagging are not offered over HTTP",
    )
}
