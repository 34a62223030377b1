//! The staircase of latency for a small place: its curve and levels, and that of the iPhone study's order with
//! the published figures of phones.

use super::super::source::Picture;
use super::super::{Body, Chart, ChartLine, CurveKind};
use super::curves::AS_KURKIN_ROW;
use model::story::levels::LATENCY;

/// What titles of phones begin with.
const PHONE: &str = "iPhone";

/// The picture, from the large ones; nothing where that is not drawn.
pub(crate) fn staircase(pictures: &[Picture]) -> Option<Chart> {
    let of = |id: &str| pictures.iter().find(|picture| picture.chart.id == id);
    let mut chart = of(LATENCY)?.chart.clone();
    let Body::Lines(lines) = &mut chart.body else {
        return None;
    };
    // The same curve of other runs lies behind it.
    let own = format!("{}: ", lines.series.first()?.name);
    let mut is_first = true;
    lines.series.retain_mut(|line| {
        let of_other = line.name.strip_prefix(&own).map(|name| format!("this machine: {name}"));
        let is_other = of_other.is_some() && line.is == CurveKind::Reference;
        line.name = of_other.unwrap_or_else(|| std::mem::take(&mut line.name));
        std::mem::take(&mut is_first) || is_other || line.is == CurveKind::Population
    });
    lines.series.first_mut()?.name = "this machine".into();
    if let Some(Body::Lines(study)) = of(AS_KURKIN_ROW).map(|picture| &picture.chart.body) {
        lines.series.extend(with_phones(&study.series));
    }
    lines.marks.clear();
    chart.notes.clear();
    chart.title = "Memory latency by working-set size".into();
    chart.caption = match lines.series.len() {
        1 => "A load that waits for the one before.".into(),
        _ => "A load that waits for the one before. Points: published figures of phones, where every \
              load is on another page."
            .into(),
    };
    Some(chart)
}

/// The curve of the study's order and the phones on it; nothing without phones.
fn with_phones(study: &[ChartLine]) -> Vec<ChartLine> {
    let is_phone =
        |line: &&ChartLine| line.is == CurveKind::Reference && line.name.starts_with(PHONE);
    let phones: Vec<ChartLine> = study.iter().filter(is_phone).cloned().collect();
    let own = study.first().filter(|_| !phones.is_empty()).cloned();
    let name = "this machine, another page on every load".to_owned();
    own.map(|own| ChartLine { name, ..own }).into_iter().chain(phones).collect()
}
