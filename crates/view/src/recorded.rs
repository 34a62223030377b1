//! What was recorded apart from runs, as self-contained pages of one part.

use crate::html::policy::meta;
use crate::html::{Place, finished, keys, paint, script, style};
use crate::render::{self, cpu_history_figures, cpu_history_heading};
use maud::{DOCTYPE, PreEscaped, html};
use model::cpu_history::CpuHistory;
use model::qos::Qos;
use model::story::Block;
use model::utc;

/// What the CPUs did.
pub fn of_cpu_history(history: &CpuHistory) -> String {
    let title = format!("CPU history of {}", cpu_history_heading(history));
    let blocks = cpu_history_figures(history);
    page(&title, "history --cpus", history.began_unix_ms, &blocks)
}

/// What priority did to a job.
pub fn of_qos(document: &Qos) -> String {
    let title = "QoS: one job at each level, alone and competing";
    let blocks = render::qos(document);
    page(title, "qos", document.started_unix_ms, &blocks)
}

fn page(title: &str, command: &str, began_unix_ms: u64, blocks: &[Block]) -> String {
    let began = utc::text(began_unix_ms);
    finished(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta(&format!("latlas {command}"), script()))
                title { (title) }
                style { (PreEscaped(style())) }
            }
            body {
                a.skip href="#main" { "Skip to the figures" }
                nav.bar aria-label="Parts of this page" {
                    p.brand { "latlas" }
                    button.theme #theme type="button" hidden { "Dark" }
                }
                header.top {
                    h1 { (title) }
                    p { "Recorded from " (began) " on." }
                }
                main #main tabindex="-1" data-source=(began) {
                    (keys())
                    (paint(blocks, Place::CHAPTER))
                }
                script { (PreEscaped(script())) }
            }
        }
    })
}
