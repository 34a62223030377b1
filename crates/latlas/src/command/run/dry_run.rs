//! `latlas run --dry-run`: the plan.

use meter::plan::Plan;

/// Warn if the needed time is this many times the budget.
const SHORT_BY: f64 = 1.5;

/// Rows of a plan with their points and seconds.
fn rows_of(plan: &Plan) -> Vec<(&str, usize, f64)> {
    let mut rows: Vec<(&str, usize, f64)> = Vec::new();
    for cell in &plan.cells {
        let seconds = cell.allotment.as_secs_f64();
        match rows.last_mut() {
            Some((row, points, sum)) if *row == cell.row => {
                *points += 1;
                *sum += seconds;
            }
            _ => rows.push((&cell.row, 1, seconds)),
        }
    }
    rows
}

pub(super) fn plan_json(plan: &Plan) -> serde_json::Value {
    let rows = rows_of(plan).into_iter();
    let rows: Vec<_> = rows
        .map(|(row, points, s)| serde_json::json!({"row": row, "points": points, "seconds": s}))
        .collect();
    let unavailable = plan.unavailable.iter();
    let unavailable: Vec<_> = unavailable
        .map(|(row, .., reason)| serde_json::json!({"row": row, "reason": reason}))
        .collect();
    serde_json::json!({
        "rows": rows,
        "unavailable": unavailable,
        "extra_visits_seconds": plan.time.extra.as_secs_f64(),
        "overhead_seconds": (plan.time.start + plan.time.end).as_secs_f64(),
        "seconds": plan.total().as_secs_f64(),
    })
}

/// Time besides the planned visits, and what it is for.
fn other_time(plan: &Plan) -> [(&'static str, f64, &'static str); 2] {
    [
        ("extra", plan.time.extra.as_secs_f64(), "more samples where intervals are widest"),
        (
            "overhead",
            (plan.time.start + plan.time.end).as_secs_f64(),
            "workers, memory, clock, osnoise before and after",
        ),
    ]
}

/// Rows with their estimated time, and the sum.
pub(super) fn plan_text(plan: &Plan) -> String {
    let rows = rows_of(plan);
    let widest = rows.iter().map(|(row, ..)| row.len()).max().unwrap_or(0);
    let widest = widest.max("overhead".len());
    let mut text = String::new();
    for (row, points, seconds) in rows {
        let points = match points {
            1 => String::new(),
            n => format!("  {n} points"),
        };
        text.push_str(&format!("{row:<widest$}  {seconds:8.3} s{points}\n"));
    }
    for (row, .., reason) in &plan.unavailable {
        text.push_str(&format!("{row:<widest$}  not available here: {reason}\n"));
    }
    for (what, seconds, for_what) in other_time(plan) {
        text.push_str(&format!("{what:<widest$}  {seconds:8.3} s  {for_what}\n"));
    }
    let total = plan.total().as_secs_f64();
    text.push_str(&format!("{:<widest$}  {total:8.3} s\n", "sum"));
    if let Some(short) = short_budget(plan) {
        text.push_str(&format!("{short}\n"));
    }
    text
}

/// A warning about a budget that is much too short.
pub(super) fn short_budget(plan: &Plan) -> Option<String> {
    let needed = plan.time.start + plan.time.needed + plan.time.end;
    (needed > plan.limit.mul_f64(SHORT_BY)).then(|| {
        format!(
            "these rows need at least {:.0} s, but the budget is {:.0} s: many will have few \
             samples or none (increase --budget or select fewer rows)",
            needed.as_secs_f64(),
            plan.limit.as_secs_f64()
        )
    })
}
