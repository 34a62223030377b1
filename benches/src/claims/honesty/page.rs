//! The tables of what was judged, and the bars.

use super::states::{Deviation, Reference, SeenEstimate, SeenRows, deviation, is_off};
use crate::bars::Bars;
use crate::busy::Load;
use crate::spread::{self, median};
use crate::table::{TextTable, percent, three_digits};
use model::figure::time;
use std::collections::BTreeMap;

pub(super) type BusyRuns = [(Load, u32, SeenRows)];

pub(super) fn print_rows(references: &BTreeMap<String, Reference>, busy: &BusyRuns) {
    let mut table = TextTable::new(&[
        "row",
        "idle ns",
        "idle cycles",
        "states",
        "flagged of busy runs",
        "largest deviation, ns",
        "largest deviation, cycles",
    ]);
    for (name, reference) in references.iter().filter(|(name, _)| !name.contains('@')) {
        let runs = || busy.iter().filter_map(|(.., rows)| rows.get(name));
        let largest = |pick: fn(&Deviation) -> Option<f64>| {
            runs()
                .filter_map(|seen| pick(&deviation(seen, reference).ok()?))
                .max_by(|a, b| a.abs().total_cmp(&b.abs()))
        };
        let flagged = runs().filter(|seen| !seen.ok).count();
        table.add_line(vec![
            name.clone(),
            three_digits(reference.ns),
            three_digits(reference.cycles),
            states_text(reference),
            format!("{flagged} of {}", runs().count()),
            percent(largest(|d| d.ns)),
            percent(largest(|d| d.cycles)),
        ]);
    }
    table.print("Rows under load, state against state (points of curves are judged, not shown)");
}

/// `same CPU 2.00 µs, other CPU 14.5 µs`.
fn states_text(reference: &Reference) -> String {
    let states = reference.states.iter().map(|(state, ns)| format!("{state} {}", time(*ns)));
    states.collect::<Vec<_>>().join(", ")
}

/// A busy run in numbers.
#[derive(Default)]
struct JudgedRun {
    compared: u32,
    ok: u32,
    /// Unflagged and off by more than the share.
    off: u32,
    off_ns: u32,
    off_cycles: u32,
    /// Of a mode that the idle machine did not run in.
    unseen: u32,
    cannot_tell: u32,
    cpu_rows: u32,
    right_cpu_rows: u32,
}

impl JudgedRun {
    fn add_figure(&mut self, name: &str, seen: &SeenEstimate, deviation: &Deviation, share: f64) {
        self.compared += 1;
        self.cannot_tell += u32::from(!seen.usable);
        let off = is_off(deviation.own, share);
        if seen.ok && !seen.nothing {
            self.ok += 1;
            self.off += u32::from(off);
            self.off_ns += u32::from(is_off(deviation.ns, share));
            self.off_cycles += u32::from(is_off(deviation.cycles, share));
        }
        if name.starts_with("cpu.") {
            self.cpu_rows += 1;
            self.right_cpu_rows += u32::from(seen.ok && !off);
        }
    }
}

/// `row (same CPU): 7.25 µs, idle 14.5 µs: -50.0 %`.
fn off_text(name: &str, seen: &SeenEstimate, deviation: &Deviation) -> String {
    let state = match (&deviation.state, deviation.is_nearest) {
        (Some(state), true) => format!(" (unnamed, nearest to the idle state {state})"),
        (Some(state), false) => format!(" ({state})"),
        (None, _) => String::new(),
    };
    let own = percent(deviation.own);
    let ns = seen.ns.map_or("-".into(), time);
    format!("{name}{state}: {ns}, idle {}: off by {own}", time(deviation.reference_ns))
}

