//! A GitHub-flavoured Markdown table.

use super::line::{ExportLine, program, started};
use model::phrases::short_id;
use model::run::Run;
use model::shown::{Shown, cycles, quiet_half, shown_figure, typical};
use model::utc;

/// The table, with what it was measured on above it.
pub(super) fn to_markdown(run: &Run, lines: &[ExportLine]) -> String {
    let mut text = format!("{}\n\n", escape(&heading(run)));
    text.push_str(
        "| row | quiet | ± (95 %) | cycles | typical [10-90 %] | verdict |\n\
         |:----|------:|:---------|-------:|:------------------|:--------|\n",
    );
    for line in lines {
        let cells = markdown_cells(line);
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

fn heading(run: &Run) -> String {
    let fact = |fact: &model::machine::Fact<String>| fact.get().cloned();
    let machine = [fact(&run.machine.cpu_model), fact(&run.machine.os)];
    let machine: Vec<String> = machine.into_iter().flatten().collect();
    let machine = match machine.is_empty() {
        true => "machine unknown".to_owned(),
        false => machine.join(", "),
    };
    let emulated = match &run.program.emulated {
        Some(emulator) => format!("; EMULATED under {emulator}: says nothing of hardware"),
        None => String::new(),
    };
    let partial = match &run.partial {
        Some(why) => format!("; PARTIAL: {why}"),
        None => String::new(),
    };
    let when = match &run.imported {
        Some(_) => started(run).unwrap_or("at an unknown time".into()),
        None => utc::readable_utc(run.started_unix_ms),
    };
    format!("{} on {machine}, {when}, run {}{emulated}{partial}", program(run), short_id(&run.id),)
}

fn markdown_cells(line: &ExportLine) -> [String; 6] {
    let places: Vec<&str> = line.at.iter().map(|place| place.text.as_str()).collect();
    let name = match places.is_empty() {
        true => line.row.id.clone(),
        false => format!("{} at {}", line.row.id, places.join(" x ")),
    };
    let Ok(estimate) = line.estimate else {
        let why = format!("not available: {}", line.reason());
        return [
            escape(&name),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            escape(&why),
        ];
    };
    let unit = &line.row.unit;
    let [figure, half] = match shown_figure(estimate, unit) {
        Shown::Below(text) => [text, String::new()],
        Shown::Figure(f) if estimate.quiet.is_some() => {
            [f.text(), quiet_half(estimate, &f.half_width)]
        }
        _ => [String::new(), String::new()],
    };
    let verdict = match line.reason() {
        reason if reason.is_empty() => line.verdict_text().to_owned(),
        reason => format!("{}: {reason}", line.verdict_text()),
    };
    [escape(&name), figure, half, cycles(estimate), typical(estimate, unit), escape(&verdict)]
}

/// A text that neither ends the cell nor starts markup, whoever wrote it.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '`' | '*' | '[' | ']' | '\\' => escaped.extend(['\\', c]),
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
