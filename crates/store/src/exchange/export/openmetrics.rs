//! OpenMetrics, which Prometheus reads, also from a file of its node exporter
//! (<https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>): gauges in base units, with the
//! ends of the 95 % interval as gauges of their own.

use super::line::{ExportLine, in_unit, value_in_unit};
use super::{Written, each};
use model::run::Run;
use model::unit::Unit;
use std::fmt::Write;

/// A family of gauges: its name, which ends in its unit, what it is, and base units of ours.
struct Family {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    scale: f64,
}

/// The families, in the order of the file.
const FAMILIES: [Family; 5] = [
    Family {
        name: "latlas_operation_seconds",
        unit: "seconds",
        help: "Time of one operation.",
        scale: 1e-9,
    },
    Family {
        name: "latlas_bandwidth_bytes_per_second",
        unit: "bytes_per_second",
        help: "Bytes moved in a second.",
        scale: 1e9,
    },
    Family { name: "latlas_frequency_hertz", unit: "hertz", help: "Clock of a core.", scale: 1e9 },
    Family { name: "latlas_count", unit: "", help: "A number of events.", scale: 1.0 },
    Family { name: "latlas_size_bytes", unit: "bytes", help: "A size.", scale: 1.0 },
];

fn family(unit: &Unit) -> usize {
    match unit {
        Unit::Time => 0,
        Unit::Bandwidth { .. } => 1,
        Unit::Frequency => 2,
        Unit::Count => 3,
        Unit::Bytes => 4,
    }
}

/// The file, and what it has no place for.
pub(super) fn to_openmetrics(run: &Run, lines: &[ExportLine]) -> Written {
    let (samples, left_out) = each(lines, |line| {
        let at = family(&line.row.unit);
        let (ns, interval) = line.figure_ns().ok_or_else(|| line.left_out())?;
        let value = value_in_unit(ns, &line.row.unit).ok_or_else(|| line.left_out())?;
        let ends = interval.and_then(|ns| in_unit(ns, &line.row.unit));
        let ends = [("low", ends.and_then(|e| e.low)), ("high", ends.and_then(|e| e.high))];
        let ends = ends.into_iter().filter_map(|(end, value)| Some((end, value?)));
        let all = std::iter::once(("value", value)).chain(ends);
        let labels = labels(run, line);
        let sample = |(bound, value): (&str, f64)| {
            let value = value * FAMILIES[at].scale;
            format!("{}{{{labels},bound=\"{bound}\"}} {value:e}\n", FAMILIES[at].name)
        };
        Ok((at, all.map(sample).collect::<String>()))
    });
    let mut text = String::new();
    for (at, family) in FAMILIES.iter().enumerate() {
        let of_family: String =
            samples.iter().filter(|(of, _)| *of == at).map(|(_, text)| text.as_str()).collect();
        if of_family.is_empty() {
            continue;
        }
        let _ = writeln!(text, "# TYPE {} gauge", family.name);
        if !family.unit.is_empty() {
            let _ = writeln!(text, "# UNIT {} {}", family.name, family.unit);
        }
        let _ = writeln!(text, "# HELP {} {}", family.name, family.help);
        text += &of_family;
    }
    Ok((text + "# EOF\n", left_out))
}

fn labels(run: &Run, line: &ExportLine) -> String {
    let mut labels = vec![
        ("row", line.row.id.clone()),
        ("verdict", line.verdict_text().to_owned()),
        ("run", run.id.clone()),
    ];
    labels.extend(line.row.arm.clone().map(|arm| ("arm", arm)));
    let point: Vec<String> = line.at.iter().map(|p| format!("{}={}", p.axis, p.at)).collect();
    if !point.is_empty() {
        labels.push(("point", point.join(";")));
    }
    let label = |(name, value): &(&str, String)| format!("{name}=\"{}\"", escaped(value));
    labels.iter().map(label).collect::<Vec<_>>().join(",")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
