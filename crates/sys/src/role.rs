//! Roles of a program that starts itself again, such as a measuring worker: how such a child is
//! started, talked to and ended.
//!
//! latlas takes a role as a hidden subcommand: `latlas __worker ARGUMENT`. A program that uses the
//! library has arguments of its own, and gets the role in an environment variable. Parent and child
//! exchange frames over a socket, the child's standard input; what the child prints is dropped.

mod child;
mod connection;
pub mod frame;
mod lost;
mod parent;
mod watchdog;

pub use child::{Child, ChildSession, Wait, ready};
pub use connection::Connection;
pub use lost::{Loss, Lost};
pub use parent::Parent;
pub use watchdog::Watchdog;

use crate::process::{die_with_parent_id, null_device};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// The role and its argument, of a program with arguments of its own.
const VARIABLE: &str = "LATLAS_ROLE";

/// Whether this program takes roles as subcommands.
static AS_SUBCOMMAND: AtomicBool = AtomicBool::new(false);

/// What a child of this program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Visits the cells of a run.
    Worker,
    /// Measures OS noise under the controls of a run.
    Osnoise,
    /// Does a job of `noise ab`, or is its load.
    Job,
    /// Compresses at a quality-of-service level.
    QosJob,
    /// Competes, or tries a knob.
    Knob,
    /// Loads a probe pack.
    Pack,
    /// Visits one row while it is traced.
    TracedRow,
    /// Restores what its parent set, if that can't.
    Watchdog,
    /// Removes the trace buffers of its parent, if that can't.
    TraceWatchdog,
}

/// Their subcommands.
const NAMES: [(Role, &str); 9] = [
    (Role::Worker, "__worker"),
    (Role::Osnoise, "__osnoise"),
    (Role::Job, "__job"),
    (Role::QosJob, "__qos_job"),
    (Role::Knob, "__knob"),
    (Role::Pack, "__pack"),
    (Role::TracedRow, "__traced_row"),
    (Role::Watchdog, "__watchdog"),
    (Role::TraceWatchdog, "__trace_watchdog"),
];

impl Role {
    /// Its subcommand.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(role, _)| *role == self).map_or("", |(_, name)| name)
    }
}

/// The argument of a role.
#[derive(Serialize, Deserialize)]
struct Argument<T> {
    /// The process that it ends with.
    parent: Option<u32>,
    order: T,
}

fn argument(parent: Option<u32>, order: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(&Argument { parent, order })?)
}

/// The arguments that make this program do an order and end, however its parent does.
///
/// # Errors
/// An order that is no text.
pub fn words(role: Role, order: &impl Serialize) -> io::Result<[String; 2]> {
    Ok([role.name().to_owned(), argument(None, order)?])
}

/// What this process was started for.
#[derive(Debug)]
pub struct RoleTask {
    /// Its role.
    pub role: Role,
    argument: String,
}

impl RoleTask {
    fn new(role: &str, argument: String) -> Option<RoleTask> {
        let (role, _) = *NAMES.iter().find(|(_, name)| *name == role)?;
        Some(RoleTask { role, argument })
    }

    /// The order. From here on this process ends with its parent, if it is to and the system can
    /// promise it; else the end of the connection tells.
    ///
    /// # Errors
    /// An order that is none, or a parent that has ended.
    pub fn order<T: DeserializeOwned>(&self) -> io::Result<T> {
        let internal = |_| io::Error::other("is internal to latlas");
        let Argument { parent, order } =
            serde_json::from_slice(self.argument.as_bytes()).map_err(internal)?;
        match parent.map(die_with_parent_id) {
            Some(Err(error)) if error.kind() == io::ErrorKind::NotConnected => Err(error),
            _ => Ok(order),
        }
    }

    /// The same, and the connection to the parent.
    ///
    /// # Errors
    /// The same; standard input that can't be replaced.
    pub fn with_parent<T: DeserializeOwned>(&self) -> io::Result<(T, Parent)> {
        Ok((self.order()?, Parent::connect()?))
    }
}

/// The task of this process, where it was started with one as a subcommand. The processes that it
/// starts get theirs in the same way.
pub fn subcommand() -> Option<RoleTask> {
    AS_SUBCOMMAND.store(true, Ordering::Relaxed);
    let mut arguments = std::env::args_os().skip(1).map(OsString::into_string);
    RoleTask::new(&arguments.next()?.ok()?, arguments.next()?.ok()?)
}

/// The task of this process, where it was started with this role by the environment variable.
pub fn from_environment(role: Role) -> Option<RoleTask> {
    let text = std::env::var(VARIABLE).ok()?;
    let (own, argument) = text.split_once(' ')?;
    RoleTask::new(own, argument.to_owned()).filter(|task| task.role == role)
}

/// Serves, and never returns, if this process was started with this role by the environment
/// variable. A program that measures calls this first, before it reads its arguments.
pub fn enter_if(role: Role, serve: impl FnOnce(&RoleTask) -> io::Result<()>) {
    let Some(task) = from_environment(role) else {
        return;
    };
    // The parent sees a failure as the end of the connection.
    let code = match serve(&task) {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(io::stderr(), "latlas {}: {error}", role.name());
            1
        }
    };
    std::process::exit(code);
}

/// Makes this program a command in a role, with the connection to its process. The command holds
/// the child's end until it is dropped.
///
/// # Errors
/// What the system says of sockets and `/dev/null`.
pub fn role_command(
    mut program: Command,
    role: Role,
    order: &impl Serialize,
) -> io::Result<(Command, Connection)> {
    // A watchdog is there for what its parent leaves.
    let outlives = matches!(role, Role::Watchdog | Role::TraceWatchdog);
    let argument = argument((!outlives).then(std::process::id), order)?;
    match AS_SUBCOMMAND.load(Ordering::Relaxed) {
        true => program.args([role.name(), &argument]),
        false => program
            .args(std::env::args_os().skip(1))
            .env(VARIABLE, format!("{} {argument}", role.name())),
    };
    program.stdout(null_device()?);
    if !matches!(role, Role::Worker | Role::Pack | Role::TracedRow) {
        program.stderr(null_device()?);
    }
    let connection = Connection::for_command(&mut program)?;
    Ok((program, connection))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_its_own_arguments_gets_the_role_in_a_variable() {
        let (command, _) = role_command(Command::new("own"), Role::Worker, &7).expect("a command");
        let variable = command.get_envs().find(|(name, _)| *name == VARIABLE);
        let value = variable.and_then(|(_, value)| value).expect("set");
        let argument = format!("__worker {{\"parent\":{},\"order\":7}}", std::process::id());
        assert_eq!(value, &*argument);
        assert!(from_environment(Role::Worker).is_none());
    }

    #[test]
    fn an_order_is_whole_and_of_a_parent_that_is_there() {
        let [role, of_none] = words(Role::QosJob, &("a", 7)).expect("text");
        let task = RoleTask::new(&role, of_none).expect("a role");
        assert_eq!((task.role, task.order().expect("whole")), (Role::QosJob, ("a".to_owned(), 7)));
        let why = task.order::<u32>().expect_err("another type").to_string();
        assert_eq!(why, "is internal to latlas");
        let argument = argument(Some(u32::MAX), &7).expect("text");
        let task = RoleTask::new(&role, argument).expect("a role");
        let why = task.order::<u32>().expect_err("another parent");
        assert_eq!(why.kind(), io::ErrorKind::NotConnected);
        assert!(RoleTask::new("__other", String::new()).is_none());
    }
}
