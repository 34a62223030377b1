//! Which advice follows from the effects shown: only controls that were shown
//! to be better here, the one that does most first.

use super::{Change, Control, Effect, Load, Workload};
use crate::stats::Interval;

/// A control that was shown to be better.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice<'a> {
    /// The control.
    pub control: &'a Control,
    /// Where it shortens a job the most for sure.
    pub time: Option<ShownEffect>,
    /// Where it makes wake-ups less late, the most for sure: a ratio of
    /// latenesses is no ratio of times, and often far from 1.
    pub late: Option<ShownEffect>,
    /// Where it steadies one the most for sure.
    pub spread: Option<ShownEffect>,
    /// Where it was shown to be worse.
    pub worse: Vec<ShownEffect>,
    /// Jobs and loads in which it is better in one or the other.
    pub better_in: usize,
    /// Of how many.
    pub of: usize,
}

/// An effect that was shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownEffect {
    /// Of which job.
    pub workload: Workload,
    /// Under which load.
    pub load: Load,
    /// On over off.
    pub ratio: Interval,
    /// Whether of its time; else of its spread.
    pub of_time: bool,
}

/// Advice from the effects, the best first: by the shortening of jobs that is
/// sure (the upper end of the interval), then by that of lateness, then by the
/// steadying.
pub fn advice<'a>(controls: &'a [Control], effects: &[Effect]) -> Vec<Advice<'a>> {
    let mut all: Vec<Advice> =
        controls.iter().filter_map(|control| of_control(control, effects)).collect();
    let sure = |shown: &Option<ShownEffect>| shown.map_or(1.0, |shown| shown.ratio.high);
    all.sort_by(|a, b| {
        let by_time = sure(&a.time).total_cmp(&sure(&b.time));
        let by_late = sure(&a.late).total_cmp(&sure(&b.late));
        by_time.then(by_late).then(sure(&a.spread).total_cmp(&sure(&b.spread)))
    });
    all
}

fn of_control<'a>(control: &'a Control, effects: &[Effect]) -> Option<Advice<'a>> {
    let own: Vec<&Effect> =
        effects.iter().filter(|effect| effect.control == control.name).collect();
    let best = |of_time: bool, of: &dyn Fn(Workload) -> bool| {
        own.iter()
            .filter(|effect| of(effect.workload))
            .filter_map(|effect| shown(effect, of_time, true))
            .min_by(|a, b| a.ratio.high.total_cmp(&b.ratio.high))
    };
    let better = |effect: &&&Effect| {
        [true, false].into_iter().any(|of_time| shown(effect, of_time, true).is_some())
    };
    let better_in = own.iter().filter(better).count();
    let worse = own.iter().flat_map(|effect| {
        [true, false].into_iter().filter_map(|of_time| shown(effect, of_time, false))
    });
    (better_in > 0).then(|| Advice {
        control,
        time: best(true, &|workload| workload != Workload::Wakeup),
        late: best(true, &|workload| workload == Workload::Wakeup),
        spread: best(false, &|_| true),
        worse: worse.collect(),
        better_in,
        of: own.len(),
    })
}

fn shown(effect: &Effect, of_time: bool, less: bool) -> Option<ShownEffect> {
    let change: &Change = match of_time {
        true => &effect.time,
        false => &effect.spread,
    };
    (change.is_less() == Some(less)).then_some(())?;
    // Steadier, and longer each time, is no gain.
    if less && effect.time.is_less() == Some(false) {
        return None;
    }
    Some(ShownEffect {
        workload: effect.workload,
        load: effect.load,
        ratio: change.found.ratio?,
        of_time,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::finding::Finding;
    use crate::compare::finding::Verdict::{self, CannotTell, Different};
    use crate::noise::effect::figures::RunMedians;

    fn control(name: &str) -> Control {
        Control {
            name: name.into(),
            on: String::new(),
            off: String::new(),
            on_arm: name.into(),
            off_arm: "none".into(),
            needs: None,
            apply: format!("apply {name}"),
            unavailable: None,
        }
    }

    fn change(ratio: f64, verdict: Verdict) -> Change {
        let ratio = Some(Interval { value: ratio, low: ratio * 0.9, high: ratio * 1.1 });
        Change { found: Finding { ratio, p_value: None, verdict, reason: None }, counts: None }
    }

    fn effect(control: &str, load: Load, time: Change, spread: Change) -> Effect {
        Effect {
            control: control.into(),
            workload: Workload::Cpu,
            load,
            rounds: 16,
            on: RunMedians::default(),
            off: RunMedians::default(),
            time,
            spread,
            switches: None,
            migrations: None,
        }
    }

    #[test]
    fn only_what_was_shown_and_the_best_first() {
        let none = || change(0.5, CannotTell);
        let controls = ["pin", "nice", "fifo", "session", "shield"].map(control);
        let effects = [
            effect("pin", Load::None, change(0.1, CannotTell), none()),
            effect("nice", Load::None, change(0.8, Different), none()),
            effect("nice", Load::SameSession, change(0.4, Different), none()),
            effect("fifo", Load::None, change(1.3, Different), none()),
            effect("fifo", Load::OtherSession, change(0.3, Different), change(0.2, Different)),
            effect("session", Load::None, none(), change(0.1, Different)),
            effect("shield", Load::None, change(1.5, Different), change(0.1, Different)),
        ];
        let advice = advice(&controls, &effects);
        let names: Vec<&str> = advice.iter().map(|a| a.control.name.as_str()).collect();
        assert_eq!(names, ["fifo", "nice", "session"]);
        assert_eq!((advice[0].better_in, advice[0].of), (1, 2));
        assert_eq!(advice[0].worse.len(), 1);
        assert_eq!(advice[0].spread.expect("steadier").load, Load::OtherSession);
        assert_eq!(advice[1].time.expect("shorter").load, Load::SameSession);
        assert_eq!((advice[1].better_in, advice[1].spread), (2, None));
        assert_eq!(advice[2].time, None);
    }

    #[test]
    fn lateness_is_listed_after_times() {
        let controls = ["fifo", "nice"].map(control);
        let none = || change(1.0, CannotTell);
        let sleeper = Effect {
            workload: Workload::Wakeup,
            ..effect("fifo", Load::None, change(0.05, Different), none())
        };
        let effects = [sleeper, effect("nice", Load::None, change(0.9, Different), none())];
        let advice = advice(&controls, &effects);
        assert_eq!(advice[0].control.name, "nice");
        assert_eq!((advice[1].time, advice[0].late), (None, None));
        assert_eq!(advice[1].late.expect("an effect").workload, Workload::Wakeup);
    }
}
