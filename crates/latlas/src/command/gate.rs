//! `latlas run --baseline`: compares a run with a baseline, for CI.

use super::measured::measure;
use super::shielded;
use crate::arguments::Color;
use crate::arguments::RunOptions;
use crate::arguments::run_json::RunJson;
use crate::{GATE_CROSSED, UNRELIABLE, output, selection};
use anyhow::bail;
use compare::gate::{Gate, judge_run};
use compare::operand::Operand;
use compare::references::References;
use meter::plan::{Plan, Request, plan};
use meter::probe::Probe;
use model::run::{Run, Scale};
use serde_json::{Map, Value};
use std::path::Path;
use std::process::ExitCode;
use store::Store;
use store::baseline::baseline;
use store::exchange::export::row_objects;
use store::operand;
use view::render::{self, ProbeText};

/// Default of --fail-above.
const FAIL_ABOVE: f64 = 0.05;

/// The gate, before measuring.
pub(super) struct Prepared {
    baseline: Operand,
    /// Stored runs, for the run-to-run variation.
    store: Option<Store>,
    fail_above: f64,
}

/// Finds the baseline of --baseline, before anything is measured.
pub(super) fn prepared(
    options: &RunOptions,
    references: &References,
    plan: &Plan,
) -> anyhow::Result<Option<Prepared>> {
    let Some(name) = &options.baseline else {
        return Ok(None);
    };
    let store = Store::of_user();
    let mut rows: Vec<String> = plan.cells.iter().map(|cell| cell.row.clone()).collect();
    rows.dedup();
    let mut messages = Vec::new();
    let baseline = baseline(name, &store, references, &rows, &mut messages);
    super::atlas::print_messages(&messages);
    Ok(Some(Prepared {
        baseline: baseline?,
        store: store.ok(),
        fail_above: options.fail_above.unwrap_or(FAIL_ABOVE),
    }))
}

impl Prepared {
    /// Judges a run, and measures slower rows again. `None`, after a message, where it can't be
    /// judged.
    pub(super) fn judge_run(
        &self,
        run: &Run,
        catalogue: &[Probe],
        texts: &[ProbeText],
        request: &Request,
        options: &RunOptions,
    ) -> Option<Gate> {
        let judged = match &run.partial {
            Some(why) => Err(anyhow::anyhow!("{why}")),
            None => self.judged(run, catalogue, texts, request, options),
        };
        match judged {
            Ok(gate) => Some(gate),
            Err(why) => {
                let line = format!("the run was not compared with the baseline: {why:#}");
                output::message(output::harmless(&line));
                None
            }
        }
    }

    fn judged(
        &self,
        run: &Run,
        catalogue: &[Probe],
        texts: &[ProbeText],
        request: &Request,
        options: &RunOptions,
    ) -> anyhow::Result<Gate> {
        let mut again = |rows: &[String]| -> anyhow::Result<Run> {
            output::message(format_args!("measuring slower rows again: {}", rows.join(", ")));
            let request = Request {
                rows: selection::selected_rows(texts, rows, request.scale)?,
                asked: rows.to_vec(),
                // Another order of visits, as in a new run.
                seed: fastrand::u64(..1 << 32),
                // There are few rows: measure them more precisely than --quick.
                scale: match request.scale {
                    Scale::Quick => Scale::Default,
                    scale => scale,
                },
                ..request.clone()
            };
            let machine = sys::machine_facts(Path::new("/"));
            let mut plan = plan(catalogue, &request, &machine)?;
            let cpus = options.controls.shield_cpus();
            let (run, _) = shielded::within(cpus, |groups| {
                plan.controls.asked.groups = groups;
                measure(catalogue, &plan, machine)
            })?;
            match &run.partial {
                Some(why) => bail!("{why}"),
                None => Ok(run),
            }
        };
        let now = Operand::from_run("this run", run.clone());
        let mut messages = Vec::new();
        let recent = match &self.store {
            Some(store) => operand::recent_like(store, &[&self.baseline, &now], &mut messages)?,
            None => Vec::new(),
        };
        super::atlas::print_messages(&messages);
        Ok(judge_run(&self.baseline, run.clone(), &recent, self.fail_above, &mut again)?)
    }
}

/// The gate's answer below the run's table.
pub(super) fn show_gate(gate: Option<&Gate>, color: Color) -> anyhow::Result<()> {
    let Some(gate) = gate else { return Ok(()) };
    output::print("\n")?;
    output::show(&render::gate(gate), color)
}

/// The run and the gate as JSON: the document with the gate, or what the gate says in the object of each row.
pub(super) fn gate_json(run: &Run, gate: Option<&Gate>, form: RunJson) -> anyhow::Result<String> {
    match form {
        RunJson::Document => {
            let document: serde_json::Value = serde_json::from_str(&output::document(run)?)?;
            let both = serde_json::json!({"run": document, "gate": gate});
            Ok(serde_json::to_string(&both)? + "\n")
        }
        RunJson::Rows => Ok(row_objects(run, |id| judged_fields(gate, id))?),
    }
}

/// Of a row that the gate has; a row in several modes is there once for each.
fn judged_fields(gate: Option<&Gate>, id: &str) -> Map<String, Value> {
    let rows = gate.iter().flat_map(|gate| &gate.rows).filter(|row| row.row_id == id);
    let Some(row) = rows.min_by(|a, b| a.p_value.total_cmp(&b.p_value)) else {
        return Map::new();
    };
    let fields = [
        ("baseline", gate.map(|gate| gate.baseline.as_str()).into()),
        ("time_ratios", row.time_ratios.clone().into()),
        ("p_value", row.p_value.into()),
        ("baseline_verdict", row.answer_text().into()),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// The exit code with the gate, where `of_run` is that of the run itself: a run that could not
/// be judged has not passed.
pub(super) fn exit_code(gate: Option<&Gate>, of_run: ExitCode) -> ExitCode {
    match gate {
        Some(gate) if !gate.crossed.is_empty() => ExitCode::from(GATE_CROSSED),
        Some(gate) if gate.judged() > 0 => of_run,
        _ => ExitCode::from(UNRELIABLE),
    }
}
