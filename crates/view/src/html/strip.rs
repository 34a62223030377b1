//! Strips of dots in a table: many figures on the axis that the head of their column names.

use super::PageContext;
use maud::{Markup, html};
use model::story::StripDot;

/// Dots in thousandths of the column; in one place they are piled up to this height, to both sides of the middle.
const THOUSANDTHS: f64 = 1000.0;
const PILE: usize = 3;
/// Closer than this many thousandths dots are in one place.
const PLACE: f64 = 6.0;
/// Marks at the ends of the axis: there are dots beyond it.
const BEYOND: [&str; 2] = ["M7 4l-7 6l7 6", "M993 4l7 6l-7 6"];

/// The names of places on the axis of a column.
pub(super) fn axis(ticks: &[(f64, String)]) -> Markup {
    html! {
        span.ticks {
            @for (share, name) in ticks { span style={ "left:" (share * 100.0) "%" } { (name) } }
        }
    }
}

/// A dot for each figure, all in one path: a fleet has tens of thousands of them. Those that stand out lie on
/// top, in another colour. What a dot is of, and its figure, stand in attributes, in the order of the dots: the
/// script reads them where a dot is pointed at.
pub(super) fn strip(dots: &[StripDot], place: PageContext) -> Markup {
    let marked: Vec<&StripDot> = dots.iter().filter(|dot| dot.is_marked).collect();
    let hrefs: Option<Vec<String>> =
        dots.iter().map(|dot| dot.link.as_ref().and_then(place.href)).collect();
    let (prefix, of) = hrefs.map(|hrefs| shortened(&hrefs)).unzip();
    let (unit, figures) = figures(dots);
    let ends = [dots.iter().any(|dot| dot.at < 0.0), dots.iter().any(|dot| dot.at > 1.0)];
    let beyond: String = BEYOND.iter().zip(ends).filter(|(_, is)| *is).map(|(d, _)| *d).collect();
    html! {
        svg.strip aria-hidden="true" width="100%" height="1.7em" viewBox="0 0 1000 20" preserveAspectRatio="none"
            data-to=[prefix] data-of=[of] data-figures=(figures) data-unit=[unit] {
            path d=(round_dots(dots.iter())) {}
            @if !marked.is_empty() { path.apart d=(round_dots(marked.into_iter())) {} }
            @if !beyond.is_empty() { path.beyond d=(beyond) {} }
        }
    }
}

/// What all links begin with, and the rest of each.
fn shortened(hrefs: &[String]) -> (String, String) {
    let first = hrefs.first().map_or("", String::as_str);
    let begins = |end: &usize| hrefs.iter().all(|href| href.get(..*end) == first.get(..*end));
    let ends = first.char_indices().map(|(end, _)| end);
    let common = ends.take_while(begins).last().unwrap_or(0);
    let rest: Vec<&str> = hrefs.iter().map(|href| &href[common..]).collect();
    (first[..common].trim_start_matches('#').to_owned(), rest.join(" "))
}

/// The unit, where all figures have the same, and the figures; else these with their units.
fn figures(dots: &[StripDot]) -> (Option<&str>, String) {
    let parts: Option<Vec<(&str, &str)>> =
        dots.iter().map(|dot| dot.figure.split_once(' ')).collect();
    let alike = parts.filter(|parts| parts.windows(2).all(|pair| pair[0].1 == pair[1].1));
    match alike.as_deref() {
        Some(parts @ [(_, unit), ..]) => {
            let numbers: Vec<&str> = parts.iter().map(|(number, _)| *number).collect();
            (Some(unit), numbers.join("|"))
        }
        _ => {
            let whole = dots.iter().map(|dot| dot.figure.replace('|', "/"));
            (None, whole.collect::<Vec<String>>().join("|"))
        }
    }
}

/// A line of no length, which a round end makes a dot, at each place; at an end of the axis what is beyond it.
fn round_dots<'d>(dots: impl Iterator<Item = &'d StripDot>) -> String {
    let (mut path, mut last, mut piled) = (String::new(), (0, 0), (f64::NEG_INFINITY, 0));
    for dot in dots {
        let x = (dot.at.clamp(0.0, 1.0) * THOUSANDTHS).round();
        piled = if x - piled.0 < PLACE { (piled.0, piled.1 + 1) } else { (x, 0) };
        // 0, 1 up, 1 down, 2 up ..., then again.
        let step = piled.1 % (2 * PILE + 1);
        let away = step.div_ceil(2) as i64 * 3;
        let y = if step.is_multiple_of(2) { 10 - away } else { 10 + away };
        path += &format!("m{} {}h0", x as i64 - last.0, y - last.1);
        last = (x as i64, y);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::story::Link;

    fn dot(at: f64, name: usize, figure: &str) -> StripDot {
        let link = Some(Link::Machine(name.to_string()));
        StripDot { at, is_marked: at > 0.9, figure: figure.into(), link }
    }

    #[test]
    fn every_dot_says_what_it_is_of_and_one_beyond_the_axis_is_marked() {
        let href = |link: &Link| match link {
            Link::Machine(name) => Some(format!("#host-{name}")),
            _ => None,
        };
        let place = PageContext { heading: 3, href: &href };
        let dots = [dot(0.2, 12, "1.00 ns"), dot(0.5, 17, "1.20 ns"), dot(1.5, 3, "2.00 ns")];
        let markup = strip(&dots, place).into_string();
        let has = |text: &str| assert!(markup.contains(text), "{text}: {markup}");
        has(r#"data-to="host-" data-of="12 17 3" data-figures="1.00|1.20|2.00" data-unit="ns""#);
        has(r#"<path d="m200 10h0m300 0h0m500 0h0"></path>"#);
        has(r#"<path class="apart" d="m1000 10h0">"#);
        has(r#"<path class="beyond" d="M993 4l7 6l-7 6">"#);
        let within = strip(&dots[..2], place).into_string();
        assert!(!within.contains("beyond") && !within.contains("apart"), "{within}");
    }

    #[test]
    fn figures_of_several_units_keep_them() {
        let several = [dot(0.1, 1, "999 ns"), dot(0.2, 2, "1.00 µs")];
        assert_eq!(figures(&several), (None, "999 ns|1.00 µs".to_owned()));
        assert_eq!(figures(&[dot(0.1, 1, "3")]), (None, "3".to_owned()));
        assert_eq!(
            shortened(&["#host-1".into(), "#host-12".into()]),
            ("host-".into(), "1 12".into())
        );
        assert_eq!(shortened(&["#host-7".into()]).0 + &shortened(&["#host-7".into()]).1, "host-7");
    }
}
