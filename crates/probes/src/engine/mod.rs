//! How operations are performed: each file is one kind of work, and the rows
//! of the groups say what it works on.

pub(crate) mod clocks;
pub(crate) mod files;
pub(crate) mod paired;
pub(crate) mod points;
pub(crate) mod reason;
pub(crate) mod repeated;
pub(crate) mod single;
pub(crate) mod switches;
pub(crate) mod tasks;
pub(crate) mod team;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod threads;
pub(crate) mod waits;
