//! `latlas qos knobs`: what each control of the scheduler does.

use crate::arguments::qos::KnobsOptions;
use crate::command::measured::{lock, stop_on_signals};
use crate::command::recorded::{Destination, about};
use crate::output;
use crate::progress::Bar;
use anyhow::bail;
use model::qos::knobs::{Knob, Session};
use model::recording::Recording;
use model::run::Run;
use qos::knobs::{KnobPlan, measure_knobs, table_knobs};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Threads take turns of some milliseconds: 4 ms are 0.4 points of it.
const SHARE_WINDOW: Duration = Duration::from_secs(1);
/// About 350 periods of a small thread.
const WAKEUP_WINDOW: Duration = Duration::from_millis(750);

/// `--quick` measures for so many times less.
const QUICK_PART: u32 = 2;

/// Measures the knobs and prints them.
pub(super) fn knobs(options: &KnobsOptions) -> anyhow::Result<ExitCode> {
    if cfg!(not(any(target_os = "linux", target_os = "android"))) {
        bail!("not available here: these are controls of the Linux scheduler");
    }
    let part = if options.quick { QUICK_PART } else { 1 };
    let plan = KnobPlan {
        knobs: chosen(&options.words)?,
        rounds: options.rounds(),
        seed: options.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
        share_window: SHARE_WINDOW / part,
        wakeup_window: WAKEUP_WINDOW / part,
    };
    let destination = Destination::from_options(&options.run, &[], false)?;
    let _lock = lock("latlas qos knobs", None, options.run.wait)?;
    let stop = stop_on_signals()?;
    let machine = sys::machine_facts(Path::new("/"));
    let quick = KnobPlan {
        rounds: 1,
        share_window: SHARE_WINDOW / QUICK_PART,
        wakeup_window: WAKEUP_WINDOW / QUICK_PART,
        ..plan.clone()
    };
    output::announce(
        plan.duration(),
        match options.quick {
            true => String::new(),
            false => format!("; --quick takes about {} s", quick.duration().as_secs()),
        },
    );
    let bar = Bar::on_stderr();
    let (started_unix_ms, began_ns) = (sys::realtime_unix_ms(), sys::monotonic_raw_ns());
    let measured = measure_knobs(&plan, stop, &mut |done, all| {
        bar.message(&format!("measurement {done} of {all}"));
    });
    bar.clear();
    let (knobs, partial) = measured?;
    let is_known = knobs.knobs.iter().any(|row| row.all_cpus.median().is_some());
    let about = about(machine, started_unix_ms, began_ns);
    let run = Run::recorded(about, Recording::Knobs(knobs), partial);
    destination.finish(&run, (true, is_known))
}

/// The knobs with one of these words in their name, and no knob for comparison.
fn chosen(words: &[String]) -> anyhow::Result<Vec<(Knob, Session)>> {
    let all = table_knobs();
    for word in words {
        if !all.iter().any(|(knob, _)| has(knob, word)) {
            let mut names: Vec<String> = all.iter().map(|(knob, _)| knob.label()).collect();
            names.sort();
            names.dedup();
            bail!("no knob has {word:?} in its name; there are: {}", names.join(", "));
        }
    }
    let is_chosen = |knob: &Knob| {
        words.is_empty() || *knob == Knob::default() || words.iter().any(|word| has(knob, word))
    };
    Ok(all.into_iter().filter(|(knob, _)| is_chosen(knob)).collect())
}

fn has(knob: &Knob, word: &str) -> bool {
    knob.label().to_lowercase().contains(&word.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_are_chosen_by_words() {
        let names = |words: &[&str]| -> Vec<String> {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let chosen = chosen(&words).expect("there are some");
            chosen.iter().map(|(knob, _)| knob.label()).collect()
        };
        assert_eq!(names(&[]).len(), table_knobs().len());
        assert_eq!(names(&["batch"]), ["none", "SCHED_BATCH", "none", "SCHED_BATCH"]);
        assert!(names(&["cgroup", "rr"]).contains(&"cgroup cpu.idle".to_owned()));
        let error = chosen(&["nise".into()]).expect_err("none");
        assert!(error.to_string().contains("SCHED_FIFO 10"), "{error}");
    }
}
