//! What is handed over as text: the rows as JSON, a run as a table.

use compare::references::References;
use compare::tables;
use model::run::Run;
use serde_json::{Value, json};
use view::render::{self, PublishedOptions};
use view::terminal::{self, Screen};

/// All rows that can be asked for.
pub(crate) fn rows() -> String {
    let catalogue = probes::catalogue();
    let references = References::embedded().ok();
    let tables: Vec<(&str, Vec<String>)> = references
        .iter()
        .flat_map(|all| all.layouts.iter().map(move |table| (all, table)))
        .map(|(all, table)| (&*table.key, tables::row_ids(table, all)))
        .collect();
    let rows: Vec<Value> = catalogue
        .iter()
        .flat_map(|probe| probe.row_ids().into_iter().map(move |id| (probe, id)))
        .map(|(probe, id)| {
            // A level or point of a curve is asked for by the curve.
            let is_of = |of: &String| *of == id || of.strip_prefix(&*id).is_some_and(is_point);
            let with = tables.iter().filter(|(_, ids)| ids.iter().any(is_of));
            json!({
                "id": id,
                "title": probe.title,
                "operation": probe.operation,
                "group": probe.group(),
                "tables": with.map(|(key, _)| *key).collect::<Vec<&str>>(),
            })
        })
        .collect();
    Value::from(rows).to_string()
}

fn is_point(rest: &str) -> bool {
    rest.starts_with('/')
}

/// A run as text, or a published table with its figures; `None` if there is no such table.
pub(crate) fn table(run: &Run, key: Option<&str>, columns: usize) -> Option<String> {
    let references = References::embedded().ok()?;
    let blocks = match key {
        None => render::render_run(run, &references, &render::Options::default()),
        Some(key) => {
            let layout = references.layout(key)?;
            let table = tables::fill_in(layout, &references, Some(run), false);
            let look = PublishedOptions { columns, ..PublishedOptions::default() };
            render::published(&table, Some(run), &look)
        }
    };
    let screen = Screen { columns, color: false };
    Some(terminal::blocks_text(&blocks, screen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_name_the_published_tables_that_they_fill_in() {
        let rows: Vec<Value> = serde_json::from_str(&rows()).expect("JSON");
        let tables = |id: &str| {
            let row = rows.iter().find(|row| row["id"] == id);
            row.unwrap_or_else(|| panic!("no row {id}"))["tables"].clone()
        };
        assert_eq!(tables("memory.latency_as_kurkin"), json!(["kurkin"]));
        assert_eq!(tables("thread.lifecycle/create"), json!(["kurkin"]));
        assert_eq!(tables("cpu.add_i64"), json!([]));
    }
}
