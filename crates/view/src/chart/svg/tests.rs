//! SVG as others read it: well-formed, with a mark for each figure, where the
//! figure is.

use super::*;
use crate::chart::{
    Axis, Band, BarPart, Bars, ChartLine, CurveKind, Dot, Dots, Heat, HeatCell, Lines, Mark, Other,
    Point, Quantity, Section, Stretches, figure, of_run, pdf, png,
    tests::{other_run, run_with_gaps},
};
use compare::references::References;
use model::estimate::Verdict;
use roxmltree::{Document, Node};

fn charts() -> Vec<Chart> {
    let references = References::embedded().expect("references");
    let run = run_with_gaps();
    of_run(&run, &references, &[other_run(&run, &run)])
}

fn parsed(svg: &str) -> Document<'_> {
    Document::parse(svg).unwrap_or_else(|e| panic!("{e}:\n{svg}"))
}

fn marks<'d>(document: &'d Document) -> Vec<Node<'d, 'd>> {
    let marked = |n: &Node| n.attribute("class") == Some("mark");
    document.descendants().filter(marked).collect()
}

fn texts(document: &Document) -> Vec<String> {
    let text = |n: Node| n.is_element() && n.tag_name().name() == "text";
    let all = document.descendants().filter(|n| text(*n));
    all.filter_map(|n| n.text().map(str::to_owned)).collect()
}

fn point(x: f64, y: f64, verdict: Verdict) -> Point {
    Point { x, y, low: Some(y * 0.9), high: Some(y * 1.1), verdict: Some(verdict) }
}

fn chart_with(body: Body) -> Chart {
    Chart {
        id: "a".into(),
        title: "A picture".into(),
        caption: "What is to be seen.".into(),
        section: Section::Memory,
        body,
        notes: vec!["A note.".into()],
    }
}

fn curve(points: Vec<Point>) -> Chart {
    chart_with(Body::Lines(Lines::new(
        figure::log("x", Quantity::Bytes),
        figure::log("y", Quantity::Nanoseconds),
        vec![figure::joined("a curve", CurveKind::Measured, points)],
    )))
}

#[test]
fn every_picture_is_well_formed_in_both_themes() {
    let charts = charts();
    assert!(charts.len() > 15, "{}", charts.len());
    for chart in &charts {
        for theme in [Theme::Light, Theme::Dark] {
            let svg = to_svg(chart, theme);
            let document = parsed(&svg);
            let root = document.root_element();
            assert_eq!(root.attribute("role"), Some("img"));
            let named = |name: &str| {
                let found = root.children().find(|n| n.tag_name().name() == name);
                found.and_then(|n| n.text().map(str::to_owned))
            };
            assert_eq!(named("title").as_deref(), Some(chart.title.as_str()));
            assert!(named("desc").is_some_and(|d| d.starts_with(&chart.caption)));
            for word in ["NaN", "inf", "<script", "href"] {
                assert!(!svg.contains(word), "{word} in {}", chart.id);
            }
            assert!(!marks(&document).is_empty() || svg.matches("<rect").count() > 3);
        }
    }
}

/// Left, right, top and bottom of each text that is as wide as in the widest of
/// the fonts.
fn extents<'d>(document: &'d Document) -> Vec<(&'d str, [f64; 4])> {
    // In a page what several have in common stands in a group around them.
    let given = |node: &Node<'d, 'd>, name: &str| node.ancestors().find_map(|n| n.attribute(name));
    let number = |node: &Node<'d, 'd>, name: &str| -> f64 {
        given(node, name).unwrap_or("0").parse().expect("a number")
    };
    let texts = document.descendants().filter(|n| n.has_tag_name("text"));
    let of = |node: Node<'d, 'd>| {
        let words = node.text().unwrap_or_default();
        let size = number(&node, "font-size");
        let wide = pen::width(words, size);
        assert!(size > 5.0, "{words}");
        let from = match given(&node, "text-anchor") {
            Some("middle") => -wide / 2.0,
            Some("end") => -wide,
            _ => 0.0,
        };
        // What DejaVu Sans has above and below its line.
        let (up, down) = (size * 0.93, size * 0.24);
        let extent = match node.attribute("transform") {
            None => {
                let (x, y) = (number(&node, "x"), number(&node, "y"));
                [x + from, x + from + wide, y - up, y + down]
            }
            Some(upright) => {
                let place = upright.trim_start_matches("translate(");
                let (x, rest) = place.split_once(' ').expect("two numbers");
                let (y, _) = rest.split_once(')').expect("an end");
                let [x, y]: [f64; 2] = [x, y].map(|n| n.parse().expect("a number"));
                [x - up, x + down, y - from - wide, y - from]
            }
        };
        (words, extent)
    };
    texts.map(of).collect()
}

