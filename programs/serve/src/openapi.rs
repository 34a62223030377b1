//! `openapi.json`: the API as an OpenAPI 3.1 document (<https://spec.openapis.org/oas/v3.1.0>), made of the list of
//! operations. It is served as it lies there, so that only tests need the schemas of the types.

use crate::guard;
use crate::operation::{ApiOperation, Content, OPERATIONS, SchemaOf};
use crate::problem::ProblemDocument;
use crate::routes::{API, OPENAPI};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");

#[test]
fn the_document_is_up_to_date() {
    let mut generated = serde_json::to_string_pretty(&openapi_document()).expect("JSON");
    generated.push('\n');
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PATH, &generated).expect("openapi.json is writable");
    }
    assert!(
        generated == std::fs::read_to_string(PATH).expect("openapi.json"),
        "openapi.json differs from the types: UPDATE_DOCS=1 cargo test -p latlas-serve"
    );
}

#[test]
fn it_describes_every_route_of_the_api() {
    let document: Value = serde_json::from_str(OPENAPI).expect("JSON");
    let described: BTreeSet<&str> =
        document["paths"].as_object().expect("paths").keys().map(String::as_str).collect();
    assert_eq!(described, API.iter().map(|(path, _)| *path).collect());
}

fn openapi_document() -> Value {
    // OpenAPI 3.1 uses JSON Schema; only definitions lie elsewhere.
    let settings =
        SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into());
    // As written: fields that are omitted when empty are not required.
    let mut generator = settings.for_serialize().into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for operation in OPERATIONS {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = described(operation, &mut generator);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "latlas",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Stored runs of a latency atlas: machines, runs, rows, percentiles, comparisons, and upload of run documents. Runs can't be deleted or tagged.",
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "basic": { "type": "http", "scheme": "basic" },
            },
        },
        // A server on loopback may need no token.
        "security": [{}, { "bearer": [] }, { "basic": [] }],
    })
}

fn described(operation: &ApiOperation, generator: &mut SchemaGenerator) -> Value {
    let mut parameters = query_parameters(operation.query);
    for (name, description, schema) in [
        ("id", "The run's UUID.", json!({ "type": "string", "format": "uuid" })),
        ("key", "The machine's key.", json!({ "type": "string" })),
    ] {
        if operation.path.contains(&format!("{{{name}}}")) {
            parameters.push(json!({
                "name": name,
                "in": "path",
                "required": true,
                "description": description,
                "schema": schema,
            }));
        }
    }
    let mut statuses = vec![200, 400, 421, 500, 503];
    if operation.path != guard::HEALTH {
        statuses.push(401);
    }
    statuses.extend(operation.statuses);
    let response = |status: u16| (status.to_string(), response_of(status, operation, generator));
    let responses: Map<String, Value> = statuses.into_iter().map(response).collect();
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": responses,
    });
    if operation.method == "post" {
        // docs/run-schema.json describes a run; columns that must fit each
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

fn response_of(status: u16, operation: &ApiOperation, generator: &mut SchemaGenerator) -> Value {
    let description = match status {
        200 if operation.method == "post" => "The same document is already stored.",
        200 => operation.summary,
        201 => "Stored.",
        304 => "Not modified (If-None-Match).",
        400 => "The request is malformed: see the detail.",
        401 => "The token is missing or wrong.",
        403 => "Uploads are disabled, or the request is cross-origin.",
        404 => "Not found.",
        408 => "Upload too slow: the detail has the minimum rate.",
        409 => "Another run is stored under this id.",
        413 => "The document is too large.",
        415 => "The document has another type.",
        421 => "Host names another machine (a server without a token).",
        422 => "Well-formed, but it can't be done: see the detail.",
        429 => "Too many unfinished uploads: retry.",
        503 => "Busy: retry.",
        507 => "The document can't be written: a full or read-only disk.",
        _ => "The server failed.",
    };
    let (kind, schema) = match (status, operation.content) {
        (304, _) => return json!({ "description": description }),
        (200 | 201, Content::Json(schema)) => ("application/json", schema(generator).to_value()),
        (200 | 201, Content::Text) => ("text/plain", json!({ "type": "string" })),
        (200 | 201, Content::RunDocument) => {
            ("application/zstd", json!({ "type": "string", "format": "binary" }))
        }
        _ => ("application/problem+json", generator.subschema_for::<ProblemDocument>().to_value()),
    };
    let mut response = json!({
        "description": description,
        "content": { kind: { "schema": schema } },
    });
    if status == 201 {
        response["headers"] = json!({
            "Location": {
                "description": "Path of the run.",
                "required": true,
                "schema": { "type": "string" },
            }
        });
    }
    response
}

fn query_parameters(query: SchemaOf) -> Vec<Value> {
    // As read: what has a default is not required.
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = query(&mut generator).to_value();
    let required = schema["required"].take();
    let required = required.as_array().cloned().unwrap_or_default();
    let Value::Object(properties) = schema["properties"].take() else {
        return Vec::new();
    };
    let parameter = |(name, mut schema): (String, Value)| {
        let description = schema["description"].take();
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("description");
            // JSON Schema has no unsigned formats.
            schema.remove("format");
        }
        // A parameter may be omitted, and is never null.
        if let Value::Array(types) = &schema["type"] {
            schema["type"] = types[0].clone();
        }
        json!({
            "name": name,
            "in": "query",
            "required": required.contains(&name.as_str().into()),
            "description": description,
            "schema": schema,
        })
    };
    properties.into_iter().map(parameter).collect()
}
