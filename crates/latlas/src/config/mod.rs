//! The configuration file: options that commands get before the typed ones. It is read once, before any
//! command, and becomes defaults of the command line ([`apply`]); so commands don't know of it.

mod apply;
mod command_line;
mod lines;
mod location;
mod start;

pub use command_line::CommandLine;
pub(crate) use lines::{ConfigError, Read, Setting};
pub(crate) use location::{Location, of_user};
pub(crate) use start::{
    arguments, checked, typed_place, unknown_command, use_store, use_store_of_file,
};