#[test]
fn no_label_is_cut_off() {
    let px = |width| Look { width, ..Look::default() };
    let paper = |width, bare| Look { unit: Unit::Paper, bare, ..px(width) };
    // The last numbers of both axes stand at their ends.
    let to_the_ends = [3.0, 77.0, 96.2].map(|most| {
        chart_with(Body::Bars(Bars {
            label: "how many".into(),
            categories: ["short", "medium", "long"].map(String::from).to_vec(),
            value: figure::linear("how many", Quantity::Count),
            parts: vec![BarPart {
                name: "all".into(),
                colour: None,
                values: vec![Some(most), Some(2.0), Some(1.0)],
            }],
            lying: false,
            apart: 0,
            stretches: Some(Stretches {
                axis: figure::log("length", Quantity::Nanoseconds),
                edges: vec![1e3, 1e4, 1e5, 1e6],
            }),
        }))
    });
    let curves_to_the_ends = [77.0, 96.2].map(|most| {
        let point = |y| Point::bare(y, y);
        let points = [1.0, most].map(point).to_vec();
        let axis = || figure::linear("how many", Quantity::Count);
        let curve = figure::joined("all", CurveKind::Measured, points);
        chart_with(Body::Lines(Lines::new(axis(), axis(), vec![curve])))
    });
    for chart in charts().iter().chain(&to_the_ends).chain(&curves_to_the_ends) {
        let documents = [px(320.0), px(860.0), px(1400.0), paper(250.0, false), paper(354.0, true)]
            .map(|look| draw_as(chart, &look));
        let in_pages = [390, 480, 940].map(|wide| inline(chart, wide, "a").svg);
        for svg in documents.iter().chain(&in_pages) {
            let document = parsed(svg);
            let seen = document.root_element().attribute("viewBox");
            let seen: Vec<f64> = seen
                .expect("a view box")
                .split(' ')
                .map(|n| n.parse().expect("a number"))
                .collect();
            let (right, bottom) = (seen[0] + seen[2], seen[1] + seen[3]);
            for (words, [from, to, top, low]) in extents(&document) {
                let fits = from >= seen[0] && to <= right && top >= seen[1] && low <= bottom;
                let place = format!("{from:.1} to {to:.1}, {top:.1} to {low:.1}");
                assert!(fits, "{}: {words:?} at {place} of {seen:?}", chart.id);
            }
        }
    }
}

#[test]
fn a_picture_for_paper_has_its_size_and_legible_text() {
    for chart in &charts() {
        for bare in [false, true] {
            let look = Look {
                unit: Unit::Paper,
                width: 250.0 / Unit::Paper.pt(),
                bare,
                ..Look::default()
            };
            let svg = draw_as(chart, &look);
            let document = parsed(&svg);
            let root = document.root_element();
            assert_eq!(root.attribute("width"), Some("250.00pt"));
            for text in document.descendants().filter(|n| n.has_tag_name("text")) {
                let units = text.attribute("font-size").expect("a size");
                let pt = units.parse::<f64>().expect("a number") * Unit::Paper.pt();
                assert!((7.0..=9.0).contains(&pt), "{}: {pt}", chart.id);
            }
            let texts = texts(&document);
            let titled = texts.iter().any(|text| chart.title.starts_with(text.as_str()));
            assert_eq!(titled, !bare, "{}: {texts:?}", chart.id);
            let ground = |n: Node| n.has_tag_name("rect") && n.attribute("x").is_none();
            assert_eq!(root.children().any(ground), !bare);
        }
    }
}

