//! A picture's figures as comma-separated values: to eight digits, in base units,
//! a record for each mark. What is not known is empty.

use super::{Axis, Body, Chart, Quantity};
use crate::shade::{CALL, MEMORY};
use model::estimate::Verdict;
use model::printable::csv_field as field;

/// The figures of a picture, with a head (RFC 4180, but for the ends of lines).
pub fn csv(chart: &Chart) -> String {
    lines(&records(&chart.body))
}

/// The same for a page, which most of such figures make longer: `~` is the first field of the record above.
pub(crate) fn short_csv(chart: &Chart) -> String {
    let mut records = records(&chart.body);
    for at in (1..records.len()).rev() {
        let [above, own] = [at - 1, at].map(|at| records[at].first().cloned());
        if own.as_deref() == Some("~") {
            records[at][0] = "\"~\"".into();
        } else if own == above && own.is_some() {
            records[at][0] = "~".into();
        }
    }
    lines(&records)
}

fn lines(records: &[Vec<String>]) -> String {
    records.iter().map(|record| record.join(",") + "\n").collect()
}

/// The head and a record for each mark, of fields as they are written.
fn records(body: &Body) -> Vec<Vec<String>> {
    match body {
        Body::Lines(lines) => {
            let head = head(["curve"], [&lines.x], &lines.y);
            let points = |line: &'_ super::ChartLine| {
                let name = field(&line.name);
                let record = move |p: &super::Point| {
                    let start = vec![name.clone(), number_text(Some(p.x))];
                    [start, figure_columns(Some(p.y), p.low, p.high, p.verdict)].concat()
                };
                line.points.iter().map(record).collect::<Vec<_>>()
            };
            let records = lines.series.iter().flat_map(points);
            std::iter::once(head).chain(records).collect()
        }
        Body::Bars(bars) => {
            let parts = bars.parts.iter();
            let parts = parts.map(|part| titled(&part.name, bars.value.quantity));
            let head = std::iter::once(field(&bars.label)).chain(parts).collect();
            let record = |(at, category): (usize, &String)| {
                let values = bars.parts.iter();
                let values = values.map(|part| number_text(part.values.get(at).copied().flatten()));
                std::iter::once(field(category)).chain(values).collect()
            };
            let records = bars.categories.iter().enumerate().map(record);
            std::iter::once(head).chain(records).collect()
        }
        Body::Heat(heat) => {
            let head = head([heat.y_label.as_str(), &heat.x_label], [], &heat.value);
            let name =
                |names: &[String], at: usize| field(names.get(at).map_or("", String::as_str));
            let record = |cell: &super::HeatCell| {
                let start = vec![name(&heat.y, cell.y), name(&heat.x, cell.x)];
                let figure = figure_columns(Some(cell.value), cell.low, cell.high, cell.verdict);
                [start, figure].concat()
            };
            std::iter::once(head).chain(heat.cells.iter().map(record)).collect()
        }
        Body::Lanes(lanes) => {
            let head = ["thread", "lane", "name", "from_ns", "to_ns", "share"];
            let head = head.map(str::to_owned).to_vec();
            std::iter::once(head).chain(lanes.lanes.iter().flat_map(lane_records)).collect()
        }
        Body::Strips(strips) => {
            let names = ["group", &strips.label, "from_ns", "to_ns"].map(field);
            let head = names.into_iter().chain(strips.parts.iter().map(|name| field(name)));
            let columns = |strip: &super::Strip| {
                let names = [field(&strip.group), field(&strip.name)];
                let column_ns = strips.length_ns / strip.columns.len().max(1) as f64;
                let record = |(at, shares): (usize, &Vec<f64>)| {
                    let ends = [at, at + 1].map(|at| Some(at as f64 * column_ns));
                    let parts = (0..strips.parts.len()).map(|part| shares.get(part).copied());
                    let numbers = ends.into_iter().chain(parts).map(number_text);
                    names.iter().cloned().chain(numbers).collect::<Vec<_>>()
                };
                strip.columns.iter().enumerate().map(record).collect::<Vec<_>>()
            };
            let records = strips.strips.iter().flat_map(columns);
            std::iter::once(head.collect()).chain(records).collect()
        }
        Body::Slopes(slopes) => {
            let sides = slopes.sides.iter().flat_map(|side| {
                [titled(side, slopes.value.quantity), "low".into(), "high".into()]
            });
            let head = std::iter::once("row".to_owned()).chain(sides);
            let record = |line: &super::Slope| {
                let numbers = line.ends.iter().flat_map(|end| [Some(end.value), end.low, end.high]);
                let name = std::iter::once(field(&line.name));
                let finding = [line.finding.printed().to_owned()];
                name.chain(numbers.map(number_text)).chain(finding).collect()
            };
            let head = head.chain(["finding".to_owned()]).collect();
            std::iter::once(head).chain(slopes.lines.iter().map(record)).collect()
        }
        Body::Dots(dots) => {
            let mut head = head(["row"], [], &dots.value);
            let mut names: Vec<&str> = Vec::new();
            // Labels differ from line to line.
            let rows = dots.rows.iter().filter(|_| !dots.labelled);
            for other in rows.flat_map(|dot| &dot.others) {
                if !names.contains(&other.name.as_str()) {
                    names.push(&other.name);
                }
            }
            head.push("reason".into());
            let others = names.iter();
            head.extend(others.map(|name| titled(name, dots.value.quantity)));
            let record = |dot: &super::Dot| {
                let figure = figure_columns(dot.value, dot.low, dot.high, dot.verdict);
                let mut record = [vec![field(&dot.id)], figure, vec![field(&dot.reason)]].concat();
                record.extend(names.iter().map(|name| {
                    let of = dot.others.iter().find(|other| other.name == **name);
                    number_text(of.map(|other| other.value))
                }));
                record
            };
            std::iter::once(head).chain(dots.rows.iter().map(record)).collect()
        }
    }
}

