//! Options of `latlas plot`.

use atlas::chart::svg;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
ROW is a picture (--list names them), a row or a probe: then the picture that draws it, or, of a
single figure, its samples. history:ROW is the row over the kept runs of the run's machine. Without -o the picture goes to a file of its own name in the current
directory. docs/pictures.md shows what there is.

Examples:
  latlas plot --list                                 the pictures of the last run
  latlas plot --list 5e0c                            those of another one
  latlas plot memory.latency                         memory.latency.svg
  latlas plot memory.latency 5e0c -o latency.png --scale 2
  latlas plot file.read --vs last~1 --theme dark -o read.svg
  latlas plot ladder --rows 'cpu.*' --vs 2012 -o cpu.svg
  latlas plot history:memory.latency/DRAM            the row over time, with its changes
  latlas plot sync.handoff/futex -o - | display svg:-
  latlas plot sched.pool --json                      the figures of the picture

Exit codes: 0 done; 2 the request can't be carried out.";

/// Which picture, and where to.
#[derive(Args, Debug, Clone)]
pub(crate) struct PlotOptions {
    /// A picture, a row or a probe
    #[arg(value_name = "ROW", required_unless_present = "list")]
    pub(crate) row: Option<String>,
    /// A file, `last`, `last~1`, or the beginning of a run's id
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) run: String,
    /// Write to this file; `-` is standard output
    #[arg(short, long, alias = "output", value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// In which format, where the file's name doesn't say
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<PlotFormat>,
    /// On paper or in the dark
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub(crate) theme: PlotTheme,
    /// Width in px
    #[arg(long, value_name = "PX", default_value_t = svg::WIDTH,
          value_parser = clap::value_parser!(u32).range(320..=10_000))]
    pub(crate) width: u32,
    /// Height in px; as the picture needs it, if not given
    #[arg(long, value_name = "PX", value_parser = clap::value_parser!(u32).range(240..=20_000))]
    pub(crate) height: Option<u32>,
    /// Pixels of a PNG for each px
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    pub(crate) scale: f32,
    /// Draw this run too, or only this published table: in curves, the ladder and the comparison
    /// (may be repeated)
    #[arg(long, value_name = "RUN|TABLE")]
    pub(crate) vs: Vec<String>,
    /// Of the ladder or a comparison only these rows: ids, probes, or patterns with * and ?
    #[arg(long, value_name = "PATTERN")]
    pub(crate) rows: Vec<String>,
    /// Name the pictures of the run, and those that can't be drawn with the reason
    #[arg(long, conflicts_with_all = ["out", "format", "rows"])]
    pub(crate) list: bool,
    /// The picture's figures, or the list, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Formats of pictures.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlotFormat {
    /// Lines and text, sharp in every size
    Svg,
    /// Pixels
    Png,
}

/// Grounds of pictures.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlotTheme {
    /// Dark on white
    Light,
    /// Light on nearly black
    Dark,
}

impl From<PlotTheme> for svg::Theme {
    fn from(theme: PlotTheme) -> svg::Theme {
        match theme {
            PlotTheme::Light => svg::Theme::Light,
            PlotTheme::Dark => svg::Theme::Dark,
        }
    }
}

fn scale(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(factor) if (0.1..=10.0).contains(&factor) => Ok(factor),
        _ => Err("give a factor from 0.1 to 10".into()),
    }
}