#[test]
fn curves_differ_in_mark_or_dash() {
    let line = |name: &str, is| figure::joined(name, is, vec![Point::bare(1.0, 2.0)]);
    let mut series: Vec<ChartLine> =
        (0..6).map(|at| line(&format!("{at}"), CurveKind::Measured)).collect();
    for run in ["a", "b", "c"] {
        let of = |at: &str| line(&format!("{at}: {run}"), CurveKind::Reference);
        series.extend([of("0"), of("1")]);
    }
    let count = series.len();
    let axis = || figure::log("x", Quantity::Bytes);
    let body = Body::Lines(Lines::new(axis(), axis(), series));
    let legend = inline(&chart_with(body), 800, "a").legend;
    let mut looks: Vec<String> =
        legend.into_iter().map(|(_, sample)| without_colours(&sample)).collect();
    looks.sort();
    looks.dedup();
    assert_eq!(looks.len(), count, "{looks:?}");
    let mut marks: Vec<String> = (0..pen::SHAPES)
        .map(|shape| {
            let mut pen = Pen::new(Theme::Light);
            let paint = pen::Paint { stroke: "none", fill: "none" };
            pen.mark(shape, (0.0, 0.0), 10.0, &paint);
            pen.body()
        })
        .collect();
    marks.sort();
    marks.dedup();
    assert_eq!(marks.len(), pen::SHAPES);
}

/// A drawing as in grey of one lightness.
fn without_colours(svg: &str) -> String {
    let parts = svg.split("var(--c");
    let rest = |part: &str| part.get(1..).unwrap_or_default().to_owned();
    parts.map(rest).collect()
}

/// Every figure of a curve has its mark, besides that of the legend.
#[test]
fn there_are_as_many_marks_as_figures() {
    let chart = curve(vec![
        point(1024.0, 1.0, Verdict::Ok),
        point(4096.0, 4.0, Verdict::Noisy),
        point(16384.0, 16.0, Verdict::Ok),
        point(65536.0, -1.0, Verdict::Ok),
    ]);
    for theme in [Theme::Light, Theme::Dark] {
        let svg = to_svg(&chart, theme);
        let document = parsed(&svg);
        let marks = marks(&document);
        // What is not above 0 has no place.
        assert_eq!(marks.len(), 3 + 1);
        let hollow = |n: &&Node| n.attribute("fill") == Some(theme.ground());
        assert_eq!(marks.iter().filter(hollow).count(), 1);
        // Equal factors are equal distances.
        let place = |n: &Node, name: &str| -> f64 {
            n.attribute(name).expect("a place").parse().expect("a number")
        };
        for name in ["cx", "cy"] {
            let at: Vec<f64> = marks[1..].iter().map(|n| place(n, name)).collect();
            let steps = [at[1] - at[0], at[2] - at[1]];
            assert!((steps[0] - steps[1]).abs() < 0.25, "{at:?}");
            assert_eq!(steps[0] > 0.0, name == "cx", "{at:?}");
        }
    }
}

#[test]
fn intervals_are_drawn_to_scale_and_cut_at_the_axis() {
    let whiskers = |svg: &str| -> Vec<(f64, f64)> {
        let document = parsed(svg);
        let thin = |n: &Node| n.attribute("stroke-opacity").is_some();
        let all = document.descendants().filter(thin);
        all.map(|n| {
            let at = |name: &str| -> f64 {
                n.attribute(name).expect("a place").parse().expect("a number")
            };
            (at("y1"), at("y2"))
        })
        .collect()
    };
    let mut points = vec![point(1024.0, 1.0, Verdict::Ok), point(4096.0, 10.0, Verdict::Ok)];
    points[0].low = Some(0.5);
    points[0].high = Some(2.0);
    let svg = to_svg(&curve(points.clone()), Theme::Light);
    let first = whiskers(&svg)[0];
    assert!(first.0 > first.1);
    assert!(!svg.contains("beyond the axis"));
    points[0].low = Some(-3.0);
    points[0].high = None;
    let svg = to_svg(&curve(points), Theme::Light);
    let cut = whiskers(&svg)[0];
    assert!(cut.0 - cut.1 > (first.0 - first.1) * 1.5, "{cut:?} {first:?}");
    assert!(svg.contains("beyond the axis are cut"), "{svg}");
}

