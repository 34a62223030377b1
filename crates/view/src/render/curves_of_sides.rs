//! Curves of two runs that are compared, one behind the other.

use crate::chart::{Body, CurveKind, OtherRun, Picture, pictures};
use compare::references::References;
use model::run::Run;
use model::story::{Block, levels};

/// The pictures of curves that both runs have, the second one's with the first one's behind: of
/// memory, or of all rows.
pub fn curves_of_sides(
    [(old_name, old), (new_name, new)]: [(&str, &Run); 2],
    all: bool,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Block> {
    // Only pictures of comparisons look at it.
    let comparison = Err("not asked for".to_owned());
    let other = OtherRun { name: old_name.to_owned(), run: old, comparison };
    let (drawn, _) = pictures(new, &References::default(), &[other]);
    let has_both = |picture: &Picture| match &picture.chart.body {
        Body::Lines(lines) => lines.series.iter().any(|line| line.is == CurveKind::Reference),
        _ => false,
    };
    let is_asked = |picture: &Picture| all || picture.chart.id == levels::LATENCY;
    let is_wanted = |picture: &Picture| picture.rows.iter().any(|row| wanted(row));
    let of_both = drawn.into_iter().filter(|one| has_both(one) && is_asked(one) && is_wanted(one));
    let mut blocks: Vec<Block> =
        of_both.flat_map(|picture| [Block::empty_line(), Block::chart(picture.chart)]).collect();
    if !blocks.is_empty() {
        let heading = format!("Curves of {new_name}; as marks: {old_name}");
        blocks.insert(0, Block::Heading(heading));
        blocks.insert(0, Block::empty_line());
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::paint_plain;
    use model::run::Outcome;
    use model::synthetic;

    #[test]
    fn both_curves_are_drawn_where_both_have_them() {
        let new = synthetic::run();
        let mut old = synthetic::run();
        let page = |old: &Run, all, wanted: &str| {
            let sides = [("before", old), ("after", &new)];
            paint_plain(&curves_of_sides(sides, all, |id| id.starts_with(wanted)), 80)
        };
        let text = page(&old, false, "");
        assert!(text.starts_with("Curves of after; as marks: before\n"), "{text}");
        assert!(text.contains("○ one dependent load: before"), "{text}");
        assert_eq!(text.matches("memory.latency: ").count(), 1, "{text}");
        assert!(page(&old, true, "").lines().count() > text.lines().count(), "all curves are more");
        assert_eq!(page(&old, true, "cpu."), "");
        for row in &mut old.rows {
            row.outcome = Outcome::Unavailable { reason: "not here".into() };
        }
        assert_eq!(page(&old, true, ""), "");
    }
}
