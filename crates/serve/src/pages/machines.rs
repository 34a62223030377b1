//! All machines.

use super::words::{on, when};
use super::{Page, scrolling, shown};
use crate::app::App;
use crate::questions;
use crate::strict::{Asked, Nothing};
use axum::extract::State;
use maud::html;

pub(crate) async fn page(State(app): State<App>, Asked(Nothing {}): Asked<Nothing>) -> Page {
    let machines = app.ask(|index, _| questions::machines(index)).await?;
    let table = html! {
        table {
            thead { tr { th { "Machine" } th.number { "Runs" } th { "Newest" } } }
            tbody {
                @for machine in &machines {
                    tr {
                        th.words scope="row" {
                            a href={ "/machines/" (machine.key) } { (on(machine.host.as_deref(), &machine.line)) }
                        }
                        td.number { (machine.runs) }
                        td.whole { (when(machine.newest_unix_ms)) }
                    }
                }
            }
        }
    };
    let content = html! {
        h1 { "Machines" }
        @if machines.is_empty() {
            p {
                "No run is kept yet. " code { "latlas run" } " makes one; "
                a href="/upload" { "or upload one" } "."
            }
        } @else {
            (scrolling("Machines", &table))
        }
    };
    shown("Machines", "/", &content)
}
