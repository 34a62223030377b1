//! A recording of CPUs as one self-contained page.

use crate::html::policy::policy;
use crate::html::{Place, finished, keys, paint, script, style};
use crate::render::{cpu_history_figures, cpu_history_heading};
use maud::{DOCTYPE, PreEscaped, html};
use model::cpu_history::CpuHistory;
use model::utc;

/// The page.
pub fn page(history: &CpuHistory) -> String {
    let title = format!("CPU history of {}", cpu_history_heading(history));
    finished(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="generator" content="latlas history --cpus";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
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
                    p { "Recorded from " (utc::text(history.began_unix_ms)) " on." }
                }
                main #main tabindex="-1" data-source=(utc::text(history.began_unix_ms)) {
                    (keys())
                    (paint(&cpu_history_figures(history), Place::CHAPTER))
                }
                script { (PreEscaped(script())) }
            }
        }
    })
}
