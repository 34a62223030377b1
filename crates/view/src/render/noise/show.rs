//! `noise show`: the controls group by group, and what to do about them.

use crate::grouped::grouped;
use crate::terminal::layout::{Style, styled, width};
use model::noise::control::{
    Control, ControlArea, Controls, Hindrance, HindranceKind, Privilege, Tuned, ValueState,
};
use model::story::Block;

/// Marks what was only ever tried on made-up machines.
const NEVER_RUN: &str = "*";
/// Columns of the names of controls, with the blanks before the values.
const NAMES: usize = 26;

/// All of it as text.
pub fn controls_blocks(controls: &Controls, wide: bool) -> Vec<Block> {
    let mut page = ControlsPage { blocks: Vec::new(), wide };
    page.header(controls);
    for group in [
        ControlArea::Clock,
        ControlArea::Cores,
        ControlArea::Scheduler,
        ControlArea::Interrupts,
        ControlArea::Memory,
        ControlArea::Environment,
    ] {
        page.group(group, &controls.controls);
    }
    page.advice(controls);
    page.footer(controls);
    page.blocks
}

struct ControlsPage {
    blocks: Vec<Block>,
    wide: bool,
}

impl ControlsPage {
    fn wrapped(&mut self, lead: &str, text: &str) {
        self.blocks.push(Block::labelled(lead, text));
    }

    /// An empty line, and what comes next.
    fn heading(&mut self, text: &str) {
        self.blocks.push(Block::empty_line());
        self.wrapped("", text);
    }

    /// A line below the value of a control.
    fn below(&mut self, label: &str, text: &str) {
        let lead = format!("{}{label}", " ".repeat(NAMES));
        self.wrapped(&lead, text);
    }

    /// A command or a path in one line however long: it is there to be copied.
    fn whole(&mut self, lead: &str, command: &str) {
        self.blocks.push(Block::Lines(vec![format!("{lead}{command}")]));
    }

    fn header(&mut self, controls: &Controls) {
        let mut parts = vec![match controls.root {
            true => "seen as root".to_owned(),
            false => "seen without root".to_owned(),
        }];
        parts.extend(controls.hypervisor.iter().map(|name| format!("{name} guest")));
        parts.extend(controls.container.iter().map(|name| format!("in {name}")));
        parts.push(match controls.quiet_cpus.as_slice() {
            [] => "no core to spare".to_owned(),
            quiet => format!("to be kept quiet: {}", cpus(quiet)),
        });
        self.wrapped("noise of this machine: ", &parts.join(", "));
        if let Some(pending) = &controls.pending {
            self.wrapped("! ", pending);
        }
        for note in &controls.notes {
            self.wrapped("! ", note);
        }
    }

    fn group(&mut self, group: ControlArea, all: &[Control]) {
        let heading = match group {
            ControlArea::Clock => "clock",
            ControlArea::Cores => "cores",
            ControlArea::Scheduler => "scheduler",
            ControlArea::Interrupts => "interrupts",
            ControlArea::Memory => "memory",
            ControlArea::Environment => "around us",
        };
        self.heading(heading);
        let group = all.iter().filter(|c| c.group == group);
        let (absent, present): (Vec<&Control>, Vec<&Control>) =
            group.partition(|control| is_absent(control) && !self.wide);
        for control in present {
            self.control(control);
        }
        self.absent(&absent);
    }

    /// What is not here, those with the same reason together.
    fn absent(&mut self, controls: &[&Control]) {
        let reasons = controls.iter();
        let reasons =
            reasons.filter_map(|c| Some((in_words(c.hindrance.as_ref()?), control_name(c))));
        for (reason, names) in grouped(reasons) {
            self.wrapped("  - ", &format!("{}: {reason}", names.join(", ")));
        }
    }

    fn control(&mut self, control: &Control) {
        let mark = match control.state {
            ValueState::Good => styled("+", Style::Good),
            ValueState::Improvable => styled("!", Style::Doubtful),
            ValueState::Information => " ".to_owned(),
            ValueState::Unknown => "-".to_owned(),
        };
        let name = control_name(control);
        let fill = " ".repeat(NAMES.saturating_sub(4 + width(&name)).max(1));
        let value = match (&control.now.value, &control.hindrance) {
            (Some(value), _) => value.clone(),
            (None, Some(hindrance)) => in_words(hindrance),
            (None, None) => control.now.to_string(),
        };
        self.wrapped(&format!("  {mark} {name}{fill}"), &value);
        if control.state == ValueState::Improvable || self.wide {
            self.more(control);
        }
    }

