//! A map of pairs of CPUs: both halves, so that clusters are squares, with their outlines, and the number of
//! pairs beside the scale of colours. More CPUs than there are cells of a legible size are drawn several to a cell.

use super::frame::{Area, MARGIN, Room, SMALL, label_below, label_left};
use super::heat::{cell, colour_label, colour_scale, scale_ends, scaled_number};
use super::pen::{Anchor, Pen, width, wrap};
use crate::axis::{Scale, span};
use crate::chart::{Heat, HeatCell, in_unit, scale_of};
use model::clusters::{ClusterLevel, Clusters};
use model::phrases::ranges;
use model::stats::median;
use std::collections::BTreeMap;

/// The smallest and the largest cell.
const LEAST: f64 = 8.0;
const MOST: f64 = 40.0;
/// Room at the right: scale of colours with its numbers, bars of the distribution.
const SCALE: f64 = 84.0;
const BARS: f64 = 66.0;
/// Pictures that are narrower have short bars.
const NARROW: f64 = 480.0;
/// Bars over the whole scale.
const BINS: usize = 30;

/// Draws below `top`; gives the y of the lower end.
pub(super) fn draw_pairs(pen: &mut Pen, heat: &Heat, clusters: &Clusters, room: Room) -> f64 {
    let Room { wide, top, high } = room;
    let count = clusters.order.len().max(1);
    let bars = if wide < NARROW { BARS / 2.0 } else { BARS };
    let names = clusters.order.iter().map(|cpu| width(&cpu.to_string(), SMALL));
    let left = MARGIN + 28.0 + names.fold(0.0, f64::max);
    let across = wide - MARGIN - SCALE - bars - left;
    let per = cpus_of_a_cell(clusters, across);
    let cells = count.div_ceil(per) as f64;
    // Cells are squares: a height that is asked for is kept as far as the width allows.
    let below = 46.0 + (SMALL + 5.0) * (clusters.lines().len() as f64 + 1.0);
    let side = high.map_or(MOST, |high| (high - below) / cells).min(across / cells).max(LEAST);
    let area =
        Area { left, top: top + 6.0, right: left + side * cells, bottom: top + 6.0 + side * cells };
    let values = || heat.cells.iter().map(|cell| cell.value);
    let scale = Scale::over(&heat.value, values(), (0.0, 1.0));
    let unit = scale_of(heat.value.quantity, values().map(f64::abs).fold(0.0, f64::max));
    pen.rect(area.rect(), pen.theme.band(0));
    for ((x, y), bin) in binned(heat, per) {
        let value = if let [(_, only)] = bin[..] {
            Some(only.value)
        } else {
            median(bin.iter().map(|(_, c)| c.value))
        };
        let Some(value) = value else { continue };
        let lines = || [between(clusters, per, (x, y)), bin_text(heat, &bin, value)];
        match bin[..] {
            [(row, _)] if per == 1 => pen.mark_row(Some(row)),
            _ => pen.says(lines),
        }
        let is_doubtful = bin.iter().any(|(_, cell)| cell.is_doubtful());
        // Both halves; within a cell there is one.
        for (x, y) in [(x, y), (y, x)].into_iter().take(if x == y { 1 } else { 2 }) {
            let at = [area.left + side * x as f64, area.top + side * y as f64, side, side];
            cell(pen, at, scale.share(value), &scaled_number(value, unit.0), is_doubtful);
        }
        pen.mark_row(None);
    }
    outlines(pen, clusters, &area, (side, per));
    let end = names_of(pen, heat, clusters, (&area, wide), side, per);
    let label = format!("{}; bars: pairs", colour_label(heat, unit.1));
    let end = end.max(colour_scale(pen, &label, (&area, wide), &scale));
    distribution(pen, heat, (&area, bars), &scale);
    levels(pen, clusters, (end, wide), per)
}

/// How many CPUs a cell is of: as few as it can be, or a few more if no cluster is cut by the edge of a cell then.
fn cpus_of_a_cell(clusters: &Clusters, across: f64) -> usize {
    let count = clusters.order.len().max(1);
    let most = ((across / LEAST) as usize).max(1);
    let least = count.div_ceil(most);
    let clusters = || clusters.levels.iter().flat_map(|level| &level.clusters);
    let is_whole = |per: &usize| {
        clusters().all(|c| {
            let is_within = c.start / per == (c.end - 1) / per;
            is_within || (c.start % per == 0 && (c.end % per == 0 || c.end == count))
        })
    };
    (least..2 * least).find(is_whole).unwrap_or(least)
}

/// The pairs of each cell with their rows of the table, columns before lines.
type Bins<'h> = BTreeMap<(usize, usize), Vec<(usize, &'h HeatCell)>>;

