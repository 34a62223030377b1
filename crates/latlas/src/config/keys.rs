//! The keys of the file. Each is the default of an option, from which its type, its values and its
//! description derive.

use clap::{Arg, ArgAction, Command};
use serde_json::{Map, Value, json};
use std::any::TypeId;

/// A key, such as `run.pin`.
#[derive(Debug, PartialEq)]
pub(crate) struct Key {
    /// Its name, after that of its table.
    pub(crate) name: &'static str,
    /// The option that it is a default of; empty for none.
    option: &'static str,
    /// The commands that take it, as typed after `latlas`; empty for all that have the option.
    commands: &'static [&'static str],
    /// Whether it changes what is measured: then the command prints it.
    pub(crate) measures: bool,
}

const MEASURING: &[&str] = &["", "run", "selftest", "table"];
const STARTING: &[&str] = &["", "run", "exec"];

/// All keys, in the order of the file.
pub(crate) const KEYS: &[Key] = &[
    key("data_dir", "", &[""]),
    key("store", "", &[""]),
    key("packs_dir", "", &[""]),
    // One key for two flags.
    measured("run.scale", "quick", MEASURING),
    measured("run.pin", "pin", MEASURING),
    measured("run.budget", "budget", MEASURING),
    measured("run.dir", "dir", MEASURING),
    measured("controls.nice", "nice", STARTING),
    measured("controls.autogroup", "autogroup", STARTING),
    measured("controls.fifo", "fifo", STARTING),
    measured("controls.shield", "shield", STARTING),
    // To exec, --vs is another command.
    key("look.vs", "vs", &["", "run", "show"]),
    key("look.wide", "wide", &[]),
    key("look.human", "human", &[]),
    key("look.frames", "frames", &[]),
    key("look.color", "color", &[]),
    key("gate.margin", "margin", &[]),
    key("gate.fail_above", "fail_above", &[]),
    key("serve.listen", "listen", &["serve"]),
];

const fn key(name: &'static str, option: &'static str, commands: &'static [&'static str]) -> Key {
    Key { name, option, commands, measures: false }
}

const fn measured(
    name: &'static str,
    option: &'static str,
    commands: &'static [&'static str],
) -> Key {
    Key { measures: true, ..key(name, option, commands) }
}

/// What a key's value is in TOML.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A number.
    Integer,
    /// One of these words.
    Word(Vec<String>),
    /// Text that the option parses.
    Text,
    /// Several texts.
    List,
}

impl Key {
    /// The option that this value is for; `None` for a value that is no option.
    pub(crate) fn option_of(&self, value: &str) -> Option<&'static str> {
        match (self.name, value) {
            ("run.scale", "default") => None,
            ("run.scale", "full") => Some("full"),
            _ => Some(self.option).filter(|option| !option.is_empty()),
        }
    }

    /// Whether it is a default of this command's options.
    pub(crate) fn is_of(&self, command: &str) -> bool {
        self.commands.is_empty() || self.commands.contains(&command)
    }

    /// Whether its value is a path.
    pub(crate) fn is_path(&self) -> bool {
        self.name.ends_with("dir")
    }

    /// The commands whose option it is a default of, by their paths.
    pub(crate) fn taken_by<'a>(&self, command: &'a Command) -> Vec<(String, &'a Command)> {
        let Some(option) = self.option_of("") else {
            return Vec::new();
        };
        let mut all = all(command);
        all.retain(|(path, command)| self.is_of(path) && argument(command, option).is_some());
        all
    }

    /// The type of its values, that of the option.
    pub(crate) fn kind(&self, command: &Command) -> Kind {
        if self.name == "run.scale" {
            return Kind::Word(["quick", "default", "full"].map(str::to_owned).into());
        }
        let commands = self.taken_by(command);
        let option = commands.first().and_then(|(_, command)| argument(command, self.option));
        let Some(option) = option else {
            return Kind::Text;
        };
        let words = option.get_possible_values();
        let parsed = option.get_value_parser().type_id();
        let integers = [TypeId::of::<u8>(), TypeId::of::<u32>(), TypeId::of::<i32>()];
        match option.get_action() {
            ArgAction::SetTrue => Kind::Boolean,
            ArgAction::Append => Kind::List,
            _ if integers.iter().any(|integer| parsed == *integer) => Kind::Integer,
            _ if words.is_empty() => Kind::Text,
            _ => Kind::Word(words.iter().map(|word| word.get_name().to_owned()).collect()),
        }
    }

    /// Its description, that of the option.
    fn description(&self, command: &Command) -> String {
        match self.name {
            "data_dir" => "Directory of stored runs (LATLAS_DATA_DIR takes precedence)".into(),
            "store" => "Directory or PostgreSQL database of stored runs, instead of data_dir \
                 (LATLAS_STORE and LATLAS_DATA_DIR take precedence)"
                .into(),
            "packs_dir" => "Directory of probe packs that are always loaded".into(),
            "run.scale" => "Which rows and points are measured".into(),
            _ => {
                let commands = self.taken_by(command);
                let option =
                    commands.first().and_then(|(_, command)| argument(command, self.option));
                let help = option.and_then(Arg::get_help).map(ToString::to_string);
                help.unwrap_or_default()
            }
        }
    }
}

/// The option of a command with this id.
pub(super) fn argument<'a>(command: &'a Command, id: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| arg.get_id() == id)
}

/// JSON Schema of the file: `docs/config-schema.json`.
pub(crate) fn schema(command: &Command) -> Value {
    let mut tables: Map<String, Value> = Map::new();
    let object = || json!({ "type": "object", "additionalProperties": false, "properties": {} });
    let mut root = object();
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["title"] = "latlas configuration".into();
    for key in KEYS {
        let mut value = match key.kind(command) {
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::Integer => json!({ "type": "integer" }),
            Kind::Word(words) => json!({ "enum": words }),
            Kind::Text => json!({ "type": "string" }),
            Kind::List => json!({ "type": "array", "items": { "type": "string" } }),
        };
        value["description"] = key.description(command).into();
        match key.name.split_once('.') {
            Some((table, name)) => {
                let table = tables.entry(table).or_insert_with(object);
                table["properties"][name] = value;
            }
            None => root["properties"][key.name] = value,
        }
    }
    for (name, table) in tables {
        root["properties"][name] = table;
    }
    root
}

/// Every command by its path, in the order of the help.
pub(super) fn all(command: &Command) -> Vec<(String, &Command)> {
    fn into<'a>(command: &'a Command, path: &str, commands: &mut Vec<(String, &'a Command)>) {
        commands.push((path.to_owned(), command));
        for inner in command.get_subcommands() {
            into(inner, &below(path, inner.get_name()), commands);
        }
    }
    let mut commands = Vec::new();
    into(command, "", &mut commands);
    commands
}

pub(super) fn below(path: &str, name: &str) -> String {
    match path.is_empty() {
        true => name.to_owned(),
        false => format!("{path} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_in_docs_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/config-schema.json");
        let schema = schema(&crate::arguments::command());
        let generated = serde_json::to_string_pretty(&schema).expect("schema") + "\n";
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &generated).expect("docs can be written");
        }
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            kept == generated,
            "docs/config-schema.json is outdated: UPDATE_DOCS=1 cargo test -p latlas"
        );
    }
}