#[test]
fn strings_from_elsewhere_stay_text() {
    const BAD: &str = "</text><script>alert('x')</script>&\"\u{1}";
    let bad = || BAD.to_owned();
    let axis = || Axis { label: bad(), quantity: Quantity::Count, log: true, from_zero: true };
    let bodies = [
        Body::Lines(Lines {
            x: axis(),
            y: axis(),
            series: vec![ChartLine {
                name: bad(),
                is: CurveKind::Measured,
                points: vec![point(1.0, 1.0, Verdict::Ok)],
                joined: true,
            }],
            bands: vec![Band { name: bad(), figure: bad(), from: 1.0, to: 2.0 }],
            marks: vec![Mark { name: bad(), x: 1.0 }],
        }),
        Body::Bars(Bars {
            label: bad(),
            categories: vec![bad()],
            value: axis(),
            parts: vec![
                BarPart { name: bad(), colour: None, values: vec![Some(3.0)] },
                BarPart { name: bad(), colour: None, values: vec![None] },
            ],
            lying: true,
            apart: 0,
            stretches: None,
        }),
        Body::Heat(Heat {
            x_label: bad(),
            x: vec![bad()],
            y_label: bad(),
            y: vec![bad()],
            value: axis(),
            cells: vec![HeatCell { x: 0, y: 0, value: 2.0, low: None, high: None, verdict: None }],
            clusters: None,
        }),
        Body::Dots(Dots {
            labelled: false,
            value: axis(),
            rows: vec![Dot {
                id: bad(),
                value: None,
                low: None,
                high: None,
                verdict: None,
                reason: bad(),
                others: vec![Other { name: bad(), value: 2.0 }],
                finding: None,
            }],
        }),
        Body::Lanes(crate::chart::Lanes {
            x: axis(),
            length_ns: 10.0,
            lanes: vec![crate::chart::Lane {
                name: bad(),
                states: Vec::new(),
                signposts: vec![(1.0, 9.0, bad())],
                calls: vec![crate::chart::LaneSpan {
                    from_ns: 0.0,
                    to_ns: 10.0,
                    share: 1.0,
                    name: bad(),
                }],
                memory: Vec::new(),
            }],
        }),
    ];
    for body in bodies {
        let chart = Chart { title: bad(), caption: bad(), notes: vec![bad()], ..chart_with(body) };
        let look = Look { footer: BAD, width: 6000.0, ..Look::default() };
        let svg = draw_as(&chart, &look);
        let document = parsed(&svg);
        let scripts = document.descendants().filter(|n| n.has_tag_name("script"));
        assert_eq!(scripts.count(), 0, "{svg}");
        let shown = BAD.replace('\u{1}', "\u{fffd}");
        let texts = texts(&document);
        assert!(texts.iter().filter(|t| t.contains(&shown)).count() >= 4, "{texts:?}");
    }
}

#[test]
fn a_part_below_0_goes_back() {
    let chart = charts().into_iter().find(|c| c.id == "thread.lifecycle");
    let svg = to_svg(&chart.expect("the picture"), Theme::Light);
    let document = parsed(&svg);
    let number = |n: Node, name: &str| -> f64 {
        n.attribute(name).expect("a place").parse().expect("a number")
    };
    // The boxes of the legend, then those of the first line.
    let boxes: Vec<(f64, f64, f64)> = document
        .descendants()
        .filter(|n| n.has_tag_name("rect") && n.attribute("fill") != Some("#ffffff"))
        .map(|n| (number(n, "x"), number(n, "width"), number(n, "height")))
        .skip(5)
        .take(5)
        .collect();
    let [create, start, procedure, ..] = boxes[..] else {
        panic!("{boxes:?}");
    };
    assert!(start.0 < create.0 + create.1, "{boxes:?}");
    assert!(start.2 < create.2, "thinner: {boxes:?}");
    // The procedure begins where the start went back to.
    assert!((procedure.0 - start.0).abs() < 0.2, "{boxes:?}");
    let per_ns = create.1 / 30_400.0;
    assert!((procedure.1 - 121_000.0 * per_ns).abs() < 0.3, "{boxes:?}");
}

#[test]
fn a_height_is_kept_where_there_is_room() {
    for chart in &charts() {
        let look = Look { height: Some(1000.0), ..Look::default() };
        let svg = draw_as(chart, &look);
        let document = parsed(&svg);
        let height = document.root_element().attribute("height").expect("height");
        let height: f64 = height.parse().expect("a number");
        let many = matches!(&chart.body, Body::Dots(dots) if dots.rows.len() > 20);
        // Cells of pairs are squares.
        let squares = matches!(&chart.body, Body::Heat(heat) if heat.clusters.is_some());
        let about = (height - 1000.0).abs() < 1.5 || (squares && height < 1000.0);
        assert!(about || many, "{}: {height}", chart.id);
    }
}

