//! `latlas trace why`: why the slow spans of a name were slow.

use super::Span;
use crate::arguments::trace::OverOption;
use anyhow::bail;
use model::phrases::several;
use model::printable::visible;
use model::story::Block;
use model::trace::Trace;
use model::trace::summary::summary;
use model::trace::tails::{span_tails, spans_named};
use std::path::Path;
use view::render;

/// Names that are listed where the one that was asked for is not there.
const NAMED: usize = 5;

/// The answer, of spans that begin in the part that was asked for.
///
/// # Errors
/// If the trace has no such span.
pub(super) fn blocks(
    trace: &Trace,
    file: &Path,
    (span, part): (&str, Option<Span>),
    over: &OverOption,
) -> anyhow::Result<Vec<Block>> {
    let (mut spans, unfinished) = spans_named(trace, span);
    if let Some((from_ns, to_ns)) = part {
        spans.retain(|span| (from_ns..to_ns).contains(&span.from_ns));
        if spans.is_empty() {
            bail!("no span {span:?} of {} begins between --from and --to", file.display());
        }
    }
    let Some(tails) = span_tails(trace, &spans, over.limit) else {
        let file = file.display();
        if unfinished > 0 {
            bail!("no span {span:?} of {file} ends in the trace");
        }
        let all = summary(trace).signposts;
        let spans = all.iter().filter(|figures| figures.durations.count() > 0);
        let names = spans.filter_map(|figures| trace.signpost_names.get(figures.name as usize));
        let names: Vec<String> = names.map(|name| visible(name)).collect();
        match names.is_empty() {
            true => bail!("{file} has no spans: a program marks them (latlas help trace)"),
            false => bail!("{file} has no span {span:?}, but {}", several(&names, NAMED)),
        }
    };
    Ok(render::why(trace, (span, &over.text), &tails))
}
