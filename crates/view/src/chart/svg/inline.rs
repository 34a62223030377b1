//! Pictures in a page: the body alone, in the page's colours. Heading, legend,
//! notes and the table of figures are HTML there; marks name their row of that
//! table, which is what a pointer over them shows.

use super::frame::{MARGIN, Room, sample};
use super::legend::LegendEntry;
use super::pen::Pen;
use super::{Body, Chart, body};

/// Cut off at both sides, where a document of its own has its margin.
const CUT: f64 = MARGIN - 12.0;

/// Height of curves that are not as wide as a page.
const LINES: f64 = 360.0;

/// A picture for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inline {
    pub svg: String,
    /// Names of what the picture's script can hide, each with a sample of how
    /// it is drawn, as SVG. The element's parts have their place as `data-s`.
    pub legend: Vec<(String, String)>,
}

/// Draws a picture so wide for a page in which no other has this id.
pub fn inline(chart: &Chart, width: u32, id: &str) -> Inline {
    let lines = matches!(chart.body, Body::Lines(_));
    let high = (lines && width < 800).then_some(LINES);
    drawn(chart, (width, high), id)
}

/// The same, as high as asked.
pub(crate) fn inline_of_height(chart: &Chart, (width, high): (u32, f64), id: &str) -> Inline {
    drawn(chart, (width, Some(high)), id)
}

fn drawn(chart: &Chart, (width, high): (u32, Option<f64>), id: &str) -> Inline {
    let mut pen = Pen::inline(id);
    let wide = f64::from(width);
    let room = Room { wide, top: 0.0, high };
    let bottom = body(&mut pen, chart, room);
    let legend = std::mem::take(&mut pen.legend);
    Inline {
        svg: grouped(&pen.element((wide, bottom), CUT, chart)),
        legend: legend.into_iter().map(|entry| (entry.name.clone(), sample_of(&entry))).collect(),
    }
}

/// Attributes that elements have in common with those after them.
const COMMON: [&str; 8] = [
    "fill",
    "fill-opacity",
    "font-size",
    "stroke",
    "stroke-dasharray",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
];
/// Elements from which on a group is shorter.
const SHORTER: usize = 3;

/// The same drawing, shorter: how elements in a row look stands once, in a group
/// around them, and what names a row of the table is a mark without being called one.
fn grouped(svg: &str) -> String {
    let lines: Vec<String> = svg.lines().map(unmarked).collect();
    let lines: Vec<(&str, String)> = lines.iter().map(|l| (l.as_str(), look(l))).collect();
    let mut text = String::with_capacity(svg.len());
    for alike in lines.chunk_by(|(_, a), (_, b)| a == b) {
        let look = &alike[0].1;
        let is_group = alike.len() >= SHORTER && !look.is_empty();
        if is_group {
            text += &format!("<g{look}>");
        }
        for (line, _) in alike {
            text += &if is_group { without(line) } else { format!("{line}\n") };
        }
        if is_group {
            text += "</g>\n";
        }
    }
    text
}

fn unmarked(line: &str) -> String {
    match line.contains(" data-n=") {
        true => line.replacen(r#" class="mark""#, "", 1),
        false => line.into(),
    }
}

/// The attributes by which an element that stands alone in a line looks as it
/// does; empty of any other line.
fn look(line: &str) -> String {
    let is_alone = line.ends_with("/>") || line.ends_with("</text>");
    let is_shape = !line.starts_with("<g") && !line.starts_with("<clipPath");
    match line.split_once('>') {
        Some((head, _)) if is_alone && is_shape && line.matches('<').count() <= 2 => {
            attributes(head).filter(|a| is_common(a)).collect()
        }
        _ => String::new(),
    }
}

/// An element without those attributes.
fn without(line: &str) -> String {
    let Some((head, rest)) = line.split_once('>') else {
        return line.into();
    };
    let end = if head.ends_with('/') { "/" } else { "" };
    let name = head.split(' ').next().unwrap_or(head);
    let own: String = attributes(head).filter(|a| !is_common(a)).collect();
    format!("{name}{own}{end}>{rest}")
}

/// The attributes of a tag, each with the space before it. No value of ours has
/// a quotation mark.
fn attributes(head: &str) -> impl Iterator<Item = &str> {
    let mut rest = head.find(' ').map_or("", |start| &head[start..]);
    std::iter::from_fn(move || {
        let open = rest.find('"')? + 1;
        let close = open + rest.get(open..)?.find('"')? + 1;
        let (one, others) = rest.split_at(close);
        rest = others;
        Some(one)
    })
}

fn is_common(attribute: &str) -> bool {
    let name = attribute.trim_start().split('=').next().unwrap_or("");
    COMMON.contains(&name)
}

fn sample_of(entry: &LegendEntry) -> String {
    let mut pen = Pen::default();
    sample(&mut pen, entry, (0.0, 7.0));
    let body = pen.body();
    format!(r#"<svg viewBox="0 0 22 14" width="22" height="14" aria-hidden="true">{body}</svg>"#)
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn what_elements_in_a_row_have_in_common_stands_once() {
        let mark = |x: u32, more: &str| {
            format!(r#"<circle class="mark" cx="{x}" fill="red"{more} data-n="{x}"/>"#)
        };
        let svg = [
            r#"<g fill="none">"#.to_owned(),
            mark(1, ""),
            mark(2, ""),
            mark(3, ""),
            mark(4, r#" stroke="blue""#),
            r#"<text x="1" fill="red">a &gt; b</text>"#.into(),
            "</g>".into(),
        ];
        let expected = [
            r#"<g fill="none">"#,
            r#"<g fill="red"><circle cx="1" data-n="1"/><circle cx="2" data-n="2"/><circle cx="3" data-n="3"/></g>"#,
            r#"<circle cx="4" fill="red" stroke="blue" data-n="4"/>"#,
            r#"<text x="1" fill="red">a &gt; b</text>"#,
            "</g>",
        ];
        assert_eq!(grouped(&svg.join("\n")).trim_end(), expected.join("\n"));
    }
}