    /// What would be better, and who can do it.
    fn more(&mut self, control: &Control) {
        let wide = self.wide;
        if wide {
            self.below("what    ", &control.title);
            if let Some(source) = control.now.source.as_deref().filter(|s| !s.is_empty()) {
                self.whole(&format!("{}read in ", " ".repeat(NAMES)), source);
            }
        }
        if let Some(wanted) = control.wanted.as_ref().filter(|_| control.state != ValueState::Good)
        {
            self.below("better  ", &format!("{}: {}", wanted.value, wanted.why));
        }
        let Some(setting) = &control.setting else {
            return;
        };
        if control.state == ValueState::Good {
            return;
        }
        let who = match setting.who {
            Privilege::AnyUser => "you     ",
            Privilege::Root => "root    ",
            Privilege::Boot => "at boot ",
        };
        match &control.hindrance {
            // The label says who can; who can't is no more than that.
            Some(hindrance) if hindrance.kind != HindranceKind::NoPrivilege => {
                self.below("but     ", &in_words(hindrance));
            }
            _ => {
                match setting.who {
                    Privilege::Boot => self.below(who, &setting.command),
                    _ => self.whole(&format!("{}{who}", " ".repeat(NAMES)), &setting.command),
                }
                if let (true, Some(hindrance)) = (wide, &control.hindrance) {
                    self.below("now     ", &in_words(hindrance));
                }
            }
        }
        match (&control.tuned, wide) {
            (Tuned::ByDefault, true) => {
                self.below("tune    ", "in the default set of latlas noise tune")
            }
            (Tuned::ByName(why), true) => {
                self.below("tune    ", &format!("only with --only {}: {why}", control.id))
            }
            _ => {}
        }
    }

    fn advice(&mut self, controls: &Controls) {
        let advice = &controls.advice;
        if advice.is_empty() {
            return self.heading(match controls.sees() {
                true => "advice: nothing to improve on this machine",
                false => "advice: none, no control can be read here",
            });
        }
        self.heading("advice, what helps most first");
        for (at, one) in advice.iter().enumerate() {
            let who = match one.who {
                Privilege::Root => " (root)",
                Privilege::AnyUser | Privilege::Boot => "",
            };
            self.wrapped(&format!("{:>3} ", at + 1), &format!("{}{who}", one.what));
            if !one.command.is_empty() {
                self.whole("      ", &one.command);
            }
            self.wrapped("      ", &format!("worth: {}", one.worth));
        }
    }

    fn footer(&mut self, controls: &Controls) {
        self.blocks.push(Block::empty_line());
        if !controls.advice.is_empty() {
            self.wrapped(
                "",
                "The order, and figures of ms, are from a job of 60 ms on two kinds of machines (two shared \
                 virtual cores each): latlas noise ab measures what each is worth on this one.",
            );
        }
        let marks = "+ good, ! could be better, - unavailable";
        match controls.controls.iter().any(|control| control.fixtures_only) {
            true => self
                .wrapped("", &format!("{marks}; {NEVER_RUN} tested on simulated file trees only.")),
            false => self.wrapped("", &format!("{marks}.")),
        }
        if !self.wide {
            self.wrapped(
                "",
                "--wide shows what each control is, where it is read and how a shell sets it.",
            );
        }
    }
}

fn control_name(control: &Control) -> String {
    let star = if control.fixtures_only { NEVER_RUN } else { "" };
    format!("{}{star}", control.id)
}

fn is_absent(control: &Control) -> bool {
    control.now.value.is_none() && control.hindrance.is_some()
}

fn in_words(hindrance: &Hindrance) -> String {
    format!("{}: {}", hindrance.kind.words(), hindrance.why)
}

fn cpus(list: &[u32]) -> String {
    match list {
        [one] => format!("CPU {one}"),
        many => format!("CPUs {}", model::phrases::ranges(many)),
    }
}
