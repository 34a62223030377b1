use meter::conduct::{Observer, Progress, conduct};
use meter::plan::{Request, plan};
use model::run::*;
struct O(std::time::Instant);
impl Observer for O {
    fn warning(&mut self, l: &str) {
        eprintln!("warning: {l}");
    }
    fn progress(&mut self, p: &Progress) {
        if self.0.elapsed().as_secs() > 2 {
            self.0 = std::time::Instant::now();
            eprintln!(
                "round {}/{} {:?} left {:?} {}/{}",
                p.round, p.rounds, p.elapsed, p.remaining, p.visits_done, p.visits_planned
            );
        }
    }
}
fn main() {
    let catalogue = probes::catalogue();
    meter::worker::enter_if_worker(&catalogue);
    let args: Vec<String> = std::env::args().skip(1).collect();
    let all: Vec<String> = catalogue.iter().flat_map(|p| p.row_ids()).collect();
    let mut rows = vec![];
    let mut budget = None;
    let mut scale = Scale::Default;
    for a in &args {
        if let Some(b) = a.strip_prefix("-b") {
            budget = Some(std::time::Duration::from_secs_f64(b.parse().unwrap()));
        } else if a == "-q" {
            scale = Scale::Quick
        } else if a == "-f" {
            scale = Scale::Full
        } else {
            rows.extend(all.iter().filter(|r| r.starts_with(a.as_str())).cloned());
        }
    }
    let machine = sys::machine(std::path::Path::new("/"));
    let plan = plan(
        &catalogue,
        &Request {
            scale,
            rows,
            asked: vec![],
            seed: 42,
            budget,
            pin: None,
        },
        &machine,
    )
    .unwrap();
    eprintln!(
        "{} cells, total {:?}, rounds {}",
        plan.cells.len(),
        plan.total(),
        plan.rounds
    );
    if args.iter().any(|a| a == "-n") {
        let mut m = std::collections::BTreeMap::<String, (usize, f64)>::new();
        for c in &plan.cells {
            let e = m.entry(c.row.clone()).or_default();
            e.0 += 1;
            e.1 += c.allotment.as_secs_f64();
        }
        for (r, (n, s)) in m {
            println!("{r:40} {n:4} {s:.2}");
        }
        return;
    }
    let program = Program {
        name: "x".into(),
        version: "0".into(),
        commit: None,
        target: "".into(),
        profile: "".into(),
        emulated: None,
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let t = std::time::Instant::now();
    let run = conduct(&catalogue, &plan, machine, program, &mut O(t), &stop).unwrap();
    eprintln!(
        "took {:?} pinned {:?} {:?}",
        t.elapsed(),
        run.conditions.pinned_cpus,
        run.conditions.remarks
    );
    eprintln!(
        "gate {:?}\nclock {:?}\n{:?}",
        run.gate, run.core_clock, run.clock
    );
    let show = |id: &str, e: &model::estimate::Estimate, u: &model::unit::Unit| {
        let f = e
            .ns()
            .map(|i| {
                let f = model::figure::figure(&i, u);
                format!("{} ±{} {}", f.value, f.half_width, f.unit)
            })
            .unwrap_or_default();
        let c = e
            .quiet
            .and_then(|q| q.cycles)
            .map(|c| format!("{:.3} ±{:.3} cyc", c.value, c.half_width()))
            .unwrap_or_default();
        let t = e
            .typical
            .map(|t| {
                format!(
                    "{:.3} [{:.3} {:.3}] n{}",
                    t.ns.value, t.p10_ns, t.p90_ns, t.samples
                )
            })
            .unwrap_or_default();
        println!(
            "{id:44} {f:20} {c:20} {t:34} share {:.2} {:?} {} {:?}",
            e.quiet_share.unwrap_or(-1.0),
            e.verdict,
            e.reason,
            e.below_ns
        );
    };
    for row in &run.rows {
        match &row.outcome {
            Outcome::Figure(e) => show(&row.id, e, &row.unit),
            Outcome::Level { estimate, plateau } => {
                show(&row.id, estimate, &row.unit);
                println!("    {plateau:?}");
            }
            Outcome::Curve { points, .. } => {
                for p in points {
                    show(
                        &format!("{} @{}", row.id, model::size::text(p.x)),
                        &p.estimate,
                        &row.unit,
                    );
                }
            }
            Outcome::Map { points, .. } => {
                for p in points {
                    show(
                        &format!("{} @{} {}", row.id, p.y, p.x),
                        &p.estimate,
                        &row.unit,
                    );
                }
            }
            Outcome::Unavailable { reason } => println!("{} not available here: {reason}", row.id),
        }
        for n in &row.notes {
            println!("    note: {n}");
        }
    }
    let json = serde_json::to_vec(&run).unwrap();
    std::fs::write("/tmp/run.json", &json).unwrap();
    eprintln!("json {} bytes", json.len());
}