/// A record for each state, system call and operation on memory that is drawn.
fn lane_records(lane: &super::Lane) -> Vec<Vec<String>> {
    let states = lane.states.iter();
    let states = states.map(|one| ("state", one.kind.name(), one.from_ns, one.to_ns, one.share));
    let spans = [(CALL.name, &lane.calls), (MEMORY.name, &lane.memory)].into_iter();
    let spans = spans.flat_map(|(of, spans)| {
        spans.iter().map(move |one| (of, &*one.name, one.from_ns, one.to_ns, Some(one.share)))
    });
    let record = |(of, name, from_ns, to_ns, share): (&str, &str, f64, f64, Option<f64>)| {
        let numbers = [Some(from_ns), Some(to_ns), share].map(number_text);
        [[&*lane.name, of, name].map(field).to_vec(), numbers.to_vec()].concat()
    };
    states.chain(spans).map(record).collect()
}

/// Names, numbers on axes, then the figure with its interval and verdict.
fn head<const N: usize, const A: usize>(
    names: [&str; N],
    axes: [&Axis; A],
    value: &Axis,
) -> Vec<String> {
    let names = names.into_iter().map(field);
    let axes = axes.into_iter().chain([value]);
    let axes = axes.map(|axis| titled(&axis.label, axis.quantity));
    let ends = ["low", "high", "verdict"].map(str::to_owned);
    names.chain(axes).chain(ends).collect()
}

/// A figure with its 95 % interval and its verdict.
fn figure_columns(
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    verdict: Option<Verdict>,
) -> Vec<String> {
    let verdict = verdict.map_or("", Verdict::text).to_owned();
    [value, low, high].map(number_text).into_iter().chain([verdict]).collect()
}

/// A whole number as it is, any other to eight digits, of which no measured
/// figure has as many.
fn number_text(value: Option<f64>) -> String {
    let eight = |value: f64| format!("{value:.7e}").parse().unwrap_or(value);
    value.map_or(String::new(), |value| match value.fract() == 0.0 {
        true => value.to_string(),
        false => eight(value).to_string(),
    })
}

/// A column's title with the unit of its numbers.
fn titled(label: &str, quantity: Quantity) -> String {
    match unit(quantity) {
        "" => field(label),
        unit => field(&format!("{label} ({unit})")),
    }
}

/// The unit in which a quantity's numbers are.
fn unit(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Nanoseconds => "ns",
        Quantity::Bytes => "bytes",
        Quantity::GigabytesPerSecond => "GB/s",
        Quantity::Cycles => "cycles",
        Quantity::Ratio => "ratio",
        Quantity::Percent => "%",
        Quantity::Count => "",
        Quantity::Gigahertz => "GHz",
        Quantity::Percentile => "one of so many took as long",
        Quantity::UnixMilliseconds => "ms since 1970 UTC",
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, ChartLine, Lines, Point, Section};
    use super::*;
    use model::chart::CurveKind;

    #[test]
    fn a_curve_with_units_eight_digits_and_nothing_to_compute() {
        let axis = |label: &str, quantity| Axis {
            label: label.into(),
            quantity,
            log: true,
            from_zero: false,
        };
        let exact = Point {
            low: Some(3.5),
            verdict: Some(Verdict::Noisy),
            ..Point::bare(32768.0, 3.614_900_123_456)
        };
        let line = ChartLine {
            name: "=load, \"1\"".into(),
            is: CurveKind::Measured,
            points: vec![exact, Point::bare(65536.0, -1.0)],
            joined: true,
        };
        let mut chart = Chart {
            id: "x".into(),
            title: String::new(),
            caption: String::new(),
            section: Section::Memory,
            body: Body::Lines(Lines::new(
                axis("working set", Quantity::Bytes),
                axis("latency", Quantity::Nanoseconds),
                vec![line],
            )),
            notes: Vec::new(),
        };
        assert_eq!(
            csv(&chart),
            "curve,working set (bytes),latency (ns),low,high,verdict\n\
             \"'=load, \"\"1\"\"\",32768,3.6149001,3.5,,noisy\n\
             \"'=load, \"\"1\"\"\",65536,-1,,,\n"
        );
        assert_eq!(
            short_csv(&chart),
            csv(&chart).replace("\n\"'=load, \"\"1\"\"\",65536", "\n~,65536")
        );
        let Body::Lines(lines) = &mut chart.body else { unreachable!() };
        lines.series[0].name = "~".into();
        let heads = short_csv(&chart).lines().map(|line| line[..4].to_owned()).collect::<Vec<_>>();
        assert_eq!(heads, ["curv", "\"~\",", "\"~\","]);
    }
}
