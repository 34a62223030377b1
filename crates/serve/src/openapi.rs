//! The interface as a document (OpenAPI 3.1, <https://spec.openapis.org/oas/v3.1.0>),
//! made of the same list as the router.

use crate::guard;
use crate::routes::{Content, OPERATIONS, Operation, PROBLEM};
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The document as it is sent, and its tag: the same for every request, so it
/// is made once.
static SENT: LazyLock<(Bytes, String)> = LazyLock::new(|| {
    let bytes = document().to_string().into_bytes();
    let hash = Sha256::digest(&bytes);
    let tag: String = hash[..16].iter().map(|b| format!("{b:02x}")).collect();
    (bytes.into(), format!("\"{tag}\""))
});

/// The document, or 304 for a client that has it.
pub(crate) fn answer(headers: &HeaderMap) -> Response {
    let (bytes, tag) = &*SENT;
    let headers = headers.get_all(header::IF_NONE_MATCH).iter();
    let mut known = headers.filter_map(|tags| tags.to_str().ok());
    let has_it = known.any(|tags| tags.split(',').any(|known| is_tag(known, tag)));
    let cached = [
        (header::ETAG, HeaderValue::from_str(tag).ok()),
        (
            header::CACHE_CONTROL,
            Some(HeaderValue::from_static("private, no-cache")),
        ),
    ];
    let mut response = match has_it {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, "application/json")], bytes.clone()).into_response(),
    };
    for (name, value) in cached {
        response
            .headers_mut()
            .extend(value.map(|value| (name, value)));
    }
    response
}

/// Whether an entry of `If-None-Match` names this tag (RFC 9110, 13.1.2: by
/// the weak comparison).
fn is_tag(known: &str, tag: &str) -> bool {
    let known = known.trim();
    known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag
}

/// The OpenAPI document.
pub fn document() -> Value {
    // OpenAPI 3.1 has JSON Schema as it is; only the shared ones lie elsewhere.
    let settings =
        SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into());
    // As we write it: what we leave out where it is empty is not required.
    let mut generator = settings.for_serialize().into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for operation in OPERATIONS {
        let described = described(operation, &mut generator);
        let path = paths
            .entry(operation.path)
            .or_insert_with(|| json!({}))
            .as_object_mut();
        if let Some(path) = path {
            path.insert(operation.method.to_owned(), described);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "latlas",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Kept runs of a latency atlas: machines, runs, rows, percentiles, comparisons, and upload of run documents. Deleting and tagging are not offered.",
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "basic": { "type": "http", "scheme": "basic" },
            },
        },
        // A server on loopback may have no token: then nothing is needed.
        "security": [{}, { "bearer": [] }, { "basic": [] }],
    })
}

fn described(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut parameters = in_query(operation);
    if operation.path.contains("{id}") {
        parameters.push(json!({
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The run's UUID.",
            "schema": { "type": "string", "format": "uuid" },
        }));
    }
    if operation.path.contains("{key}") {
        parameters.push(json!({
            "name": "key",
            "in": "path",
            "required": true,
            "description": "The machine's key.",
            "schema": { "type": "string" },
        }));
    }
    let mut answers: Map<String, Value> = Map::new();
    for (status, description, content) in operation.answers {
        let mut answer = json!({ "description": description });
        if let Some(content) = in_content(*content, generator) {
            answer["content"] = content;
        }
        if *status == 201 {
            answer["headers"] = json!({
                "Location": {
                    "description": "Where the run is to be found.",
                    "required": true,
                    "schema": { "type": "string" },
                }
            });
        }
        answers.insert(status.to_string(), answer);
    }
    // What any request may be answered with.
    let mut everywhere = vec![400, 421, 500, 503];
    if operation.path != guard::HEALTH {
        everywhere.push(401);
    }
    for status in everywhere.iter().chain(operation.problems) {
        let problem = PROBLEM(generator).to_value();
        let answer = json!({
            "description": reason(*status),
            "content": { "application/problem+json": { "schema": problem } },
        });
        answers.insert(status.to_string(), answer);
    }
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": answers,
    });
    if operation.takes_document {
        // What a run is says docs/run-schema.json; columns that must fit each
        // other are beyond any schema.
        let any = json!({ "schema": { "type": "object", "required": ["schema", "id"] } });
        let bytes = json!({ "schema": { "type": "string", "format": "binary" } });
        described["requestBody"] = json!({
            "required": true,
            "description": "The run document.",
            "content": {
                "application/json": any,
                "application/zstd": bytes,
                "application/octet-stream": bytes,
            },
        });
    }
    described
}

fn reason(status: u16) -> &'static str {
    match status {
        400 => "The request is malformed: the detail says in what.",
        401 => "The token is missing or wrong.",
        403 => "This server takes no runs, or the request comes from another origin.",
        404 => "There is no such thing.",
        408 => "The document came too slowly: the detail says how fast it must come.",
        409 => "Another run is kept under this id.",
        413 => "The document is too large.",
        415 => "The document is of another type.",
        421 => "The Host header names another machine (a server without a token).",
        422 => "It was understood, and makes no sense here: the detail says why.",
        429 => "Too many uploads at once: try again.",
        503 => "Too much is asked at once: try again.",
        507 => "The document can't be written: a full or read-only disk.",
        _ => "The server failed.",
    }
}

fn in_query(operation: &Operation) -> Vec<Value> {
    // As we read it: what has a default is not required.
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let schema = (operation.query)(&mut generator).to_value();
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        let description = schema["description"].take();
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("description");
            // A parameter that may be left out is left out, never null.
            if let Some(Value::Array(types)) = schema.get("type") {
                let first = types.first().cloned().unwrap_or_default();
                schema.insert("type".into(), first);
            }
            // JSON Schema knows no unsigned formats.
            schema.remove("format");
        }
        json!({
            "name": name,
            "in": "query",
            "required": required.contains(&name.as_str()),
            "description": description,
            "schema": schema,
        })
    };
    properties.iter().map(parameter).collect()
}

fn in_content(content: Content, generator: &mut SchemaGenerator) -> Option<Value> {
    match content {
        Content::Json(shape) => {
            let schema = shape(generator).to_value();
            Some(json!({ "application/json": { "schema": schema } }))
        }
        Content::RunDocument => Some(json!({
            "application/zstd": { "schema": { "type": "string", "format": "binary" } }
        })),
        Content::Nothing => None,
        Content::Text(kind) => Some(json!({ kind: { "schema": { "type": "string" } } })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_answers_share_what_was_made_once() {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let sent = || {
            let body = answer(&HeaderMap::new()).into_body();
            let bytes = runtime.block_on(axum::body::to_bytes(body, usize::MAX));
            bytes.expect("a document")
        };
        let (one, other) = (sent(), sent());
        assert!(!one.is_empty());
        assert_eq!(one.as_ptr(), other.as_ptr());
    }
}