fn binned(heat: &Heat, per: usize) -> Bins<'_> {
    let mut bins = Bins::new();
    for (row, cell) in heat.cells.iter().enumerate() {
        bins.entry((cell.x / per, (cell.y + 1) / per)).or_default().push((row, cell));
    }
    bins
}

fn cpus_text(clusters: &Clusters, per: usize, at: usize) -> String {
    let cpus = clusters.order.iter().skip(at * per).take(per);
    ranges(&cpus.map(|&cpu| cpu as u32).collect::<Vec<_>>())
}

fn between(clusters: &Clusters, per: usize, (x, y): (usize, usize)) -> String {
    let [a, b] = [x, y].map(|at| cpus_text(clusters, per, at));
    if x == y { format!("within CPUs {a}") } else { format!("CPUs {a} and {b}") }
}

fn bin_text(heat: &Heat, bin: &[(usize, &HeatCell)], value: f64) -> String {
    let text = |value| in_unit(heat.value.quantity, value, |v| scaled_number(v, 1.0));
    match span(bin.iter().map(|(_, cell)| cell.value)) {
        Some((low, high)) if bin.len() > 1 => {
            format!(
                "median of {} pairs {}, {} to {}",
                bin.len(),
                text(value),
                text(low),
                text(high)
            )
        }
        _ => text(value),
    }
}

/// A square around each cluster, the wider the thicker.
fn outlines(pen: &mut Pen, clusters: &Clusters, area: &Area, (side, per): (f64, usize)) {
    let cpu = side / per as f64;
    for (at, level) in
        clusters.levels.iter().enumerate().filter(|(_, level)| is_outlined(level, per))
    {
        for cluster in &level.clusters {
            let [from, to] = [cluster.start, cluster.end].map(|place| cpu * place as f64);
            outline(pen, at, [area.left + from, area.top + from, to - from, to - from]);
        }
    }
}

/// Whether its clusters are larger than a cell.
fn is_outlined(level: &ClusterLevel, per: usize) -> bool {
    level.clusters.iter().any(|cluster| cluster.len() > per)
}

