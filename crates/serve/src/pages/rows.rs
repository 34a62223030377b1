//! All rows that any kept run has.

use super::words::row_path;
use super::{Page, scrolling, shown};
use crate::app::App;
use crate::questions;
use crate::strict::{Asked, Nothing};
use axum::extract::State;
use maud::html;

pub(crate) async fn page(State(app): State<App>, Asked(Nothing {}): Asked<Nothing>) -> Page {
    let rows = app.ask(|index, _| questions::rows(index)).await?;
    let table = html! {
        table {
            thead { tr { th { "Row" } th.number { "Points" } } }
            tbody {
                @for row in &rows {
                    tr {
                        th.whole scope="row" { a href=(row_path(&row.row, &[])) { (row.row) } }
                        td.number { @if row.points > 0 { (row.points) } }
                    }
                }
            }
        }
    };
    let content = html! {
        h1 { "Rows" }
        @if rows.is_empty() { p { "No run is kept yet." } } @else { (scrolling("Rows", &table)) }
    };
    shown("Rows", "/rows", &content)
}
