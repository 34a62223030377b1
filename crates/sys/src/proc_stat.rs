//! What /proc/PID/stat tells (proc_pid_stat(5)).

use std::str::FromStr;

/// The name of a process or task, and the fields behind it.
#[derive(Clone, Debug)]
pub struct Stat<'a> {
    /// It may hold anything, parentheses too.
    pub name: &'a str,
    fields: Vec<&'a str>,
}

impl<'a> Stat<'a> {
    /// A line of such a file; `None` where it is none.
    pub fn from_line(text: &'a str) -> Option<Stat<'a>> {
        let (before, rest) = text.rsplit_once(')')?;
        Some(Stat {
            name: before.split_once('(')?.1,
            fields: rest.split_ascii_whitespace().collect(),
        })
    }

    /// `R`, `S`; `Z` of a zombie.
    pub fn state(&self) -> &'a str {
        self.fields.first().copied().unwrap_or_default()
    }

    /// A field by its number in the manual page, from 4 on.
    pub fn field_number<T: FromStr>(&self, field: usize) -> Option<T> {
        self.fields.get(field - 3)?.parse().ok()
    }
}
