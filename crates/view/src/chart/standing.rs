//! A row over all machines, one figure each.

use super::figure::{log, of_unit};
use super::{
    Body, Chart, ChartLine, CurveKind, Dot, Dots, Lines, Point, Quantity, Section, figure,
};
use model::estimate::Verdict;
use model::unit::Unit;
use store::index::{MachineStanding, RowStanding};

/// Machines that have a line each; more of them are a curve.
const NAMED: usize = 40;

/// The machines' latest figures: a line each, or, of many, the share of
/// machines that are at most so slow. Nothing of fewer than two.
pub fn standing(
    standing: &RowStanding,
    unit: &Unit,
    name: impl Fn(&MachineStanding) -> String,
) -> Option<Chart> {
    let machines = &standing.machines;
    if machines.len() < 2 {
        return None;
    }
    let value = log("latest figure", of_unit(unit));
    let shown = |machine: &MachineStanding| unit.of_ns(machine.value_ns);
    let body = match machines.len() <= NAMED {
        true => {
            let dot = |machine: &MachineStanding| Dot {
                id: name(machine),
                value: Some(shown(machine)),
                verdict: Some(Verdict::Ok),
                ..Dot::default()
            };
            Body::Dots(Dots::new(value, machines.iter().map(dot).collect()))
        }
        false => {
            let mut values: Vec<f64> = machines.iter().map(shown).collect();
            values.sort_by(f64::total_cmp);
            let count = values.len() as f64;
            let point = |(at, x)| Point::bare(x, (at + 1) as f64 / count * 100.0);
            Body::Lines(Lines::new(
                value,
                figure::linear("machines with at most this figure", Quantity::Percent),
                vec![ChartLine {
                    name: "machines".into(),
                    is: CurveKind::Measured,
                    points: values.into_iter().enumerate().map(point).collect(),
                    joined: true,
                }],
            ))
        }
    };
    Some(Chart {
        id: "machines".into(),
        title: format!("{} machines", machines.len()),
        caption: "Each machine's latest figure that is ok.".into(),
        section: Section::Comparison,
        body,
        notes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::summary::MachineKey;

    fn chart_of(count: usize) -> Option<Chart> {
        let machine = |at: usize| MachineStanding {
            machine: MachineKey(at.to_string()),
            value_ns: (at + 1) as f64,
            percentile: 0.0,
            results: 1,
        };
        let row = RowStanding {
            row: "memory.read".into(),
            at: Vec::new(),
            mode: None,
            results: count as u64,
            quantiles: Vec::new(),
            machines: (0..count).map(machine).collect(),
        };
        let unit = Unit::Bandwidth { bytes_per_op: 4.0 };
        standing(&row, &unit, |_| "name".into())
    }

    #[test]
    fn a_line_each_in_the_rows_unit_and_a_curve_of_many() {
        assert_eq!(chart_of(1), None);
        let Body::Dots(dots) = chart_of(3).expect("a picture").body else {
            panic!("dots");
        };
        let values: Vec<_> = dots.rows.iter().map(|dot| dot.value).collect();
        assert_eq!(values, [Some(4.0), Some(2.0), Some(4.0 / 3.0)]);
        let Body::Lines(lines) = chart_of(50).expect("a picture").body else {
            panic!("a curve");
        };
        let points = &lines.series[0].points;
        assert_eq!((points.len(), points[49].x, points[49].y), (50, 4.0, 100.0));
        assert_eq!((points[0].x, points[0].y), (4.0 / 50.0, 2.0));
    }
}
