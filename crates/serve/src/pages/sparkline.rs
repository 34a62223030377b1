//! A row over time as a small picture. Styled by classes: the policy of the
//! pages allows no style in the markup.

use super::words::when;
use atlas::index::{KeptResult, KeptRun};
use maud::{Markup, html};
use model::estimate::Verdict;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 140.0;
const EDGE: f64 = 10.0;
/// Room for the numbers at the left.
const LEFT: f64 = 80.0;
/// Room for the dates below.
const BELOW: f64 = 22.0;

struct Dot {
    x: f64,
    y: f64,
    ends: [f64; 2],
    class: &'static str,
    /// Quiet as the newest is, or typical as that.
    of_the_line: bool,
}

/// The figures with their intervals over time; nothing for fewer than two. The
/// line leads through those of the newest one's kind: a typical figure is
/// another quantity than a quiet one. Changes of the level are marked.
pub(super) fn sparkline(history: &[(KeptRun, KeptResult)], changes: &[u64]) -> Markup {
    let known: Vec<(u64, [f64; 3], bool, bool)> = history
        .iter()
        .filter(|(_, result)| result.below_ns.is_none())
        .filter_map(|(run, result)| {
            let value = result.value?;
            let all = [value.value, value.low, value.high].map(|ns| result.unit.of_ns(ns));
            let drawn = all.iter().all(|number| number.is_finite());
            let ok = result.verdict == Some(Verdict::Ok);
            drawn.then_some((run.started_unix_ms, all, ok, result.quiet))
        })
        .collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else {
        return html! {};
    };
    if known.len() < 2 {
        return html! {};
    }
    let numbers = || known.iter().flat_map(|(_, all, ..)| all.iter().copied());
    let low = numbers().fold(f64::INFINITY, f64::min);
    let high = numbers().fold(f64::NEG_INFINITY, f64::max);
    let times = (first.0 as f64, last.0 as f64);
    let share = |value: f64, low: f64, high: f64| match high > low {
        true => (value - low) / (high - low),
        false => 0.5,
    };
    let to_x = |ms: u64| LEFT + share(ms as f64, times.0, times.1) * (WIDTH - LEFT - EDGE);
    let to_y = |v: f64| EDGE + (1.0 - share(v, low, high)) * (HEIGHT - EDGE - BELOW);
    let dots: Vec<Dot> = known
        .iter()
        .map(|&(ms, [value, low, high], ok, quiet)| Dot {
            x: to_x(ms),
            y: to_y(value),
            ends: [to_y(low), to_y(high)],
            class: match (quiet == last.3, ok) {
                (false, _) => "other",
                (true, true) => "point",
                (true, false) => "unsure",
            },
            of_the_line: quiet == last.3,
        })
        .collect();
    let corner = |dot: &Dot| format!("{:.1},{:.1}", dot.x, dot.y);
    let line = || dots.iter().filter(|dot| dot.of_the_line);
    let path: Vec<String> = line().map(corner).collect();
    let others = dots.len() - line().count();
    let number = |v: f64| format!("{v:.1}");
    let Some((_, result)) = history.last() else {
        return html! {};
    };
    let in_unit = |v: f64| model::figure::value(&result.unit, v);
    let kind = match (others, last.3) {
        (0, _) => String::new(),
        (n, true) => format!(" (quiet ones in a line, {n} typical beside it)"),
        (n, false) => format!(" (typical ones in a line, {n} quiet beside it)"),
    };
    let label = format!(
        "{} figures{kind} from {} to {}, between {} and {}",
        known.len(),
        when(first.0),
        when(last.0),
        in_unit(low),
        in_unit(high)
    );
    html! {
        svg.spark role="img" aria-label=(label) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } {
            text x=(LEFT - 8.0) y=(EDGE + 5.0) text-anchor="end" { (in_unit(high)) }
            text x=(LEFT - 8.0) y=(HEIGHT - BELOW) text-anchor="end" { (in_unit(low)) }
            text x=(LEFT) y=(HEIGHT - 4.0) { (day(first.0)) }
            text x=(WIDTH - EDGE) y=(HEIGHT - 4.0) text-anchor="end" { (day(last.0)) }
            @for change in changes {
                line.change x1=(number(to_x(*change))) x2=(number(to_x(*change))) y1=(EDGE) y2=(HEIGHT - BELOW) {}
            }
            polyline.path points=(path.join(" ")) {}
            @for dot in &dots {
                line.range x1=(number(dot.x)) x2=(number(dot.x)) y1=(number(dot.ends[0])) y2=(number(dot.ends[1])) {}
                circle class=(dot.class) cx=(number(dot.x)) cy=(number(dot.y)) r="3.5" {}
            }
        }
    }
}

fn day(unix_ms: u64) -> String {
    let text = when(unix_ms);
    text.split(' ').next().unwrap_or(&text).to_owned()
}
