//! `latlas plot`: a picture as a file.

use crate::arguments::plot::{PlotFormat, PlotOptions};
use crate::output;
use anyhow::bail;
use atlas::chart::{
    Beside, Chart, LeftOut, PickError, Picture, history, name_of, only, pick, pictures, png, svg,
};
use atlas::history::{Asked, Figure, find};
use atlas::index::{Index, MachineKey};
use atlas::references::{Reference, References};
use atlas::store::{self, Store, StoreError};
use model::run::Run;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a row's picture over time is called by.
const HISTORY: &str = "history:";
/// What the drawn run is called beside others.
const THIS: &str = "this run";

/// Draws a picture of a kept run, or names those that there are.
pub(crate) fn plot(options: &PlotOptions) -> anyhow::Result<ExitCode> {
    let store = Store::of_user();
    let embedded = References::embedded()?;
    let (tables, others) = named(&options.vs, &embedded, &store)?;
    let mut references = embedded.clone();
    if !tables.is_empty() {
        references.tables = tables;
    }
    // A list is of all pictures: what stands first is the run.
    let of_list = options.row.as_ref().filter(|_| options.list);
    let run = of_list.unwrap_or(&options.run);
    let run = store::read(&super::named(run, &store)?)?;
    let given = others.iter().map(|(name, run)| (name.clone(), run));
    let others = super::report::beside((THIS, &run), given.collect(), &store)?;
    let Some(name) = options.row.as_deref().filter(|_| !options.list) else {
        list(&pictures(&run, &references, &others), options.json)?;
        return Ok(ExitCode::SUCCESS);
    };
    let chart = match name.strip_prefix(HISTORY) {
        Some(_) if !options.vs.is_empty() => {
            bail!("{name} is over all kept runs of a machine: it has no place for --vs")
        }
        Some(row) => history_of(&run, row)?,
        None => pick(&run, &references, &others, name)?,
    };
    let with = |tables: &References, others: &[Beside]| pick(&run, tables, others, name);
    check_vs(&options.vs, (&run, &chart.id), &embedded, &store, with)?;
    let chart = only(chart, &options.rows)?;
    if options.json {
        let text = serde_json::to_string_pretty(&chart)? + "\n";
        match options.out.as_deref().filter(|path| !is_stdout(path)) {
            Some(path) => store::write_bytes(text.as_bytes(), path)?,
            None => output::print(&text)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let format = format(options)?;
    let bytes = draw(&chart, &run, format, options)?;
    write(&chart, &bytes, format, options)?;
    Ok(ExitCode::SUCCESS)
}

/// The row over the kept runs of this run's machine.
fn history_of(run: &Run, row: &str) -> anyhow::Result<Chart> {
    let index = Index::open(Store::of_user()?)?;
    let asked = Asked {
        machine: &MachineKey::of(run),
        row,
        at: &[],
        figure: Figure::Best,
        since_unix_ms: None,
        last: None,
    };
    let rows: Vec<String> = run.rows.iter().map(|row| row.id.clone()).collect();
    let found = find(&index, &asked, &rows);
    for line in index.told() {
        output::tell(&format!("latlas: {line}\n"));
    }
    Ok(history::chart(&found?))
}

/// Runs with their names in a picture.
type Runs = Vec<(String, Run)>;

/// The published tables and the runs that these names mean.
fn named(
    names: &[String],
    references: &References,
    store: &Result<Store, StoreError>,
) -> anyhow::Result<(Vec<Reference>, Runs)> {
    let (mut tables, mut runs) = (Vec::new(), Vec::new());
    for name in names {
        match references.find(name).filter(|_| !Path::new(name).is_file()) {
            Some(table) => tables.push(table.clone()),
            None => {
                let run = store::read(&super::named(name, store)?)?;
                // A picture goes where nobody knows what was asked for.
                runs.push((name_of(&run), run));
            }
        }
    }
    Ok((tables, runs))
}

/// Refuses a `--vs` that the picture shows nothing of: it would look like a
/// picture without a difference. Each one is drawn alone and set against the
/// picture of nothing but the run.
fn check_vs(
    vs: &[String],
    (run, id): (&Run, &str),
    references: &References,
    store: &Result<Store, StoreError>,
    draw: impl Fn(&References, &[Beside]) -> Result<Chart, PickError>,
) -> anyhow::Result<()> {
    if vs.is_empty() {
        return Ok(());
    }
    let alone = draw(&References::default(), &[]).ok();
    for name in vs {
        let (tables, runs) = named(std::slice::from_ref(name), references, store)?;
        let of_name = References {
            tables,
            ..References::default()
        };
        let given = runs.iter().map(|(name, run)| (name.clone(), run));
        let others = super::report::beside((THIS, run), given.collect(), store)?;
        if draw(&of_name, &others).ok() == alone {
            bail!(
                "{id} shows nothing of --vs {name}: curves, the ladder and `latlas plot comparison` \
                 do, where both have the row"
            );
        }
    }
    Ok(())
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// As asked for, else as the file's name ends, else SVG.
fn format(options: &PlotOptions) -> anyhow::Result<PlotFormat> {
    if let Some(format) = options.format {
        return Ok(format);
    }
    let Some(path) = options.out.as_deref().filter(|path| !is_stdout(path)) else {
        return Ok(PlotFormat::Svg);
    };
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("svg") => Ok(PlotFormat::Svg),
        Some("png") => Ok(PlotFormat::Png),
        _ => bail!(
            "{}: is that to be a .svg or a .png? Say it by the file's name or with --format",
            path.display()
        ),
    }
}

fn draw(
    chart: &Chart,
    run: &Run,
    format: PlotFormat,
    options: &PlotOptions,
) -> anyhow::Result<Vec<u8>> {
    let footer = atlas::chart::footer(run);
    let text = svg::draw_as(
        chart,
        &svg::Look {
            theme: options.theme.into(),
            width: options.width,
            height: options.height,
            footer: &footer,
        },
    );
    match format {
        PlotFormat::Svg => Ok(text.into_bytes()),
        PlotFormat::Png => Ok(png(&text, options.scale)?),
    }
}

fn write(
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
    };
    let own = || PathBuf::from(format!("{}.{ending}", chart.id));
    let path = options.out.clone().unwrap_or_else(own);
    store::write_bytes(bytes, &path)?;
    if options.out.is_none() {
        output::tell(&format!("latlas: {} is in {}\n", chart.id, path.display()));
    }
    Ok(())
}

/// The pictures with their titles, and why others are missing.
fn list((all, left_out): &(Vec<Picture>, Vec<LeftOut>), json: bool) -> anyhow::Result<()> {
    if json {
        let drawn: Vec<serde_json::Value> = all
            .iter()
            .map(|p| {
                serde_json::json!({
                    "id": p.chart.id,
                    "title": p.chart.title,
                    "section": p.chart.section,
                    "rows": p.rows,
                })
            })
            .collect();
        let both = serde_json::json!({ "pictures": drawn, "left_out": left_out });
        return output::print(&(serde_json::to_string_pretty(&both)? + "\n"));
    }
    let ids = all.iter().map(|p| p.chart.id.len());
    let wide = ids.chain(left_out.iter().map(|l| l.id.len())).max();
    let wide = wide.unwrap_or(0);
    let mut text = Vec::new();
    for picture in all {
        let Chart { id, title, .. } = &picture.chart;
        writeln!(text, "{id:<wide$}  {title}")?;
    }
    for LeftOut { id, why } in left_out {
        writeln!(text, "{id:<wide$}  - {}", output::harmless(why))?;
    }
    output::print_bytes(&text)
}