#[test]
fn a_png_is_the_svg_in_pixels_with_its_text() {
    let plain = curve(vec![point(1024.0, 1.0, Verdict::Ok), point(4096.0, 4.0, Verdict::Ok)]);
    let untitled = Chart { title: " ".into(), ..plain.clone() };
    let image = |chart: &Chart| {
        let bytes = png(&to_svg(chart, Theme::Light), Unit::Pixel, 192.0).expect("a PNG");
        tiny_skia::Pixmap::decode_png(&bytes).expect("a PNG")
    };
    let (image, without) = (image(&plain), image(&untitled));
    assert_eq!(image.width(), 2 * WIDTH as u32);
    let dark = |image: &tiny_skia::Pixmap| {
        let top = 90 * image.width() as usize;
        let dark = |p: &&tiny_skia::PremultipliedColorU8| p.red() < 100;
        image.pixels()[..top].iter().filter(dark).count()
    };
    // The letters of the title are there without any font of the system.
    assert!(dark(&image) > dark(&without) + 200, "{}", dark(&image));
    let too_large = png(&to_svg(&plain, Theme::Light), Unit::Pixel, 1e6);
    assert!(matches!(too_large, Err(crate::chart::PaintError::Size { .. })));
}

/// What stands between two words of a file, from a place on.
fn between<'b>(bytes: &'b [u8], words: [&str; 2]) -> Option<&'b [u8]> {
    let find =
        |bytes: &[u8], word: &str| bytes.windows(word.len()).position(|w| w == word.as_bytes());
    let rest = &bytes[find(bytes, words[0])? + words[0].len()..];
    Some(&rest[..find(rest, words[1])?])
}

#[test]
fn a_pdf_has_the_size_of_the_picture_its_texts_and_its_font() {
    for chart in &charts() {
        let look = Look {
            unit: Unit::Paper,
            width: 250.0 / Unit::Paper.pt(),
            bare: true,
            ..Look::default()
        };
        let svg = draw_as(chart, &look);
        let file = pdf(&svg, Unit::Paper).expect("a PDF");
        assert_eq!(file, pdf(&svg, Unit::Paper).expect("a PDF"));
        assert!(file.starts_with(b"%PDF-1.7"));
        let has = |word| file.windows(str::len(word)).any(|w| w == word.as_bytes());
        assert!(has("/FontFile2") && has("/ToUnicode"), "{}", chart.id);
        let size = between(&file, ["/MediaBox [", "]"]).expect("a size");
        let size: Vec<f64> = String::from_utf8_lossy(size)
            .split_whitespace()
            .map(|n| n.parse().expect("a number"))
            .collect();
        assert!((size[2] - 250.0).abs() < 0.1, "{size:?}");
        let drawn = between(&file, ["stream\n", "\nendstream"]).expect("a stream");
        let drawn = miniz_oxide::inflate::decompress_to_vec_zlib(drawn).expect("a stream");
        let drawn = String::from_utf8_lossy(&drawn);
        let document = parsed(&svg);
        let written =
            document.descendants().filter(|n| n.has_tag_name("text") && n.text().is_some());
        let operators = |name: &str| drawn.lines().filter(|line| line.ends_with(name)).count();
        assert_eq!(operators(" Tj"), written.count(), "{}", chart.id);
        assert_eq!(operators("q"), operators("Q"), "{}", chart.id);
    }
}

#[test]
fn small_pictures_as_they_are() {
    let charts = charts();
    for id in ["memory.core_to_core", "thread.lifecycle"] {
        let chart = charts.iter().find(|c| c.id == id).expect("a picture");
        insta::assert_snapshot!(id.replace('.', "_"), to_svg(chart, Theme::Light));
    }
    let chart = chart_with(Body::Dots(Dots {
        labelled: false,
        value: figure::log("time", Quantity::Nanoseconds),
        rows: vec![
            Dot {
                id: "a.row".into(),
                value: Some(3.61),
                low: Some(3.5),
                high: Some(3.7),
                verdict: Some(Verdict::Ok),
                reason: String::new(),
                others: vec![Other { name: "2012".into(), value: 7.0 }],
                finding: None,
            },
            Dot {
                id: "a.doubtful/row".into(),
                value: Some(120.0),
                low: Some(90.0),
                high: Some(160.0),
                verdict: Some(Verdict::Noisy),
                reason: "worker processes disagree".into(),
                others: Vec::new(),
                finding: None,
            },
            Dot {
                id: "not.here".into(),
                reason: "not available here: none".into(),
                ..Dot::default()
            },
        ],
    }));
    insta::assert_snapshot!("dots", to_svg(&chart, Theme::Dark));
}

