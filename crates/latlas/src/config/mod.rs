//! The configuration file: defaults of options. It is read once, before any command, and becomes
//! defaults of the command line ([`apply`]); so options take precedence, and commands don't know of
//! it. `latlas config` shows it.

mod apply;
mod file;
mod keys;
mod location;
mod start;

pub(crate) use file::{ConfigError, Read, Setting};
pub(crate) use keys::{KEYS, Key, schema};
pub(crate) use location::{Location, of_user};
pub(crate) use start::{arguments, checked, typed_place, use_data_dir, use_store};
