//! Advice, the largest effect first.
//!
//! The order of the first ranks is measured: a job of 60 ms, bound by the core
//! or by memory, with a load, in interleaved rounds, on two kinds of virtual
//! machines with two shared cores (figures in docs/noise/controls.md). Unmeasured
//! steps follow, and say so.

use super::context::ControlContext;
use super::process::throttling;
use model::noise::control::{Advice, Control, HindranceKind, Privilege, Tuned, ValueState};

/// Controls that one step sets.
struct Rank {
    controls: &'static [&'static str],
    step: Step,
    worth: &'static str,
}

enum Step {
    /// Waiting for other processes, or stopping one.
    Others,
    /// By the control's own command.
    Own(&'static str),
    /// With SCHED_FIFO.
    Fifo,
    /// With `latlas exec` and the settings that this process lacks.
    Exec,
    /// With `noise tune --only`, all together.
    Tune(&'static str),
}

const RANKS: &[Rank] = &[
    Rank {
        controls: &["noisiest"],
        step: Step::Others,
        worth: "a load in another session made the job 3.1 and 1.6 times as long on two machines, in the same session 2.5 and 1.4 times",
    },
    Rank {
        controls: &["policy"],
        step: Step::Fifo,
        worth: "with a load in another session 254 to 60 ms and 96 to 61 ms on two machines, memory-bound 939 to 206 and 122 to 82",
    },
    Rank { controls: &["autogroup", "nice", "affinity"], step: Step::Exec, worth: "" },
    Rank {
        controls: &["page-cache"],
        step: Step::Own("write dirty pages back before the run"),
        worth: "not measured; cold against warm files: 3.3 times for git status, 9.1 times for reading files",
    },
    Rank { controls: &["battery"], step: Step::Own("connect mains power"), worth: NOT_MEASURED },
    Rank {
        controls: &["thermal", "low-power"],
        step: Step::Own("let the machine cool down, turn Low Power Mode off"),
        worth: NOT_MEASURED,
    },
    Rank {
        controls: &["turbo", "governor", "epp", "epb"],
        step: Step::Tune("fix the clock"),
        worth: "not measured: no test machine had a settable clock",
    },
    Rank {
        controls: &["smt"],
        step: Step::Tune("use one thread per core"),
        worth: "not measured: no test machine had sibling threads",
    },
    Rank {
        controls: &[
            "irq-affinity",
            "default-irq-affinity",
            "workqueues",
            "sample-rate",
            "nmi-watchdog",
            "timer-migration",
        ],
        step: Step::Tune("keep interrupts and kernel work off the quiet CPUs"),
        worth: "IRQ affinity: no effect shown on one machine; the others not measured; noise measure shows their share here",
    },
    Rank {
        controls: &["thp", "thp-defrag", "khugepaged", "numa-balancing"],
        step: Step::Tune("stop page migration and compaction"),
        worth: "THP: no effect shown on one machine; the others not measured",
    },
];

const NOT_MEASURED: &str = "not measured";

/// What can be done here about these controls.
pub(super) fn advice(context: &ControlContext, controls: &[Control]) -> Vec<Advice> {
    RANKS.iter().flat_map(|rank| steps(context, controls, rank)).collect()
}

/// The steps of a rank: with [`Step::Exec`] a user who is not root gets a second
/// one that needs no privilege.
fn steps(context: &ControlContext, controls: &[Control], rank: &Rank) -> Vec<Advice> {
    let concerned: Vec<&Control> = rank
        .controls
        .iter()
        .filter_map(|id| controls.iter().find(|control| control.id == *id))
        .filter(|control| control.state == ValueState::Improvable && can_be_done(control))
        .collect();
    let Some(first) = concerned.first() else {
        return Vec::new();
    };
    let by_root = |control: &&Control| {
        let setting = control.setting.as_ref();
        setting.is_some_and(|setting| setting.who == Privilege::Root)
    };
    // tune needs root even if the files are writable.
    let root = matches!(rank.step, Step::Tune(_)) || concerned.iter().any(by_root);
    let who = if root { Privilege::Root } else { Privilege::AnyUser };
    let sudo = if root { context.sudo() } else { "" };
    let ids: Vec<String> = concerned.iter().map(|control| control.id.clone()).collect();
    let mut worth = rank.worth.to_owned();
    let own_command = || {
        let setting = first.setting.as_ref();
        setting.map_or(String::new(), |setting| setting.command.clone())
    };
    let (what, command) = match rank.step {
        Step::Others if own_command().is_empty() => {
            ("wait for other processes to finish".to_owned(), String::new())
        }
        Step::Others => (
            "wait for other processes to finish, or stop the busiest during the run".to_owned(),
            own_command(),
        ),
        Step::Own(what) => (what.to_owned(), own_command()),
        Step::Fifo => {
            worth = format!("{worth}; {}", throttling(context));
            (
                "use real-time priority (SCHED_FIFO; latlas exec --fifo for a command)".to_owned(),
                format!("{sudo}latlas run --fifo"),
            )
        }
        Step::Exec => {
            let (what, options, known) = lacking(&ids);
            worth = known.to_owned();
            (what, format!("{sudo}latlas exec{options} -- COMMAND"))
        }
        Step::Tune(what) => {
            (what.to_owned(), format!("{sudo}latlas noise tune --apply --only {}", ids.join(",")))
        }
    };
    let mut steps = vec![Advice { controls: ids, what, who, command, worth }];
    let unprivileged: Vec<String> = concerned
        .iter()
        .filter(|control| !by_root(control))
        .map(|control| control.id.clone())
        .collect();
    if matches!(rank.step, Step::Exec) && root && !context.root && !unprivileged.is_empty() {
        let (what, options, _) = lacking(&unprivileged);
        steps.push(Advice {
            controls: unprivileged,
            what: format!("without root: {what}, separate session"),
            who: Privilege::AnyUser,
            command: format!("latlas exec{options} --own-session -- COMMAND"),
            worth: "removes migrations; each session gets the same CPU share, however many processes it has (no gain shown with two busy processes)".to_owned(),
        });
    }
    steps
}

/// Settings that a process lacks of these controls: in words, as options, and
/// their measured effect.
fn lacking(ids: &[String]) -> (String, String, &'static str) {
    let lacks = |id: &str| ids.iter().any(|lacking| lacking == id);
    let parts = [
        ("affinity", "pin to one CPU", " --pin"),
        ("nice", "nice -10", " --nice -10"),
        ("autogroup", "autogroup nice -10", " --autogroup -10"),
    ];
    let lacking: Vec<_> = parts.iter().filter(|(id, _, _)| lacks(id)).collect();
    let words: Vec<&str> = lacking.iter().map(|(_, words, _)| *words).collect();
    let worth = match (lacks("autogroup"), lacks("nice")) {
        (true, _) => {
            "with a load in another session 254 to 75 ms and 96 to 63 ms on two machines; on the first, nice alone had no effect (254) and pinning alone made it worse (320)"
        }
        (false, true) => {
            "with a load in the same session 203 to 91 ms and 88 to 65 ms on two machines; with one in another session no effect on the first, while autogroups are on (254)"
        }
        (false, false) => {
            "removes migrations only: with a load in the same session 203 to 213 ms and 88 to 103 ms on two machines"
        }
    };
    (words.join(", "), lacking.iter().map(|(_, _, option)| *option).collect(), worth)
}

/// Whether some user here can set it; read-only mounts and missing kernel
/// features exclude all.
fn can_be_done(control: &Control) -> bool {
    let hindrance = control.hindrance.as_ref();
    let tuned = !matches!(control.tuned, Tuned::Never) || control.setting.is_some();
    let by_hand = matches!(control.id.as_str(), "battery" | "thermal" | "noisiest");
    (tuned || by_hand) && hindrance.is_none_or(|h| h.kind == HindranceKind::NoPrivilege)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{CONTROLS, tunable};

    #[test]
    fn ranks_name_existing_controls() {
        let known: Vec<&str> = CONTROLS.iter().map(|control| control.id).collect();
        let tunable: Vec<&str> = tunable().iter().map(|(id, _)| *id).collect();
        for rank in RANKS {
            for id in rank.controls {
                assert!(known.contains(id), "{id}");
                if let Step::Tune(_) = rank.step {
                    assert!(tunable.contains(id), "{id}");
                }
            }
        }
    }

    #[test]
    fn only_lacking_settings_are_advised() {
        let ids =
            |list: &[&str]| -> Vec<String> { list.iter().map(|id| (*id).to_owned()).collect() };
        let (what, options, worth) = lacking(&ids(&["nice", "affinity"]));
        assert_eq!(what, "pin to one CPU, nice -10");
        assert_eq!(options, " --pin --nice -10");
        assert!(worth.contains("203 to 91"));
        let (_, options, worth) = lacking(&ids(&["affinity"]));
        assert_eq!(options, " --pin");
        assert!(worth.contains("migrations only"));
    }
}
