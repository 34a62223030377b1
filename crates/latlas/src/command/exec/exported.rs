//! The files of hyperfine's options `--export-json` and `--export-markdown`.

use crate::arguments::exec::ExecOptions;
use model::command::Command;
use model::run::Run;
use model::stats;
use model::story::{Block, Cell, Table, left, right};
use model::unit::Unit;
use store::Output;
use store::exchange::export::{self, ExportFormat};

/// Files that are written after the runs, checked before them.
pub(super) struct Exports {
    json: Option<Output>,
    markdown: Option<Output>,
}

impl Exports {
    /// # Errors
    /// Why a file can't be written.
    pub(super) fn check_files(options: &ExecOptions) -> anyhow::Result<Exports> {
        let file = |path: &Option<_>| {
            let opened = path.as_ref().map(|path: &std::path::PathBuf| Output::open(path));
            anyhow::Ok(opened.transpose()?)
        };
        Ok(Exports { json: file(&options.export_json)?, markdown: file(&options.export_markdown)? })
    }

    pub(super) fn write_files(&self, run: &Run) -> anyhow::Result<()> {
        if let Some(file) = &self.json {
            file.write(export::export(run, ExportFormat::Hyperfine, &[])?.text.as_bytes())?;
        }
        if let Some(file) = &self.markdown {
            file.write(view::markdown::to_markdown(&[Block::Table(table(run))]).as_bytes())?;
        }
        Ok(())
    }
}

/// A line for each command: its wall time, and its ratio to the first.
fn table(run: &Run) -> Table {
    let mut table = Table::new([
        left("command"),
        right("median ±"),
        right("min"),
        right("max"),
        right("relative to the first"),
    ]);
    let record = run.commands.as_ref();
    for command in record.into_iter().flat_map(|record| record.commands.iter()) {
        let id = format!("exec.{}/wall", command.name);
        let Some(estimate) = run.row(&id).and_then(|row| row.estimate()) else { continue };
        let all = stats::sorted(run.values_ns(&id));
        let time = |ns: Option<&f64>| ns.map_or("-".into(), |ns| model::figure::time(*ns));
        table.row([
            Cell::from(command.command_line()),
            Cell::estimate(estimate, &Unit::Time),
            time(all.first()).into(),
            time(all.last()).into(),
            relative(run, command).into(),
        ]);
    }
    table
}

fn relative(run: &Run, command: &Command) -> String {
    let compared = run.commands.iter().flat_map(|record| &record.compared);
    let mut wall = compared.filter(|one| one.row == "wall" && one.name == command.name);
    match wall.next().map(|one| (one.ratio, &one.why)) {
        None => "1.00".into(),
        Some((Some(ratio), None)) => {
            format!("{:.2} [{:.2}, {:.2}]", ratio.value, ratio.low, ratio.high)
        }
        Some(_) => "-".into(),
    }
}
