//! The one list of routes, of which the router is made.

use crate::app::{App, Options};
use crate::cached::CachedDocument;
use crate::problem::Problem;
use crate::{api, guard, pages};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, get};
use compare::references::References;
use store::Store;

type Handler = fn() -> MethodRouter<App>;

/// Each is described in `operation`.
pub(crate) const API: &[(&str, Handler)] = &[
    ("/api/machines", || get(api::machines)),
    ("/api/machines/{key}/percentiles", || get(api::machine_percentiles)),
    ("/api/runs", || get(api::runs).post(api::upload)),
    ("/api/runs/{id}", || get(api::run_with_figures)),
    ("/api/runs/{id}/document", || get(api::document)),
    ("/api/rows", || get(api::rows)),
    ("/api/percentiles", || get(api::percentiles)),
    ("/api/history", || get(api::history)),
    ("/api/compare", || get(api::compare)),
    ("/api/openapi.json", || get(api::openapi)),
    ("/metrics", || get(api::metrics)),
    (guard::HEALTH, || get(api::health)),
];

const PAGES: &[(&str, Handler)] = &[
    ("/", || get(pages::lists::machines)),
    ("/machines/{key}", || get(pages::lists::machine)),
    ("/runs", || get(pages::lists::runs)),
    ("/runs/{id}", || get(pages::run::run_page)),
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

/// The API as an OpenAPI 3.1 document: the tests have it made of `operation` and the types of requests and answers.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// Everything that is served, as a service.
pub fn router(store: Store, references: References, options: Options) -> Router {
    let openapi = CachedDocument::new(OPENAPI);
    let app = App::new(store, references, options, openapi);
    let routes = API.iter().chain(PAGES);
    routes
        .fold(Router::new(), |router, &(path, handler)| router.route(path, handler()))
        .fallback(async || Problem::NoPage)
        .method_not_allowed_fallback(async || Problem::Method)
        // Uploads have a limit of their own; nothing else has a body.
        .layer(DefaultBodyLimit::disable())
        .layer(axum::middleware::from_fn_with_state(app.clone(), guard::guard))
        .with_state(app)
}