fn outline(pen: &mut Pen, level: usize, [x, y, wide, high]: [f64; 4]) {
    let corners = [(x, y), (x + wide, y), (x + wide, y + high), (x, y + high), (x, y)];
    let thick = 1.2 + 0.9 * level as f64;
    let look = |thick: f64| format!(r#" stroke-width="{thick:.1}" stroke-linecap="square""#);
    // On light and on dark cells.
    pen.polyline(&corners, pen.theme.ground(), &look(thick + 1.6));
    pen.polyline(&corners, pen.theme.ink(), &look(thick));
}

/// Numbers of the CPUs; gives the y below them.
fn names_of(
    pen: &mut Pen,
    heat: &Heat,
    clusters: &Clusters,
    (area, wide): (&Area, f64),
    side: f64,
    per: usize,
) -> f64 {
    let theme = pen.theme;
    let first: Vec<String> = clusters.order.iter().step_by(per).map(u64::to_string).collect();
    let widest = first.iter().map(|name| width(name, SMALL)).fold(0.0, f64::max);
    for (k, name) in
        first.iter().enumerate().step_by(((widest + 6.0) / side).ceil().max(1.0) as usize)
    {
        let at = (area.left + side * (k as f64 + 0.5), area.bottom + 15.0);
        pen.text(at, Anchor::Middle, SMALL, theme.soft(), name);
    }
    for (k, name) in
        first.iter().enumerate().step_by(((SMALL + 2.0) / side).ceil().max(1.0) as usize)
    {
        let at = (area.left - 7.0, area.top + side * (k as f64 + 0.5) + SMALL * 0.36);
        pen.text(at, Anchor::End, SMALL, theme.soft(), name);
    }
    label_left(pen, area, &heat.y_label);
    label_below(pen, (area, wide), &heat.x_label)
}

/// How many pairs have each colour, at its place on the scale.
fn distribution(pen: &mut Pen, heat: &Heat, (area, bars): (&Area, f64), scale: &Scale) {
    let mut counts = [0_usize; BINS];
    let shares = heat.cells.iter().filter_map(|cell| scale.share(cell.value));
    shares.for_each(|share| counts[((share * BINS as f64) as usize).min(BINS - 1)] += 1);
    let most = counts.iter().max().copied().unwrap_or(0).max(1) as f64;
    let (bottom, high) = scale_ends(area);
    let step = high / BINS as f64;
    let from = area.right + SCALE;
    for (at, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let y = bottom - step * (at as f64 + 1.0);
        // A single pair is seen, too.
        let long = (count as f64 / most * bars).max(1.0);
        pen.says(|| ["Pairs at this colour".to_owned(), count.to_string()]);
        pen.rect([from, y + 0.5, long, (step - 1.0).max(0.6)], pen.theme.soft());
        pen.mark_row(None);
    }
}

/// What the outlines are, and of how many CPUs a cell is; gives the y below.
fn levels(pen: &mut Pen, clusters: &Clusters, (top, wide): (f64, f64), per: usize) -> f64 {
    let theme = pen.theme;
    let mut y = top;
    let lines = clusters.lines();
    for (at, text) in lines.iter().enumerate() {
        let level = clusters.levels.get(at);
        let is_hidden = level.is_some_and(|level| !is_outlined(level, per));
        let text = &if is_hidden {
            format!("{text}; smaller than a cell, not outlined")
        } else {
            text.clone()
        };
        let indent = if level.is_some() && !is_hidden { 22.0 } else { 0.0 };
        if indent > 0.0 {
            outline(pen, at, [MARGIN + 2.0, y + 1.5, 11.0, 11.0]);
        }
        for line in wrap(text, SMALL, wide - 2.0 * MARGIN - indent) {
            y += SMALL;
            pen.text((MARGIN + indent, y), Anchor::Start, SMALL, theme.ink(), &line);
            y += 5.0;
        }
    }
    if per > 1 {
        let count = clusters.order.len();
        let text = format!(
            "{count} CPUs, {per} to a cell, named by the first: a cell is the median of up to {} pairs.",
            per * per
        );
        for line in wrap(&text, SMALL, wide - 2.0 * MARGIN) {
            y += SMALL;
            pen.text((MARGIN, y), Anchor::Start, SMALL, theme.soft(), &line);
            y += 5.0;
        }
    }
    y + 4.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::svg::{Look, draw_as, inline};
    use crate::chart::{Body, Chart, one};
    use compare::references::References;
    use model::story::core_to_core::PROBE;
    use model::synthetic::{self, core_to_core_row};

    /// So many CPUs in clusters of eight.
    fn chart_of(cpus: u64) -> Chart {
        let mut run = synthetic::run();
        let near = |y: u64, x: u64| if y / 8 == x / 8 { 30.0 } else { 110.0 };
        run.rows = vec![core_to_core_row(cpus, near)].into();
        let references = References::embedded().expect("references");
        one(&run, &references, PROBE).expect("a map")
    }

    fn clusters_of(chart: &Chart) -> &Clusters {
        let Body::Heat(heat) = &chart.body else { panic!("a map") };
        heat.clusters.as_ref().expect("of pairs")
    }

    #[test]
    fn a_cell_is_legible_whatever_the_number_of_cpus() {
        let chart = chart_of(256);
        for (across, expected) in [(2100.0, 1), (1100.0, 2), (620.0, 4), (250.0, 16)] {
            assert_eq!(cpus_of_a_cell(clusters_of(&chart), across), expected, "{across}");
        }
        for cpus in [3, 8, 64, 128, 256] {
            let chart = chart_of(cpus);
            for across in [230.0, 620.0, 1200.0] {
                let per = cpus_of_a_cell(clusters_of(&chart), across);
                let side = across / (cpus as usize).div_ceil(per) as f64;
                assert!(side >= LEAST, "{cpus} CPUs in {across}: {side}");
            }
        }
    }

    #[test]
    fn clusters_are_outlined_and_what_a_cell_stands_for_is_counted() {
        let chart = chart_of(256);
        assert_eq!(clusters_of(&chart).levels[0].clusters.len(), 32);
        let drawn = draw_as(&chart, &Look::default());
        // Each twice, as a light and a dark line, and once in the legend.
        assert_eq!(drawn.matches("<polyline").count(), 2 * (32 + 1));
        for text in
            ["cluster: 32 of 8 CPUs, 30.0 ns", "other pairs: 110 ns", "256 CPUs, 4 to a cell"]
        {
            assert!(drawn.contains(text), "{text}");
        }
        let page = inline(&chart, 940, "a").svg;
        assert!(page.contains(
            "data-tip=\"CPUs 0-3 and 4-7&#10;median of 16 pairs 30.0 ns, 30.0 ns to 30.0 ns\""
        ));
        assert!(page.contains("data-tip=\"within CPUs 0-3&#10;median of 6 pairs 30.0 ns"));
        // Each pair has two cells where a cell is a pair.
        let page = inline(&chart_of(8), 480, "a").svg;
        assert_eq!(page.matches(" data-n=\"0\"").count(), 2);
        assert!(!page.contains("to a cell"));
    }
}
