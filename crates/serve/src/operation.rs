//! What is said of a route of the API: its handler and its OpenAPI description follow from it.

use crate::app::App;
use crate::params::NoParams;
use axum::routing::MethodRouter;
use schemars::{JsonSchema, Schema, SchemaGenerator};

pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

pub(crate) type Handler = fn() -> MethodRouter<App>;

#[derive(Clone, Copy)]
pub(crate) enum Content {
    Json(SchemaOf),
    RunDocument,
    Text,
}

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
    pub(crate) content: Content,
    /// Statuses besides 200 and those of every operation.
    pub(crate) statuses: &'static [u16],
    pub(crate) handler: Handler,
}

impl Operation {
    /// A `get` without parameters that responds with JSON.
    pub(crate) const fn json<T: JsonSchema>(
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
