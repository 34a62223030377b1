//! Plans of several requests, as one page to be read: rounds and times, the
//! controls, and each block with its arms.

use super::{ALL_LOADS, planned, request};
use model::noise::effect::{Load, Workload};
use noise::ab::available::{Here, NoPin, Unavailable};
use noise::ab::control;
use noise::ab::plan::plan;
use noise::ab::planned::{AbPlan, AbRequest, Length, PlannedArm};
use noise::ab::toggle::ToggleError;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

fn usual(controls: &[&str]) -> AbRequest {
    let jobs = [Workload::Cpu, Workload::Memory, Workload::Wakeup];
    request(controls, &jobs, &ALL_LOADS, Length::Usual)
}

#[derive(Default)]
struct PrintedPage(String);

impl PrintedPage {
    /// Rounds and times.
    fn length(&mut self, name: &str, plan: &AbPlan) {
        let AbPlan { rounds, most_rounds, least_rounds, most_ms, expected_ms, busy, .. } = plan;
        let most_ms = most_ms.map_or("any time".into(), |ms| format!("{ms} ms"));
        let runs = plan.run_count();
        let line = format!(
            "{name}: {rounds} rounds of {least_rounds} to {most_rounds}, {runs} runs, \
             {expected_ms} of {most_ms}, busy {busy}"
        );
        writeln!(self.0, "{line}").expect("text");
    }

    /// Everything; blocks with the same arms together.
    fn whole(&mut self, name: &str, plan: &AbPlan) {
        self.0.push('\n');
        self.length(name, plan);
        for control in &plan.controls {
            let line = match &control.unavailable {
                Some(why) => format!("not available: {why}"),
                None => format!(
                    "{} against {}: {}; else {}; apply: {}",
                    control.on_arm, control.off_arm, control.on, control.off, control.apply
                ),
            };
            writeln!(self.0, "  {}: {line}", control.name).expect("text");
        }
        for blocks in plan.blocks.chunk_by(|a, b| a.arms == b.arms) {
            for block in blocks {
                let (workload, load) = (block.workload.name(), block.load.in_words());
                writeln!(self.0, "  {workload} {load}: {:.1} ms", block.round_ms).expect("text");
            }
            for arm in &blocks[0].arms {
                writeln!(self.0, "    {}", in_words(arm)).expect("text");
            }
        }
    }
}

fn in_words(arm: &PlannedArm) -> String {
    let settings = serde_json::to_string(&arm.asked.settings).expect("JSON");
    let cold = if arm.cold { ", cold" } else { "" };
    let toggle = arm.toggle.as_ref();
    let toggle = toggle.map_or(String::new(), |name| format!(", switches {name}"));
    format!("{} {}{cold}{toggle}", arm.name, settings.replace('"', ""))
}

#[test]
fn plans() {
    let mut page = PrintedPage::default();
    // A control that is not available has no arm; files are a job of their own.
    let some = plan(&usual(&["pin", "fifo", "cache"]), |spec, _| match spec.name {
        "fifo" => Err(Unavailable::NeedsRoot),
        _ => Ok(Here::default()),
    });
    page.whole("pin, cache, and fifo that is refused", &some);

    // What pins its job is compared with a pinned one, and needs a CPU.
    let pinned = planned(&usual(&["shield", "irq-affinity"]));
    page.whole("controls of one CPU", &pinned);
    let no_cpu = AbRequest { pin: Err(NoPin::NoCpu), ..usual(&[]) };
    page.whole("all, and no CPU to pin to", &planned(&no_cpu));

    // All that this machine has: what takes CPUs offline only by name.
    let here = plan(&usual(&[]), |spec, _| match spec.name {
        "turbo" | "governor" => Err(Unavailable::Other("not in this machine")),
        // The one or the other: never both.
        "no-thp" => Err(Unavailable::NotAlways("madvise".into())),
        "thp" => Ok(Here { off: Some("madvise".into()), ..Here::default() }),
        _ => Ok(Here::default()),
    });
    assert_eq!(here.controls.len(), control::ALL.len());
    assert!(here.expected_ms < 300_000, "five minutes");
    page.whole("all", &here);
    page.whole("smt by its name", &planned(&usual(&["smt"])));

    // What refuses later is taken out.
    let asked = usual(&["pin", "thp"]);
    let mut without = planned(&asked);
    page.length("\npin and thp", &without);
    let refused = BTreeMap::from([("thp".into(), ToggleError::AlreadySet)]);
    without.leave_out(&refused, &asked);
    page.whole("pin, and thp that does not go on", &without);
    insta::assert_snapshot!(page.0);
}

#[test]
fn lengths_of_plans() {
    let mut page = PrintedPage::default();
    // A time becomes rounds, and no fewer than can show anything.
    for seconds in [1, 60, 120] {
        let timed =
            AbRequest { length: Length::Time(Duration::from_secs(seconds)), ..usual(&["pin"]) };
        page.length(&format!("pin in {seconds} s"), &planned(&timed));
    }
    // Switching that was timed counts.
    for switch_ms in [10.0, 1010.0] {
        let timed =
            AbRequest { switch_ms: BTreeMap::from([("thp".into(), switch_ms)]), ..usual(&["thp"]) };
        let name = format!("thp, which takes {switch_ms} ms");
        page.length(&name, &planned(&timed));
    }
    // A command is the only job, and gets rounds by how long it takes; however
    // long, enough for one interval (eight comparisons: 2 / 2^9 is below
    // 0.05 / 8), and then a tenth more time.
    for (job_ms, length) in [
        (10, Length::Usual),
        (2_000, Length::Usual),
        (60_000, Length::Usual),
        (60_000, Length::Rounds(9)),
    ] {
        let command = AbRequest {
            workloads: vec![Workload::Command],
            loads: vec![Load::None],
            job: Duration::from_millis(job_ms),
            length,
            ..usual(&["pin", "cache"])
        };
        let name = format!("a command of {job_ms} ms, {length:?}");
        page.length(&name, &planned(&command));
    }
    insta::assert_snapshot!(page.0);
}
