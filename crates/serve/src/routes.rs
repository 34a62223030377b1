//! The one list of routes: the router, the OpenAPI document and its tests are
//! made of it.

use crate::app::{App, Options};
use crate::params::{CompareParams, HistoryParams, NoParams, RowParams, RunsParams};
use crate::problem::Problem;
use crate::{api, guard, pages, wire};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, get, post};
use compare::references::References;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use store::Store;

/// Makes the schema of a type.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Makes the handler of a route.
pub(crate) type Handler = fn() -> MethodRouter<App>;

/// Body of a response.
#[derive(Clone, Copy)]
pub(crate) enum Content {
    /// JSON of this schema.
    Json(SchemaOf),
    /// A run document.
    RunDocument,
    /// Plain text.
    Text,
}

/// One operation of the API.
pub(crate) struct Operation {
    /// `operationId` of the OpenAPI document.
    pub(crate) id: &'static str,
    /// `get` or `post`; a `post` takes a run document.
    pub(crate) method: &'static str,
    /// With `{id}` for a run's UUID and `{key}` for a machine's key.
    pub(crate) path: &'static str,
    /// What it does, in a sentence.
    pub(crate) summary: &'static str,
    /// Each property is a parameter behind the `?`.
    pub(crate) query: SchemaOf,
    /// Body of a success.
    pub(crate) content: Content,
    /// Statuses besides 200 and those of every operation.
    pub(crate) statuses: &'static [u16],
    pub(crate) handler: Handler,
}

impl Operation {
    /// A `get` without parameters that responds with JSON.
    const fn json<T: JsonSchema>(
        id: &'static str,
        path: &'static str,
        summary: &'static str,
        handler: Handler,
    ) -> Operation {
        Operation {
            id,
            method: "get",
            path,
            summary,
            query: NoParams::json_schema,
            content: Content::Json(SchemaGenerator::subschema_for::<T>),
            statuses: &[],
            handler,
        }
    }
}

/// The API.
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

/// Pages for people.
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
    ("/upload", || {
        get(pages::upload::form).post(pages::upload::submit)
    }),
    ("/style.css", || get(pages::style)),
];

/// Everything that is served, as a service.
pub fn router(store: Store, references: References, options: Options) -> Router {
    let app = App::new(store, references, options);
    let operations = OPERATIONS.iter().map(|o| (o.path, o.handler));
    let routes = operations.chain(PAGES.iter().copied());
    routes
        .fold(Router::new(), |router, (path, handler)| {
            router.route(path, handler())
        })
        .fallback(async || Problem::NoPage)
        .method_not_allowed_fallback(async || Problem::Method)
        // Uploads have a limit of their own; nothing else has a body.
        .layer(DefaultBodyLimit::disable())
        .layer(axum::middleware::from_fn_with_state(
            app.clone(),
            guard::guard,
        ))
        .with_state(app)
}
