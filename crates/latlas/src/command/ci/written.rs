//! `latlas ci -o`: the answer as a page, a chart or Markdown.

use crate::command::picture::{Paint, painted};
use crate::ending::{self, Ending};
use anyhow::{Context, bail};
use model::story::Block;
use std::path::Path;
use store::Output;
use view::chart::Chart;
use view::markdown::to_markdown;
use view::report::answer_html;

/// The formats of the file.
const FORMATS: [Ending; 5] =
    [Ending::Html, Ending::Svg, Ending::Png, Ending::Pdf, Ending::Exported("markdown")];

/// A file that is checked before anything is measured.
pub(super) struct AnswerFile {
    ending: Ending,
    file: Output,
}

impl AnswerFile {
    /// The file of `-o`, if it was given.
    pub(super) fn named(path: Option<&Path>) -> anyhow::Result<Option<AnswerFile>> {
        let open = |path| {
            let ending = ending::one_of(path, &FORMATS)?;
            Ok(AnswerFile { ending, file: Output::open(path)? })
        };
        path.map(open).transpose()
    }

    /// Writes the answer: its headline, its blocks, and the chart of what was compared.
    pub(super) fn put_down(
        &self,
        headline: &str,
        blocks: &[Block],
        chart: Option<&Chart>,
    ) -> anyhow::Result<()> {
        let bytes = match (self.ending, Paint::for_ending(self.ending)) {
            (_, Some(paint)) => {
                let why = "nothing to draw: no time of both builds can be compared";
                painted(chart.context(why)?, paint)?
            }
            (Ending::Html, None) => {
                let parts = [("Head against base".to_owned(), blocks.to_vec())];
                answer_html(headline, headline, &parts).into_bytes()
            }
            (Ending::Exported(_), None) => {
                let heading = vec![Block::Heading(headline.to_owned())];
                to_markdown(&[heading, blocks.to_vec()].concat()).into_bytes()
            }
            _ => bail!("can't write this format"),
        };
        Ok(self.file.write(&bytes)?)
    }
}
