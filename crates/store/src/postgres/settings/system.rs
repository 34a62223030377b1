//! The environment.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The environment.
pub(in crate::postgres) struct System {
    pub(super) variables: HashMap<String, String>,
}

impl System {
    pub(in crate::postgres) fn this() -> System {
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        System { variables: std::env::vars_os().filter_map(text).collect() }
    }

    /// A variable; an empty one is as good as none.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// A file, named by a setting or else in the home directory.
    pub(super) fn file(&self, given: Option<&str>, in_home: &str) -> Option<PathBuf> {
        let in_home = || Some(Path::new(self.variable("HOME")?).join(in_home));
        given.map(PathBuf::from).or_else(in_home)
    }
}
