//! What to do, what helps most first.
//!
//! The order of the first ranks is that of measurements: a job of 60 ms,
//! bound by the core or by memory, beside a load, in rounds by turns, on two
//! kinds of virtual machines with two shared cores (docs/noise/controls.md has
//! the figures). What was never measured comes after what was, and says so.

use super::own::lost_by_spinning;
use super::sight::Sight;
use model::noise::control::{Advice, Control, Kind, State, Tuned, Who};

/// A rank: controls that are done by one step.
struct Rank {
    controls: &'static [&'static str],
    step: Step,
    worth: &'static str,
}

/// How the step is given.
enum Step {
    /// Others are to leave.
    Others,
    /// Each by its own command.
    Own(&'static str),
    /// By the scheduler's first class.
    Fifo,
    /// By what else a process may be given, as far as it lacks it.
    Given,
    /// By `noise tune --only`, all together.
    Tune(&'static str),
}

const RANKS: &[Rank] = &[
    Rank {
        controls: &["noisiest"],
        step: Step::Others,
        worth: "a load in another session made the job 3.1 and 1.6 times as long on two machines, one in the same session 2.5 and 1.4 times",
    },
    Rank {
        controls: &["policy"],
        step: Step::Fifo,
        worth: "beside a load in another session 254 to 60 ms and 96 to 61 on two machines, memory-bound 939 to 206 and 122 to 82",
    },
    Rank {
        controls: &["autogroup", "nice", "affinity"],
        step: Step::Given,
        worth: "",
    },
    Rank {
        controls: &["page-cache"],
        step: Step::Own("have the kernel write now what it would write during the run"),
        worth: "not measured; cold files against warm ones: 3.3 times for git status, 9.1 times for reading files",
    },
    Rank {
        controls: &["battery"],
        step: Step::Own("connect the mains"),
        worth: NOT_MEASURED,
    },
    Rank {
        controls: &["thermal", "low-power"],
        step: Step::Own("let the machine cool down, and leave Low Power Mode"),
        worth: NOT_MEASURED,
    },
    Rank {
        controls: &["turbo", "governor", "epp", "epb"],
        step: Step::Tune("keep the clock steady"),
        worth: "not measured by us: no machine we had lets its clock be set",
    },
    Rank {
        controls: &["smt"],
        step: Step::Tune("leave one thread on each core"),
        worth: "not measured by us: no machine we had shows sibling threads",
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
        step: Step::Tune("keep interrupts and the kernel's own work away"),
        worth: "moving interrupts: no effect shown on one machine; the others not measured; noise measure shows what they take here",
    },
    Rank {
        controls: &["thp", "thp-defrag", "khugepaged", "numa-balancing"],
        step: Step::Tune("keep pages where they are"),
        worth: "transparent huge pages: no effect shown on one machine; the others not measured",
    },
];

const NOT_MEASURED: &str = "not measured";

/// What somebody here can do about these controls.
pub(super) fn advice(sight: &Sight, controls: &[Control]) -> Vec<Advice> {
    RANKS
        .iter()
        .flat_map(|rank| steps(sight, controls, rank))
        .collect()
}

/// The step of a rank. Of what a process may be given somebody who is not root
/// gets a second one: what needs no right.
fn steps(sight: &Sight, controls: &[Control], rank: &Rank) -> Vec<Advice> {
    let concerned: Vec<&Control> = rank
        .controls
        .iter()
        .filter_map(|id| controls.iter().find(|control| control.id == *id))
        .filter(|control| control.state == State::Improvable && can_be_done(control))
        .collect();
    let Some(first) = concerned.first() else {
        return Vec::new();
    };
    let by_root = |control: &&Control| {
        let setting = control.setting.as_ref();
        setting.is_some_and(|setting| setting.who == Who::Root)
    };
    // It sets files that an ordinary user may write, too, but refuses him.
    let root = matches!(rank.step, Step::Tune(_)) || concerned.iter().any(by_root);
    let who = if root { Who::Root } else { Who::Anybody };
    let sudo = if root { sight.sudo() } else { "" };
    let ids: Vec<String> = concerned.iter().map(|control| control.id.clone()).collect();
    let mut worth = rank.worth.to_owned();
    let own_command = || {
        let setting = first.setting.as_ref();
        setting.map_or(String::new(), |setting| setting.command.clone())
    };
    let (what, command) = match rank.step {
        Step::Others if own_command().is_empty() => {
            ("wait until others have finished".to_owned(), String::new())
        }
        Step::Others => (
            "wait until others have finished, or stop the busiest for the while".to_owned(),
            own_command(),
        ),
        Step::Own(what) => (what.to_owned(), own_command()),
        Step::Fifo => {
            worth = format!("{worth}; {}", lost_by_spinning(sight));
            (
                "measure under SCHED_FIFO (latlas exec --fifo for a command)".to_owned(),
                format!("{sudo}latlas run --fifo"),
            )
        }
        Step::Given => {
            let (what, options, known) = given(&ids);
            worth = known.to_owned();
            (what, format!("{sudo}latlas exec{options} -- COMMAND"))
        }
        Step::Tune(what) => (
            what.to_owned(),
            format!("{sudo}latlas noise tune --only {}", ids.join(",")),
        ),
    };
    let mut steps = vec![Advice {
        controls: ids,
        what,
        who,
        command,
        worth,
    }];
    let rightless: Vec<String> = concerned
        .iter()
        .filter(|control| !by_root(control))
        .map(|control| control.id.clone())
        .collect();
    if matches!(rank.step, Step::Given) && root && !sight.root && !rightless.is_empty() {
        let (what, options, _) = given(&rightless);
        steps.push(Advice {
            controls: rightless,
            what: format!("without root: {what}, and a session of its own"),
            who: Who::Anybody,
            command: format!("latlas exec{options} --own-session -- COMMAND"),
            worth: "removes migrations; a session has one share of the CPU, however many processes others have in theirs (beside two busy ones no gain was shown)".to_owned(),
        });
    }
    steps
}

/// What a process lacks of these controls: in words, as options, and what it
/// was worth.
fn given(ids: &[String]) -> (String, String, &'static str) {
    let lacks = |id: &str| ids.iter().any(|lacking| lacking == id);
    let parts = [
        ("affinity", "one CPU", " --pin"),
        ("nice", "a low nice value", " --nice -10"),
        (
            "autogroup",
            "a session of its own with a low nice value",
            " --autogroup -10",
        ),
    ];
    let lacking: Vec<_> = parts.iter().filter(|(id, _, _)| lacks(id)).collect();
    let words: Vec<&str> = lacking.iter().map(|(_, words, _)| *words).collect();
    let worth = match (lacks("autogroup"), lacks("nice")) {
        (true, _) => {
            "beside a load in another session 254 to 75 ms and 96 to 63 on two machines; on the first nice alone did nothing there (254) and pinning alone made it worse (320)"
        }
        (false, true) => {
            "beside a load in the same session 203 to 91 ms and 88 to 65 on two machines; in another session on the first nothing while autogroups are on (254)"
        }
        (false, false) => {
            "removes migrations and nothing else: beside a load in the same session 203 to 213 ms and 88 to 103 on two machines"
        }
    };
    (
        format!("give what is measured {}", words.join(", ")),
        lacking.iter().map(|(_, _, option)| *option).collect(),
        worth,
    )
}

/// A step that another user of this system can do is one; what the mounts or
/// the kernel keep from everybody is none.
fn can_be_done(control: &Control) -> bool {
    let hindrance = control.hindrance.as_ref();
    let tuned = !matches!(control.tuned, Tuned::Never) || control.setting.is_some();
    let by_hand = matches!(control.id.as_str(), "battery" | "thermal" | "noisiest");
    (tuned || by_hand) && hindrance.is_none_or(|h| h.kind == Kind::NoPrivilege)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{all, tunable};

    #[test]
    fn ranks_are_of_controls_that_are_there() {
        let known: Vec<&str> = all().map(|control| control.id).collect();
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
    fn only_what_is_lacking_is_given() {
        let ids =
            |list: &[&str]| -> Vec<String> { list.iter().map(|id| (*id).to_owned()).collect() };
        let (what, options, worth) = given(&ids(&["nice", "affinity"]));
        assert_eq!(what, "give what is measured one CPU, a low nice value");
        assert_eq!(options, " --pin --nice -10");
        assert!(worth.contains("203 to 91"));
        let (_, options, worth) = given(&ids(&["affinity"]));
        assert_eq!(options, " --pin");
        assert!(worth.contains("nothing else"));
    }
}
