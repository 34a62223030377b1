//! The one list of routes: the router, the OpenAPI document and its tests are
//! made of it.

use crate::app::{App, Options};
use crate::cached::CachedDocument;
use crate::operation::{Content, Handler, Operation};
use crate::params::{CompareParams, HistoryParams, RowParams, RunsParams};
use crate::problem::Problem;
use crate::{api, guard, pages, wire};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use compare::references::References;
use schemars::JsonSchema;
use store::Store;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation::json::<wire::Machines>(
        "machines",
        "/api/machines",
        "Machines with stored runs.",
        || get(api::machines),
    ),
    Operation {
        statuses: &[404],
        ..Operation::json::<wire::MachinePercentiles>(
            "machine_percentiles",
            "/api/machines/{key}/percentiles",
            "Percentile of a machine among all machines, for each row.",
            || get(api::machine_percentiles),
        )
    },
    Operation {
        query: RunsParams::json_schema,
        ..Operation::json::<wire::Runs>(
            "runs",
            "/api/runs",
            "Stored runs, newest first, in pages.",
            || get(api::runs),
        )
    },
    Operation {
        method: "post",
        statuses: &[201, 403, 408, 409, 413, 415, 422, 429, 507],
        ..Operation::json::<wire::Uploaded>(
            "upload",
            "/api/runs",
            "Store a run document, JSON or zstd of it. Repeating it changes nothing.",
            || post(api::upload),
        )
    },
    Operation {
        statuses: &[404],
        ..Operation::json::<wire::RunWithFigures>(
            "run",
            "/api/runs/{id}",
            "A run: facts of its machine and all figures, without samples.",
            || get(api::run),
        )
    },
    Operation {
        content: Content::RunDocument,
        statuses: &[404],
        ..Operation::json::<()>(
            "document",
            "/api/runs/{id}/document",
            "The document of a run, with its samples.",
            || get(api::document),
        )
    },
    Operation::json::<wire::Rows>("rows", "/api/rows", "Rows that any stored run has.", || {
        get(api::rows)
    }),
    Operation {
        query: RowParams::json_schema,
        statuses: &[404],
        ..Operation::json::<wire::Percentiles>(
            "percentiles",
            "/api/percentiles",
            "A row over all machines: percentiles, and each machine's percentile.",
            || get(api::percentiles),
        )
    },
    Operation {
        query: HistoryParams::json_schema,
        statuses: &[404],
        ..Operation::json::<wire::History>(
            "history",
            "/api/history",
            "A row on one machine over time.",
            || get(api::history),
        )
    },
    Operation {
        query: CompareParams::json_schema,
        statuses: &[404, 422],
        ..Operation::json::<compare::Comparison>(
            "compare",
            "/api/compare",
            "Compare two runs, machines or published tables.",
            || get(api::compare),
        )
    },
    Operation {
        statuses: &[304],
        ..Operation::json::<serde_json::Map<String, serde_json::Value>>(
            "openapi",
            "/api/openapi.json",
            "This document.",
            || get(api::openapi),
        )
    },
    Operation {
        content: Content::Text,
        ..Operation::json::<()>(
            "metrics",
            "/metrics",
            "Counters and gauges in Prometheus' text format.",
            || get(api::metrics),
        )
    },
    Operation::json::<wire::Health>(
        "health",
        guard::HEALTH,
        "Whether the server responds. Needs no token.",
        || get(api::health),
    ),
];

const PAGES: &[(&str, Handler)] = &[
    ("/", || get(pages::lists::machines)),
    ("/machines/{key}", || get(pages::lists::machine)),
    ("/runs", || get(pages::lists::runs)),
    ("/runs/{id}", || get(pages::run::run)),
    ("/runs/{id}/report", || get(pages::report::report)),
    // The report links to it under this name.
    ("/runs/{id}/document", || get(api::document)),
    ("/rows", || get(pages::lists::rows)),
    ("/row", || get(pages::row::row)),
    ("/compare", || get(pages::compare::compare)),
    ("/upload", || get(pages::upload::form).post(pages::upload::submit)),
    ("/style.css", || get(pages::stylesheet)),
    ("/favicon.ico", || get(pages::icon)),
];

/// The API as an OpenAPI 3.1 document.
pub fn openapi() -> serde_json::Value {
    crate::openapi::document(OPERATIONS)
}

/// Everything that is served, as a service.
pub fn router(store: Store, references: References, options: Options) -> Router {
    let openapi = CachedDocument::new(&openapi());
    let app = App::new(store, references, options, openapi);
    let operations = OPERATIONS.iter().map(|o| (o.path, o.handler));
    let routes = operations.chain(PAGES.iter().copied());
    routes
        .fold(Router::new(), |router, (path, handler)| router.route(path, handler()))
        .fallback(async || Problem::NoPage)
        .method_not_allowed_fallback(async || Problem::Method)
        // Uploads have a limit of their own; nothing else has a body.
        .layer(DefaultBodyLimit::disable())
        .layer(axum::middleware::from_fn_with_state(app.clone(), guard::guard))
        .with_state(app)
}
