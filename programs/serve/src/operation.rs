//! What the OpenAPI document says of each operation of the API.

use crate::params::{CompareParams, HistoryParams, NoParams, RowParams, RunsParams};
use crate::{guard, wire};
use schemars::{JsonSchema, Schema, SchemaGenerator};

pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

#[derive(Clone, Copy)]
pub(crate) enum Content {
    Json(SchemaOf),
    RunDocument,
    Text,
}

pub(crate) struct ApiOperation {
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
}

impl ApiOperation {
    /// A `get` without parameters that responds with JSON.
    pub(crate) const fn json<T: JsonSchema>(
        id: &'static str,
        path: &'static str,
        summary: &'static str,
    ) -> ApiOperation {
        ApiOperation {
            id,
            method: "get",
            path,
            summary,
            query: NoParams::json_schema,
            content: Content::Json(SchemaGenerator::subschema_for::<T>),
            statuses: &[],
        }
    }
}

pub(crate) const OPERATIONS: &[ApiOperation] = &[
    ApiOperation::json::<wire::Machines>("machines", "/api/machines", "Machines with stored runs."),
    ApiOperation {
        statuses: &[404],
        ..ApiOperation::json::<wire::MachinePercentiles>(
            "machine_percentiles",
            "/api/machines/{key}/percentiles",
            "Percentile of a machine among all machines, for each row.",
        )
    },
    ApiOperation {
        query: RunsParams::json_schema,
        ..ApiOperation::json::<wire::Runs>(
            "runs",
            "/api/runs",
            "Stored runs, newest first, in pages.",
        )
    },
    ApiOperation {
        method: "post",
        statuses: &[201, 403, 408, 409, 413, 415, 422, 429, 507],
        ..ApiOperation::json::<wire::Uploaded>(
            "upload",
            "/api/runs",
            "Store a run document, JSON or zstd of it. Repeating it changes nothing.",
        )
    },
    ApiOperation {
        statuses: &[404],
        ..ApiOperation::json::<wire::RunWithFigures>(
            "run",
            "/api/runs/{id}",
            "A run: facts of its machine and all figures, without samples.",
        )
    },
    ApiOperation {
        content: Content::RunDocument,
        statuses: &[404],
        ..ApiOperation::json::<()>(
            "document",
            "/api/runs/{id}/document",
            "The document of a run, with its samples.",
        )
    },
    ApiOperation::json::<wire::Rows>("rows", "/api/rows", "Rows that any stored run has."),
    ApiOperation {
        query: RowParams::json_schema,
        statuses: &[404],
        ..ApiOperation::json::<wire::Percentiles>(
            "percentiles",
            "/api/percentiles",
            "A row over all machines: percentiles, and each machine's percentile.",
        )
    },
    ApiOperation {
        query: HistoryParams::json_schema,
        statuses: &[404],
        ..ApiOperation::json::<wire::History>(
            "history",
            "/api/history",
            "A row on one machine over time.",
        )
    },
    ApiOperation {
        query: CompareParams::json_schema,
        statuses: &[404, 422],
        ..ApiOperation::json::<compare::Comparison>(
            "compare",
            "/api/compare",
            "Compare two runs, machines or published tables.",
        )
    },
    ApiOperation {
        statuses: &[304],
        ..ApiOperation::json::<serde_json::Map<String, serde_json::Value>>(
            "openapi",
            "/api/openapi.json",
            "This document.",
        )
    },
    ApiOperation {
        content: Content::Text,
        ..ApiOperation::json::<()>(
            "metrics",
            "/metrics",
            "Counters and gauges in Prometheus' text format.",
        )
    },
    ApiOperation::json::<wire::Health>(
        "health",
        guard::HEALTH,
        "Whether the server responds. Needs no token.",
    ),
];