/// How much of the width lies between the first and the last line of the grid.
fn plot_share(chart: &Chart, look: &Look) -> f64 {
    let svg = draw_as(chart, look);
    let document = parsed(&svg);
    let grid =
        |n: &roxmltree::Node| n.has_tag_name("line") && n.attribute("stroke") == Some("#e3e5e8");
    let x = |n: roxmltree::Node| n.attribute("x1").and_then(|x| x.parse::<f64>().ok());
    let xs: Vec<f64> = document.descendants().filter(grid).filter_map(x).collect();
    let ends = crate::axis::span(xs).expect("a grid");
    (ends.1 - ends.0) / look.width
}

#[test]
fn a_narrow_picture_of_long_names_keeps_its_plot_and_the_names() {
    let name = "a well-known operation with a long name and its mode";
    let dot = |at: usize| Dot {
        id: format!("{name} {at}"),
        value: Some(10_f64.powi(at as i32)),
        ..Dot::default()
    };
    let body = Dots::new(figure::log("time", Quantity::Nanoseconds), (0..6).map(dot).collect());
    let chart = chart_with(Body::Dots(body));
    for look in [
        Look { unit: Unit::Paper, bare: true, width: 354.0, ..Look::default() },
        Look { unit: Unit::Paper, width: 354.0, ..Look::default() },
        Look { width: 390.0, ..Look::default() },
    ] {
        let share = plot_share(&chart, &look);
        assert!(share >= 0.5, "{share} of {}", look.width);
        let svg = draw_as(&chart, &look);
        assert!(!svg.contains('…'), "names are whole");
    }
}

#[test]
fn a_long_picture_has_its_axis_above_too() {
    let dot = |at: usize| Dot {
        id: format!("row {at}"),
        value: Some(10_f64.powi(at as i32 % 3)),
        ..Dot::default()
    };
    let ticks = |rows: usize| {
        let body =
            Dots::new(figure::log("time", Quantity::Nanoseconds), (0..rows).map(dot).collect());
        draw_as(&chart_with(Body::Dots(body)), &Look::default()).matches(">10 ns<").count()
    };
    // The second figure is one of the numbers at the right.
    assert_eq!((ticks(8), ticks(100)), (1, 2));
}

#[test]
fn the_old_curve_lies_behind_ours_and_is_paler_dashed_too() {
    let points = || vec![point(1.0, 2.0, Verdict::Ok), point(4.0, 3.0, Verdict::Ok)];
    let line = |name: &str, is| ChartLine { name: name.into(), is, points: points(), joined: true };
    let axis =
        || Axis { label: "x".into(), quantity: Quantity::Count, log: true, from_zero: false };
    let series = vec![line("time", CurveKind::Measured), line("time: old", CurveKind::Reference)];
    let svg = to_svg(&chart_with(Body::Lines(Lines::new(axis(), axis(), series))), Theme::Light);
    let document = parsed(&svg);
    let curves: Vec<Node> =
        document.descendants().filter(|node| node.has_tag_name("polyline")).collect();
    let dashes = |node: &Node| node.attribute("stroke-dasharray").is_some();
    assert_eq!(curves.iter().map(dashes).collect::<Vec<_>>(), [true, false], "{svg}");
    assert!(curves[0].attribute("stroke-opacity").is_some());
    let faint = |node: &Node| node.ancestors().any(|group| group.attribute("opacity").is_some());
    // Those of the legend are as they are.
    let of_plot = |node: &&Node| node.ancestors().any(|group| group.has_attribute("clip-path"));
    let found: Vec<bool> = marks(&document).iter().filter(of_plot).map(faint).collect();
    assert_eq!(found, [true, true, false, false], "{svg}");
}