pub(super) fn judge_honesty(
    references: &BTreeMap<String, Reference>,
    idle: &[SeenRows],
    busy: &BusyRuns,
    share: f64,
) -> Bars {
    let mut judged: Vec<JudgedRun> = Vec::new();
    let (mut off_lines, mut unseen_lines) = (Vec::new(), Vec::new());
    let mut table = TextTable::new(&[
        "load and run",
        "figures compared",
        "ok",
        &format!("ok, off by more than {}", percent(Some(share))),
        "mode not seen idle",
        "inconclusive or invalid",
    ]);
    for (load, number, rows) in busy {
        let mut of_run = JudgedRun::default();
        let label = format!("{load:?} {number}").to_lowercase();
        for (name, seen) in rows {
            let Some(reference) = references.get(name) else {
                continue;
            };
            let deviation = match deviation(seen, reference) {
                Ok(deviation) => deviation,
                Err(mode) => {
                    of_run.unseen += 1;
                    if seen.ok {
                        unseen_lines.push(format!("{label}: {name} ({mode})"));
                    }
                    continue;
                }
            };
            of_run.add_figure(name, seen, &deviation, share);
            if seen.ok && !seen.nothing && is_off(deviation.own, share) {
                off_lines.push(format!("{label}: {}", off_text(name, seen, &deviation)));
            }
        }
        table.add_line(vec![
            label,
            of_run.compared.to_string(),
            of_run.ok.to_string(),
            of_run.off.to_string(),
            of_run.unseen.to_string(),
            of_run.cannot_tell.to_string(),
        ]);
        judged.push(of_run);
    }
    table.print("Busy runs, each figure against the idle machine's of the same mode or state");
    println!("\nok and off: {}", listed(&off_lines));
    println!("ok, of a mode that the idle machine did not run in: {}", listed(&unseen_lines));
    let each = |of: fn(&JudgedRun) -> u32| judged.iter().map(of).map(f64::from).collect::<Vec<_>>();
    println!(
        "unflagged and off by more than {} a busy run, each in its own unit: {:?}; all in ns: {:?}; all in cycles: {:?}",
        percent(Some(share)),
        each(|run| run.off),
        each(|run| run.off_ns),
        each(|run| run.off_cycles)
    );
    let with_cpu_rows = judged.iter().filter(|run| run.cpu_rows > 0);
    let right_cpu_rows: Vec<f64> = with_cpu_rows
        .map(|run| f64::from(run.right_cpu_rows) / f64::from(run.cpu_rows) * 100.0)
        .collect();
    let idle_flagged = idle_flagged(idle);
    println!(
        "cpu rows ok and right, % a busy run: {right_cpu_rows:.1?}; rows flagged, % an idle run: {idle_flagged:.1?}"
    );

    let mut bars = Bars::new();
    let most = spread::median_and_worst(&each(|run| run.off)).1;
    bars.at_most("unflagged and off in a busy run, most", most, 0.0, " rows");
    // What a load of another kind leaves of them is not ours to say.
    let loops_only = busy.iter().all(|(load, ..)| *load == Load::Loops);
    if let Some(right) = median(&right_cpu_rows).filter(|_| loops_only) {
        bars.hold(
            right >= 80.0,
            format!("cpu rows ok and right in a busy run, median: {right:.1} % (at least 80 %)"),
        );
    }
    bars.at_most("rows flagged in an idle run, median", median(&idle_flagged), 10.0, " %");
    bars
}

fn listed(lines: &[String]) -> String {
    match lines.is_empty() {
        true => "none".into(),
        false => format!("\n  {}", lines.join("\n  ")),
    }
}

/// The flagged rows of each idle run, in percent; printed with their reasons.
fn idle_flagged(idle: &[SeenRows]) -> Vec<f64> {
    let of_run = |(number, rows): (usize, &SeenRows)| {
        let whole: Vec<(&String, &SeenEstimate)> =
            rows.iter().filter(|(name, _)| !name.contains('@')).collect();
        let flagged: Vec<&(&String, &SeenEstimate)> =
            whole.iter().filter(|(_, seen)| !seen.ok).collect();
        for (name, seen) in &flagged {
            println!("idle run {}: {name} flagged: {}", number + 1, seen.why);
        }
        flagged.len() as f64 / whole.len().max(1) as f64 * 100.0
    };
    idle.iter().enumerate().map(of_run).collect()
}
