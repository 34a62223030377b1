//! Options of `latlas plot`.

use super::InvalidValue;
use super::length::{self, Length};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use view::chart::svg;

/// Examples of `--help`.
pub const EXAMPLES: &str = "\
ROW is a chart (see --list), a row or a probe (drawn in its chart, or as its samples), or
history:ROW (the row over time). Writes NAME.svg to the current directory unless -o is given.
`latlas help pictures` lists all charts.

A width in mm, cm, in or pt is a width on paper: text has 7 to 9 pt there. For LaTeX:
  latlas plot memory.latency --width 85mm --bare -o latency.pdf

Examples:
  latlas plot --list                         List the charts of the last run
  latlas plot --list 5e0c                    List the charts of another run
  latlas plot memory.latency                 Write memory.latency.svg
  latlas plot memory.latency 5e0c -o latency.png --scale 2
  latlas plot sched.wakeup --width 3.3in --dpi 600 -o wakeup.png
  latlas plot file.read --vs last~1 --theme dark -o read.svg
  latlas plot memory.latency --vs rock-5b -o rock.svg
  latlas plot ladder --rows 'cpu.*' --vs 2012 -o cpu.svg
  latlas plot memory.latency --vs last~1 --text   Draw both curves in the terminal
  latlas plot history:memory.latency/DRAM    Draw a row over time, with its changes
  latlas plot sync.handoff/futex -o - | display svg:-
  latlas plot sched.pool --json              Print the figures of the chart

Exit codes:
  0  done
  2  the request can't be carried out";

/// Options of `latlas plot`.
#[derive(Args, Debug, Clone)]
pub struct PlotOptions {
    /// A chart, row or probe, or history:ROW
    #[arg(value_name = "ROW", required_unless_present = "list")]
    pub row: Option<String>,
    /// A file, `last`, `last~1`, a tag, or the start of a run's id
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Write to this file (- for standard output)
    #[arg(short, long, alias = "output", value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Output format (default: by the file name, or SVG)
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub format: Option<PlotFormat>,
    /// Color theme
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub theme: PlotTheme,
    /// Width, such as 85mm, 3.3in or 860px; text keeps its size
    #[arg(long, value_name = "LENGTH", default_value = "860px", value_parser = length::width)]
    pub width: Length,
    /// Height (default: as the chart needs)
    #[arg(long, value_name = "LENGTH", value_parser = length::height)]
    pub height: Option<Length>,
    /// Without title, description, notes, margins and background, for papers
    #[arg(long)]
    pub bare: bool,
    /// PNG pixels per px
    #[arg(long, value_name = "FACTOR", value_parser = scale, conflicts_with = "dpi")]
    pub scale: Option<f64>,
    /// PNG pixels per inch (default: 300 for a width on paper, else 96)
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(30..=2400))]
    pub dpi: Option<u32>,
    /// Also draw this run, or only this published table, cloud type, board or CPU, in curves, the ladder
    /// and the comparison (repeatable)
    #[arg(long, value_name = "RUN|TABLE")]
    pub vs: Vec<String>,
    /// Draw only these rows of the ladder or comparison: ids, probes, or patterns with * and ?
    #[arg(long, value_name = "PATTERN")]
    pub rows: Vec<String>,
    /// Draw with characters, as wide as the terminal
    #[arg(long, conflicts_with_all = ["out", "format", "json", "list", "theme", "width", "height", "bare", "scale", "dpi"])]
    pub text: bool,
    /// List the charts of a run, and why others can't be drawn
    #[arg(long, conflicts_with_all = ["out", "format", "rows", "theme", "width", "height", "bare", "scale", "dpi"])]
    pub list: bool,
    /// Print the figures of the chart, or the list, as JSON
    #[arg(long, conflicts_with_all = ["theme", "width", "height", "bare", "scale", "dpi"])]
    pub json: bool,
}

/// Formats of charts.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlotFormat {
    /// Scalable Vector Graphics
    Svg,
    /// Portable Network Graphics
    Png,
    /// Portable Document Format: one page of the chart's size, with its font
    Pdf,
}

/// Color themes of charts.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlotTheme {
    /// Dark on white
    Light,
    /// Light on dark gray
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

fn scale(text: &str) -> Result<f64, InvalidValue> {
    match text.parse::<f64>() {
        Ok(factor) if (0.1..=10.0).contains(&factor) => Ok(factor),
        _ => Err(InvalidValue::Scale),
    }
}
