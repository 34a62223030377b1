//! What the places of a harness's words stand for, for one benchmark and one run.

use crate::harness::fill::{Filling, escaped, go_pattern};
use std::path::Path;
use std::time::Duration;

/// Warm-up of harnesses that find out by it how many iterations a sample has.
const WARM_UP: Duration = Duration::from_millis(10);

/// A benchmark in one of the sides, by one of the lines that its harness may be run by: each by its place.
#[derive(Clone, Copy)]
pub(super) struct SlotPlace {
    pub(super) at: usize,
    pub(super) side: usize,
    pub(super) line: usize,
}

/// What is asked of one run.
#[derive(Clone, Copy)]
pub(super) struct SlotWork {
    pub(super) samples: u32,
    pub(super) sample_length: Duration,
    pub(super) iterations: Option<u64>,
    pub(super) seed: Option<u64>,
}

/// A benchmark in the words of every harness.
pub(super) fn with_benchmark(filling: Filling, name: &str, program: &str, root: &Path) -> Filling {
    // go test: below its package. JMH: before its parameters.
    let in_package = name.strip_prefix(program).and_then(|rest| rest.strip_prefix('.'));
    let (method, params) = name.split_once(':').unwrap_or((name, ""));
    let params = params.split(',').filter(|param| param.contains('='));
    let params = params.flat_map(|param| ["-p".to_owned(), param.to_owned()]);
    filling
        .put("name", name)
        .put("command", name.replace("{}", &root.to_string_lossy()))
        .put("regex", escaped(if params.clone().next().is_some() { method } else { name }))
        .put("go_pattern", go_pattern(in_package.unwrap_or(name)))
        .put("colons", name.replace('/', "::"))
        .with_words("params", params.collect())
}

pub(super) fn with_work(filling: Filling, work: SlotWork) -> Filling {
    let seconds = |time: Duration| format!("{:.6}", time.as_secs_f64());
    let filling = filling
        .put("k", work.samples.to_string())
        .put("sample_s", seconds(work.sample_length))
        .put("sample_ms", work.sample_length.as_millis().max(1).to_string())
        .put("total_s", seconds(work.sample_length * work.samples))
        .put("warm_s", seconds(WARM_UP));
    match work.iterations {
        Some(n) => filling.put("n", n.to_string()),
        None => filling,
    }
}
