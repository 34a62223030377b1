//! The keys of the file, and which options of which commands each is a default
//! of: the one list that applying, showing and the tests read.

use super::Configuration;
use clap::ValueEnum;
use model::run::Scale;
use std::path::Path;

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    /// Its name with its table, as `run.pin`.
    pub(crate) name: &'static str,
    /// The option it is a default of; none for what is no option.
    pub(crate) option: Option<&'static str>,
    /// The commands that take it, as they are typed after `latlas`; the empty
    /// one is `latlas` alone.
    pub(crate) of: Of,
    /// Whether it changes what is measured: such a run says where it came from.
    pub(crate) measures: bool,
    /// The values that the file gives, as a command line would.
    pub(crate) values: Option<Vec<String>>,
}

/// The commands of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// Those that have an option of that name: it means the same in all.
    All,
    /// These only: elsewhere the name means something else.
    These(&'static [&'static str]),
}

const MEASURING: Of = Of::These(&["", "run", "selftest", "table"]);
const STARTING: Of = Of::These(&["", "run", "exec"]);

/// All keys, in the order of the file.
pub(crate) fn keys(from: &Configuration) -> Vec<Key> {
    let (run, controls, look) = (&from.run, &from.controls, &from.look);
    let scale = run.scale.map(|scale| match scale {
        Scale::Quick => "quick",
        Scale::Default => "default",
        Scale::Full => "full",
    });
    let path = |path: &Option<_>| text(path.as_deref().map(Path::display));
    let measured = |name, option, of, values| Key {
        measures: true,
        ..key(name, option, of, values)
    };
    vec![
        Key {
            option: None,
            ..key("data_dir", "", Of::These(&[]), path(&from.data_dir))
        },
        Key {
            // One key for two flags.
            option: match run.scale {
                Some(Scale::Default) => None,
                Some(Scale::Full) => Some("full"),
                Some(Scale::Quick) | None => Some("quick"),
            },
            ..measured("run.scale", "", MEASURING, text(scale))
        },
        measured("run.pin", "pin", MEASURING, text(run.pin)),
        measured("run.budget", "budget", MEASURING, text(run.budget.as_ref())),
        measured("run.dir", "dir", MEASURING, path(&run.dir)),
        measured("controls.nice", "nice", STARTING, text(controls.nice)),
        measured(
            "controls.autogroup",
            "autogroup",
            STARTING,
            text(controls.autogroup),
        ),
        measured("controls.fifo", "fifo", STARTING, text(controls.fifo)),
        measured(
            "controls.shield",
            "shield",
            STARTING,
            text(controls.shield.as_ref()),
        ),
        // To exec, --vs is another command.
        key(
            "look.vs",
            "vs",
            Of::These(&["", "run", "show"]),
            look.vs.clone(),
        ),
        key("look.wide", "wide", Of::All, text(look.wide)),
        key("look.human", "human", Of::All, text(look.human)),
        key("look.frames", "frames", Of::All, text(look.frames)),
        key(
            "look.color",
            "color",
            Of::All,
            text(
                look.color
                    .and_then(|color| Some(color.to_possible_value()?.get_name().to_owned())),
            ),
        ),
        key(
            "gate.margin",
            "margin",
            Of::All,
            text(from.gate.margin.as_ref()),
        ),
        key(
            "gate.fail_above",
            "fail_above",
            Of::All,
            text(from.gate.fail_above.as_ref()),
        ),
        key(
            "serve.listen",
            "listen",
            Of::These(&["serve"]),
            text(from.serve.listen.as_ref()),
        ),
    ]
}

fn key(name: &'static str, option: &'static str, of: Of, values: Option<Vec<String>>) -> Key {
    Key {
        name,
        option: Some(option),
        of,
        measures: false,
        values,
    }
}

fn text(value: Option<impl ToString>) -> Option<Vec<String>> {
    value.map(|value| vec![value.to_string()])
}

impl Key {
    /// Whether it is a default of this command's option, if the command has it.
    pub(crate) fn is_of(&self, command: &str) -> bool {
        match self.of {
            Of::All => true,
            Of::These(commands) => commands.contains(&command),
        }
    }

    /// The value as it is told.
    pub(crate) fn told(&self) -> Option<String> {
        self.values.as_ref().map(|values| values.join(", "))
    }
}
