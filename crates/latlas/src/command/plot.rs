//! `latlas plot`: a chart as SVG, PNG or PDF.

use super::ReferenceOrRun;
use crate::arguments::Color;
use crate::arguments::plot::{PlotFormat, PlotOptions};
use crate::ending::{self, Ending, is_stdout};
use crate::output;
use anyhow::bail;
use compare::history::FollowedFigure;
use compare::references::{Reference, References};
use model::run::Run;
use model::story::Block;
use model::summary::MachineKey;
use std::path::PathBuf;
use std::process::ExitCode;
use store::history::{HistoryQuery, find_history};
use store::index::Index;
use store::{self, LastOf, Store, StoreError};
use view::chart::{
    Chart, LeftOut, OtherRun, PickError, Picture, history, ladder_line, name_of, of_row, only, pdf,
    pick, pictures, png, svg, without_figures,
};

/// Prefix of a row that is drawn over time.
const HISTORY: &str = "history:";
/// Name of the drawn run in comparisons.
const THIS: &str = "this run";
/// What journals ask for at least.
const PAPER_DPI: f64 = 300.0;

/// Draws a chart of a stored run, or lists its charts.
pub(crate) fn plot(options: &PlotOptions) -> anyhow::Result<ExitCode> {
    let store = Store::of_user();
    let embedded = References::embedded()?;
    let (tables, others) = tables_and_runs(&options.vs, &embedded, &store)?;
    let mut references = embedded.clone();
    if !tables.is_empty() {
        references.tables = tables;
    }
    // A list is of all charts: the first argument is the run.
    let of_list = options.row.as_ref().filter(|_| options.list);
    let run = of_list.unwrap_or(&options.run);
    let run = store::read_run(&super::run_path_named(run, &store, LastOf::All)?)?;
    let given = others.iter().map(|(name, run)| (name.clone(), run));
    let others = super::report::compared((THIS, &run), given.collect(), &store)?;
    let Some(name) = options.row.as_deref().filter(|_| !options.list) else {
        list_charts(&pictures(&run, &references, &others), options.json)?;
        return Ok(ExitCode::SUCCESS);
    };
    let chart = match name.strip_prefix(HISTORY) {
        Some(_) if !options.vs.is_empty() => {
            bail!("{name} is drawn over all runs of a machine: remove --vs")
        }
        Some(row) => history_of(&run, row)?,
        None => picked(options, &run, &references, &others, name)?,
    };
    let with =
        |tables: &References, others: &[OtherRun]| picked(options, &run, tables, others, name);
    let notes = check_vs(&options.vs, (&run, name, &chart.id), &embedded, &store, with)?;
    let mut chart = only(chart, &options.rows)?;
    chart.notes.splice(0..0, notes);
    if options.text {
        output::show(&[Block::chart(chart)], Color::Auto)?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.json {
        let text = model::json::to_indented_json(&chart)? + "\n";
        match options.out.as_deref().filter(|path| !is_stdout(path)) {
            Some(path) => {
                ending::check_ending(path, &[Ending::Json])?;
                store::write_bytes(text.as_bytes(), path)?;
            }
            None => output::print(&text)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let format = format(options)?;
    if format != PlotFormat::Png && (options.scale.is_some() || options.dpi.is_some()) {
        bail!("--scale and --dpi are for PNG: name the file .png, or add --format png");
    }
    let bytes = paint_chart(&chart, &run, format, options)?;
    write_picture(&chart, &bytes, format, options)?;
    Ok(ExitCode::SUCCESS)
}

/// The picture that a name means. The samples of a row show no other figure: with --vs it is the row's line.
fn picked(
    options: &PlotOptions,
    run: &Run,
    references: &References,
    others: &[OtherRun],
    name: &str,
) -> Result<Chart, PickError> {
    let own = pick(run, references, others, name)?;
    let alone = || of_row(run, name).is_ok_and(|samples| samples.chart == own);
    match !options.vs.is_empty() && alone() {
        true => Ok(ladder_line(run, references, others, name).unwrap_or(own)),
        false => Ok(own),
    }
}

/// The row in the stored runs of this run's machine.
fn history_of(run: &Run, row: &str) -> anyhow::Result<Chart> {
    let index = Index::open(Store::of_user()?)?;
    let asked = HistoryQuery {
        machine: &MachineKey::from_run(run),
        row,
        at: &[],
        figure: FollowedFigure::Best,
        since_unix_ms: None,
        last: None,
    };
    let rows: Vec<String> = run.rows.iter().map(|row| row.id.clone()).collect();
    let result = find_history(&index, &asked, &rows);
    for line in index.messages() {
        output::message(format_args!("{line}"));
    }
    Ok(history::chart(&result?))
}

/// Runs with their names in a chart.
type Runs = Vec<(String, Run)>;

/// The published tables and the runs that these names mean.
fn tables_and_runs(
    names: &[String],
    references: &References,
    store: &Result<Store, StoreError>,
) -> anyhow::Result<(Vec<Reference>, Runs)> {
    let (mut tables, mut runs) = (Vec::new(), Vec::new());
    for name in names {
        match super::reference_or_run(name, references, store, LastOf::All)? {
            ReferenceOrRun::Reference(table) => tables.push(table),
            ReferenceOrRun::Run(path) => {
                let run = store::read_run(&path)?;
                // The name given here means nothing to readers of the chart.
                runs.push((name_of(&run), run));
            }
        }
    }
    Ok((tables, runs))
}

/// Refuses a `--vs` that would not change the chart: it would look as if there were no
/// difference. Each one is drawn alone and compared with the chart of the run only. Of a publication
/// that describes the rows without figures, the notes.
fn check_vs(
    vs: &[String],
    (run, name, id): (&Run, &str, &str),
    references: &References,
    store: &Result<Store, StoreError>,
    draw: impl Fn(&References, &[OtherRun]) -> Result<Chart, PickError>,
) -> anyhow::Result<Vec<String>> {
    let mut notes = Vec::new();
    if vs.is_empty() {
        return Ok(notes);
    }
    let alone = draw(&References::default(), &[]).ok();
    for other in vs {
        let (tables, runs) = tables_and_runs(std::slice::from_ref(other), references, store)?;
        let table = tables.first().cloned();
        let of_name = References { tables, ..References::default() };
        let given = runs.iter().map(|(name, run)| (name.clone(), run));
        let others = super::report::compared((THIS, run), given.collect(), store)?;
        if draw(&of_name, &others).ok() == alone {
            let (drawn, _) = pictures(run, references, &[]);
            let drawn = drawn.into_iter().find(|picture| picture.chart.id == id);
            let rows = drawn.map_or_else(|| vec![name.to_owned()], |picture| picture.rows);
            let said = table.and_then(|table| without_figures(references, &table, &rows));
            if let Some(note) = said {
                notes.push(note);
                continue;
            }
            bail!(
                "{id} can't show --vs {other}: only curves, the ladder and `comparison` can, for \
                 rows that both have"
            );
        }
    }
    Ok(notes)
}

/// By --format, else by the file name, else SVG.
fn format(options: &PlotOptions) -> anyhow::Result<PlotFormat> {
    let path = options.out.as_deref().filter(|path| !is_stdout(path));
    let Some(path) = path else {
        return Ok(options.format.unwrap_or(PlotFormat::Svg));
    };
    if let Some(format) = options.format {
        let (name, ending) = match format {
            PlotFormat::Svg => ("svg", Ending::Svg),
            PlotFormat::Png => ("png", Ending::Png),
            PlotFormat::Pdf => ("pdf", Ending::Pdf),
        };
        ending::check_format(path, name, &[ending])?;
        return Ok(format);
    }
    match ending::from_path(path) {
        Some(Ending::Svg) => Ok(PlotFormat::Svg),
        Some(Ending::Png) => Ok(PlotFormat::Png),
        Some(Ending::Pdf) => Ok(PlotFormat::Pdf),
        _ => bail!(
            "can't tell the format of {}: name it .svg, .png or .pdf, or add --format",
            path.display()
        ),
    }
}

fn paint_chart(
    chart: &Chart,
    run: &Run,
    format: PlotFormat,
    options: &PlotOptions,
) -> anyhow::Result<Vec<u8>> {
    let footer = view::chart::footer(run);
    let unit = options.width.unit();
    let text = svg::draw_as(
        chart,
        &svg::Look {
            theme: options.theme.into(),
            unit,
            width: options.width.units(unit),
            height: options.height.map(|height| height.units(unit)),
            bare: options.bare,
            footer: &footer,
        },
    );
    match format {
        PlotFormat::Svg => Ok(text.into_bytes()),
        PlotFormat::Png => Ok(png(&text, unit, dpi(unit, options))?),
        PlotFormat::Pdf => Ok(pdf(&text, unit)?),
    }
}

/// Pixels of an inch of a PNG.
fn dpi(unit: svg::Unit, options: &PlotOptions) -> f64 {
    let scaled = options.scale.map(|scale| scale * svg::SCREEN_DPI);
    let usual = match unit {
        svg::Unit::Pixel => svg::SCREEN_DPI,
        svg::Unit::Paper => PAPER_DPI,
    };
    options.dpi.map(f64::from).or(scaled).unwrap_or(usual)
}

fn write_picture(
    chart: &Chart,
    bytes: &[u8],
    format: PlotFormat,
    options: &PlotOptions,
) -> anyhow::Result<()> {
    if options.out.as_deref().is_some_and(is_stdout) {
        return output::print_bytes(bytes);
    }
    let ending = match format {
        PlotFormat::Svg => "svg",
        PlotFormat::Png => "png",
        PlotFormat::Pdf => "pdf",
    };
    let own = || PathBuf::from(format!("{}.{ending}", chart.id));
    let path = options.out.clone().unwrap_or_else(own);
    store::write_bytes(bytes, &path)?;
    if options.out.is_none() {
        output::message(format_args!("wrote {}", path.display()));
    }
    Ok(())
}

/// The charts with their titles, and why others can't be drawn.
fn list_charts((all, left_out): &(Vec<Picture>, Vec<LeftOut>), json: bool) -> anyhow::Result<()> {
    let drawn = all.iter().map(|Picture { chart, rows, .. }| {
        serde_json::json!({
            "id": chart.id, "title": chart.title, "section": chart.section, "rows": rows,
        })
    });
    let both = serde_json::json!({
        "pictures": drawn.collect::<Vec<_>>(), "left_out": left_out,
    });
    output::print_json_or(json, &both, || {
        let drawn = all.iter().map(|p| (&*p.chart.id, p.chart.title.clone()));
        let others = left_out.iter().map(|l| (&*l.id, format!("- {}", output::harmless(&l.why))));
        let lines: Vec<(&str, String)> = drawn.chain(others).collect();
        let wide = lines.iter().map(|(id, _)| id.len()).max().unwrap_or(0);
        let line = |(id, text): &(&str, String)| format!("{id:<wide$}  {text}\n");
        lines.iter().map(line).collect()
    })
}
