//! The band of machines with the same cores behind the curve of latency.

use super::super::source::Picture;
use super::super::{Body, ChartLine, CurveKind, Point};
use model::phrases::counted;
use model::run::Run;
use model::story::levels::CurveLevel;
use references::comparison::PublishedUnit;
use references::record::ComparisonRule;
use references::{BandExtent, BandSpan, LatencyBand, Source, latency_bands};

/// Draws what is recorded of such cores, where it may be compared, and says of which machines it is.
pub(super) fn bands_of_design(run: &Run, picture: &mut Picture) {
    // An emulator's figures are its own, and another program's of an unknown clock.
    if run.imported.is_some() || run.emulator().is_some() {
        return;
    }
    let Body::Lines(lines) = &mut picture.chart.body else {
        return;
    };
    let bands = match latency_bands(&run.machine) {
        Ok(bands) => bands,
        Err(damaged) => {
            picture.chart.notes.push(format!("No band of like machines: {damaged}."));
            return;
        }
    };
    let ends = lines.series.first().map(|line| &line.points);
    let ends = ends.and_then(|points| Some([points.first()?.x, points.last()?.x]));
    let Some([from, to]) = ends else {
        return;
    };
    let cycle_ns = run.core_clock.as_ref().map(|clock| clock.cycle_ns.value);
    for band in &bands {
        let mut pieces: Vec<Vec<Point>> = Vec::new();
        let mut curve = Vec::new();
        let mut drawn: Vec<&BandSpan> = Vec::new();
        for span in &band.spans {
            let Some(to_ns) = ns_of_unit(span.unit, cycle_ns) else {
                continue;
            };
            let [low, half, high] = span.ends.map(|end| end * to_ns);
            let point = |x| Point { low: Some(low), high: Some(high), ..Point::bare(x, half) };
            match &span.extent {
                BandExtent::Bytes(bytes) if (from..=to).contains(&(*bytes as f64)) => {
                    curve.push(point(*bytes as f64));
                }
                BandExtent::Bytes(_) => continue,
                BandExtent::Level(name) => {
                    let mut levels = CurveLevel::of_latency(run);
                    let Some(level) = levels.find(|level| level.name == *name) else {
                        continue;
                    };
                    pieces.push([level.from_bytes, level.to_bytes].map(|x| point(x as f64)).into());
                }
            }
            drawn.push(span);
        }
        pieces.extend((curve.len() > 1).then_some(curve));
        let name = legend_name(band);
        lines.series.extend(pieces.into_iter().map(|points| ChartLine {
            name: name.clone(),
            is: CurveKind::Population,
            points,
            joined: true,
        }));
        picture.chart.notes.extend(caption(band, &drawn));
    }
}

/// What a figure is multiplied by to be ns here; cycles are drawn at the clock of this run.
fn ns_of_unit(unit: PublishedUnit, cycle_ns: Option<f64>) -> Option<f64> {
    match unit {
        PublishedUnit::Cycles => cycle_ns,
        PublishedUnit::Ns => Some(1.0),
        PublishedUnit::NsPerByte => None,
    }
}

fn legend_name(band: &LatencyBand) -> String {
    let machines = match band.source {
        Source::Cloud => "cloud types",
        Source::Boards => "boards",
        _ => "CPUs",
    };
    format!("{machines} with {}", band.design)
}

/// Of how many machines a band is, from which quantile to which, and by which rule.
fn caption(band: &LatencyBand, drawn: &[&BandSpan]) -> Option<String> {
    let most = drawn.iter().max_by_key(|span| span.machines)?;
    let one = match band.source {
        Source::Cloud => "cloud type",
        Source::Boards => "board report",
        _ => "CPU",
    };
    let ends = match most.has_quantiles() {
        true => "p10 to p90",
        false => "least to most",
    };
    let at_clock = match drawn.iter().any(|span| span.unit == PublishedUnit::Cycles) {
        true => ", cycles at this run's clock",
        false => "",
    };
    let rule = match band.rule {
        ComparisonRule::Near => "near: similar programs, so a place and not a ratio",
        _ => "the same operation",
    };
    Some(format!(
        "Band: {ends} and median of {} with {}, by {}{at_clock}; {rule}.",
        counted(most.machines, one),
        band.design,
        band.source.credit(),
    ))
}
