//! The library that draws: Apache ECharts, packed by the build script.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};

/// Its script, compressed as gzip.
pub fn gzipped() -> &'static [u8] {
    include_bytes!(concat!(env!("OUT_DIR"), "/echarts.js.gz"))
}

/// SHA-256 of the script as it runs, which a page's policy names.
pub fn digest() -> &'static [u8] {
    include_bytes!(concat!(env!("OUT_DIR"), "/echarts.sha256"))
}

/// The packed script in a page. A browser takes an element of this type for
/// data and runs nothing of it; our own script unpacks it.
pub(super) fn block() -> Markup {
    html! {
        script type="application/gzip+base64" id="latlas-echarts" {
            (PreEscaped(STANDARD.encode(gzipped())))
        }
    }
}
