//! Pages of a made-up experiment, kept in `snapshots/`.

use super::effects;
use crate::render::joined;
use crate::terminal::{COLUMNS, layout};
use compare::references::References;
use model::noise::effect::{
    Block, Control, EffectArm, Effects, How, Load, NotCounted, OneRun, Wakeups, Work, Workload,
};

fn control(name: &str, on: &str, needs: Option<&str>, unavailable: Option<&str>) -> Control {
    Control {
        name: name.into(),
        on: on.into(),
        off: "as a command is started".into(),
        on_arm: name.into(),
        off_arm: "none".into(),
        needs: needs.map(Into::into),
        apply: format!("latlas exec --{name} -- CMD"),
        unavailable: unavailable.map(Into::into),
    }
}

/// Sixteen runs around `ms`, spread by `share`.
fn arm(name: &str, workload: Workload, ms: f64, share: f64, seed: u64) -> EffectArm {
    let mut random = fastrand::Rng::with_seed(seed);
    let run = |k: usize| {
        let off = 2.0 * random.f64() - 1.0;
        let ns = ms * 1e6 * (1.0 + share * off);
        OneRun {
            at_ms: 1000 + 90 * k as u64,
            wall_ns: ns as u64 + 1_000_000,
            took_ns: ns as u64,
            user_ns: (ms.min(62.0) * 1e6) as u64,
            system_ns: 400_000,
            voluntary: 1,
            involuntary: (ms / 4.0) as u64,
            migrations: Some(k.is_multiple_of(4).into()),
            cycles: None,
            wakeups: (workload == Workload::Wakeup).then_some(Wakeups {
                count: 230,
                mean_ns: ns / 600.0,
                p50_ns: ns / 700.0,
                p99_ns: ns / 90.0,
                max_ns: ns / 20.0,
            }),
        }
    };
    EffectArm { name: name.into(), runs: (0..16).map(run).collect() }
}

fn block(workload: Workload, load: Load, arms: [(&str, f64, f64); 3]) -> Block {
    let arms = arms.iter().enumerate();
    Block {
        workload,
        load,
        arms: arms
            .map(|(k, &(name, ms, share))| arm(name, workload, ms, share, 50 + k as u64))
            .collect(),
    }
}

fn made_effects() -> Effects {
    let controls = vec![
        control("pin", "pinned to one CPU", None, None),
        control("fifo", "SCHED_FIFO, priority 1", Some("root or CAP_SYS_NICE"), None),
        control(
            "turbo",
            "no frequency above the nominal one",
            Some("root"),
            Some("nothing to set: this machine has no such control, or it is set so already"),
        ),
    ];
    let blocks = vec![
        block(
            Workload::Cpu,
            Load::None,
            [("none", 80.0, 0.2), ("pin", 81.0, 0.21), ("fifo", 79.0, 0.2)],
        ),
        block(
            Workload::Cpu,
            Load::SameSession,
            [("none", 203.0, 0.2), ("pin", 213.0, 0.2), ("fifo", 65.4, 0.02)],
        ),
        block(
            Workload::Memory,
            Load::SameSession,
            [("none", 500.0, 0.3), ("pin", 1400.0, 0.1), ("fifo", 206.0, 0.02)],
        ),
        block(
            Workload::Wakeup,
            Load::OtherSession,
            [("none", 90.0, 0.3), ("pin", 88.0, 0.3), ("fifo", 60.0, 0.01)],
        ),
    ];
    Effects {
        how: How {
            rounds: 16,
            most_ms: None,
            seed: 7,
            cpus: vec![0, 1],
            pinned_to: Some(1),
            busy: 2,
            job_ns: 60_000_000,
            work: vec![Work { workload: Workload::Cpu, amount: 1000, bytes: 0 }],
            not_counted: vec![NotCounted {
                what: "cycles".into(),
                reason: "no hardware counters: neither processor nor hypervisor offers any".into(),
            }],
            command: Vec::new(),
        },
        controls,
        blocks,
    }
}

fn draw(document: &Effects, wide: bool) -> String {
    let references = References::embedded().expect("references");
    crate::terminal::plain(&joined(effects(document, &references, wide)))
}

#[test]
fn the_page_of_an_experiment() {
    let text = draw(&made_effects(), false);
    insta::assert_snapshot!(text);
    let widest = text.lines().map(layout::width).max();
    assert!(widest <= Some(COLUMNS), "{widest:?} columns");
    assert!(text.lines().all(|line| line == line.trim_end()));
    // The book's turbo that is on is ours that is off.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("without turbo: cpus utilized 0.993"), "{text}");
    assert!(words.contains("; with turbo: cpus utilized 1.0"), "{text}");
    // The advice is what was told, and that alone.
    let advice = text.split("Advice").nth(1).and_then(|rest| rest.split("\n\n").next());
    let advice = advice.expect("advice");
    assert!(advice.contains("1. fifo") && !advice.contains("turbo"), "{text}");
    assert!(!advice.contains("2. pin"), "{text}");
}

#[test]
fn every_figure_of_an_experiment() {
    insta::assert_snapshot!(draw(&made_effects(), true));
}

/// Each effect is a line of the picture, with the figures of the table; of many those that are shown.
#[test]
fn the_picture_has_the_figures_of_the_effects() {
    let effects = made_effects().effects();
    let dots = |effects: &[model::noise::effect::Effect]| {
        let chart = crate::chart::of_effects(effects).expect("a picture");
        let crate::chart::Body::Dots(dots) = chart.body else { panic!("{}", chart.id) };
        (dots.rows, chart.notes)
    };
    let (rows, notes) = dots(&effects);
    assert_eq!(rows.len(), 2 * effects.len());
    assert_eq!(notes, Vec::<String>::new());
    for change in effects.iter().flat_map(|effect| [&effect.time, &effect.spread]) {
        let ratio = change.found.ratio.expect("enough rounds");
        let dot = rows.iter().find(|dot| dot.value == Some(ratio.value)).expect("its line");
        assert_eq!(dot.low, Some(ratio.low), "{}", dot.id);
    }
    assert!(rows.iter().any(|dot| dot.id == "pin time, cpu with a load in the same session"));
    // All that were told are in front.
    let told = effects.iter().flat_map(|effect| [&effect.time, &effect.spread]);
    let told = told.filter(|change| change.found.is_different()).count();
    let is_told =
        |dot: &model::chart::Dot| dot.finding == Some(model::compare::finding::Verdict::Different);
    assert!(rows[..told].iter().all(is_told) && !rows[told..].iter().any(is_told));
    let many: Vec<_> = effects.iter().cycle().take(31).cloned().collect();
    let (all, _) = dots(&many);
    assert_eq!(all.len(), 62, "the figures have all, the drawing counts the rest");
    assert_eq!(crate::chart::of_effects(&[]), None);
}

#[test]
fn few_rounds_show_nothing() {
    let mut cut = made_effects();
    cut.blocks.truncate(1);
    for arm in &mut cut.blocks[0].arms {
        arm.runs.truncate(3);
    }
    let text = draw(&cut, false);
    assert!(text.contains("inconclusive: cpu none"), "{text}");
    assert!(text.starts_with("0 of 3 controls made the job"), "{text}");
    assert!(!text.contains("Advice"), "{text}");
    assert!(!text.contains("memory-bound"), "{text}");
    let mut nothing = made_effects();
    nothing.blocks.clear();
    assert!(!draw(&nothing, true).contains("Advice"));
}
