//! Roles of a program that starts itself again, such as a measuring worker.
//!
//! latlas takes a role as a hidden subcommand: `latlas __worker ARGUMENT`. A program that uses the
//! library has arguments of its own, and gets the role in an environment variable.

use crate::process::this_program;
use std::ffi::OsString;
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// The role and its argument, of a program with arguments of its own.
const VARIABLE: &str = "LATLAS_ROLE";

/// Whether this program takes roles as subcommands.
static AS_SUBCOMMAND: AtomicBool = AtomicBool::new(false);

/// The role of this process and its argument, where it was started with one as a subcommand. The
/// processes that it starts get theirs in the same way.
pub fn subcommand() -> Option<(String, String)> {
    AS_SUBCOMMAND.store(true, Ordering::Relaxed);
    let mut arguments = std::env::args_os().skip(1).map(OsString::into_string);
    let role = arguments.next()?.ok().filter(|role| role.starts_with("__"))?;
    Some((role, arguments.next()?.ok()?))
}

/// The argument of this process, where it was started with this role by the environment variable.
pub fn from_environment(role: &str) -> Option<String> {
    let text = std::env::var(VARIABLE).ok()?;
    let (own, argument) = text.split_once(' ')?;
    (own == role).then(|| argument.to_owned())
}

/// A command that starts this program again, in a role.
///
/// # Errors
/// Where the system does not tell which program this is.
pub fn command(role: &str, argument: &str) -> io::Result<Command> {
    let mut command = this_program()?;
    match AS_SUBCOMMAND.load(Ordering::Relaxed) {
        true => command.args([role, argument]),
        false => {
            command.args(std::env::args_os().skip(1)).env(VARIABLE, format!("{role} {argument}"))
        }
    };
    Ok(command)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_program_with_its_own_arguments_gets_the_role_in_a_variable() {
        let command = super::command("__worker", "7").expect("this program");
        let variable = command.get_envs().find(|(name, _)| *name == super::VARIABLE);
        let value = variable.and_then(|(_, value)| value);
        assert_eq!(value, Some("__worker 7".as_ref()));
        assert_eq!(super::from_environment("__worker"), None);
    }
}
