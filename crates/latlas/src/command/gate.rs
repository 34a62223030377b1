//! `latlas run --baseline`: a run against a baseline, for machines that decide.

use super::run::measure;
use super::shielded;
use crate::arguments::RunOptions;
use crate::{GATE_CROSSED, UNRELIABLE, output, selection};
use anyhow::bail;
use atlas::compare::gate::{Gate, baseline, judge};
use atlas::compare::operand::{self, Operand};
use atlas::references::References;
use atlas::render::{self, ProbeText};
use atlas::store::Store;
use meter::plan::{Plan, Request, plan};
use meter::probe::Probe;
use model::run::{Run, Scale};
use std::path::Path;
use std::process::ExitCode;

/// By how much a row's time may grow if nothing else is said.
const FAIL_ABOVE: f64 = 0.05;

/// What is known before the measuring.
pub(super) struct Prepared {
    baseline: Operand,
    /// Where kept runs say what runs differ by; without one nothing does.
    store: Option<Store>,
    fail_above: f64,
}

/// Finds the baseline, if one was asked for, before anything is measured.
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
    let mut told = Vec::new();
    let baseline = baseline(name, &store, references, &rows, &mut told);
    super::atlas::tell(&told);
    Ok(Some(Prepared {
        baseline: baseline?,
        store: store.ok(),
        fail_above: options.fail_above.unwrap_or(FAIL_ABOVE),
    }))
}

impl Prepared {
    /// Judges a run, and measures again what looks slower. `None` where it
    /// can't be judged, which is said: the run itself is there all the same.
    pub(super) fn judge(
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
                let line = format!("latlas: this run is not set against the baseline: {why:#}");
                output::tell(&(output::harmless(&line) + "\n"));
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
            eprintln!(
                "latlas: measuring again what looks slower: {}",
                rows.join(", ")
            );
            let request = Request {
                rows: selection::rows(texts, rows, request.scale)?,
                asked: rows.to_vec(),
                // Another order of visits, as in a run that is made anew.
                seed: fastrand::u64(..1 << 32),
                // A quick run's few workers know a row less well than its few
                // rows' time allows.
                scale: match request.scale {
                    Scale::Quick => Scale::Default,
                    scale => scale,
                },
                ..request.clone()
            };
            let machine = sys::machine(Path::new("/"));
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
        let now = Operand::run("this run", run.clone());
        let recent = match &self.store {
            Some(store) => operand::recent_beside(store, &[&self.baseline, &now])?,
            None => Vec::new(),
        };
        Ok(judge(
            &self.baseline,
            run.clone(),
            &recent,
            self.fail_above,
            &mut again,
        )?)
    }
}

/// What was judged, under the run's table; nothing for a run that was not.
pub(super) fn page(gate: Option<&Gate>, color: bool) -> String {
    gate.map_or(String::new(), |gate| {
        format!("\n{}", render::gate(gate, color))
    })
}

/// The run's document and what was judged, for programs.
pub(super) fn document(run: &Run, gate: Option<&Gate>) -> anyhow::Result<String> {
    let document: serde_json::Value = serde_json::from_str(&output::document(run)?)?;
    let both = serde_json::json!({"run": document, "gate": gate});
    Ok(serde_json::to_string(&both)? + "\n")
}

/// The exit code after the gate, `of_run` being what the run itself deserves:
/// what could not be judged has not passed.
pub(super) fn exit_code(gate: Option<&Gate>, of_run: ExitCode) -> ExitCode {
    match gate {
        Some(gate) if !gate.crossed.is_empty() => ExitCode::from(GATE_CROSSED),
        Some(gate) if gate.told() > 0 => of_run,
        _ => ExitCode::from(UNRELIABLE),
    }
}
