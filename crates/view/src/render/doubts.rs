//! Why published figures beside ours carry a question mark.

use super::figures::published;
use super::table::short_title;
use super::{Options, table, wide};
use compare::references::References;
use model::run::Run;
use model::story::Block;

/// A line for each doubtful figure that stands beside a row of this run; empty
/// where there is none.
pub(super) fn doubts(run: &Run, references: &References, options: &Options) -> Vec<Block> {
    let tables = match options.wide {
        true => wide::tables(run, references, options),
        false => table::tables(references, options),
    };
    let mut blocks = Vec::new();
    for row in &run.rows {
        for (table, counterpart) in tables.iter().filter_map(|t| Some((t, t.counterpart(&row.id)?)))
        {
            if let Some(why) = &counterpart.row.doubtful {
                let key = short_title(&table.key);
                let figure = published(counterpart.row);
                let note = format!("{key}, {figure} for {}: no ratio: {why}", row.id);
                blocks.push(Block::labelled("? ", note));
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::COLUMNS;
    use crate::terminal::layout::keeps_to;
    use crate::terminal::plain;
    use model::synthetic;

    fn draw(run: &Run, references: &References, options: &Options) -> String {
        plain(&crate::render::render_run(run, references, options))
    }

    #[test]
    fn a_doubtful_figure_says_why_below_the_table() {
        let references = References::embedded().expect("references");
        let run = synthetic::run();
        let counterpart = |key: &str| Options {
            versus: vec![references.find(key).expect(key).clone()],
            ..Options::default()
        };
        let text = draw(&run, &references, &counterpart("kurkin-2012"));
        let line = text.lines().find(|line| line.contains("semaphore_switch/free"));
        let line = line.expect("the row");
        assert!(line.contains("25 ns ?") && !line.contains('x'), "{line}");
        assert!(
            text.contains("? kurkin-2012, 25 ns for sync.semaphore_switch/free: no ratio: in"),
            "{text}"
        );
        assert!(keeps_to(&text, COLUMNS), "{text}");
        assert_eq!(doubts(&run, &references, &Options::default()), []);
        assert_eq!(doubts(&run, &references, &counterpart("iphone-5s")), []);
        let wide = Options { wide: true, ..Options::default() };
        assert_eq!(doubts(&run, &references, &wide).len(), 1);
    }
}
