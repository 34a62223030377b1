//! latlas's directories of a user: the XDG base directories, on macOS those below Library.

use std::ffi::OsString;
use std::path::PathBuf;

/// What a directory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserDir {
    /// Copies and temporary files.
    Cache,
    /// The configuration.
    Config,
    /// Stored runs.
    Data,
}

impl UserDir {
    /// The directory on this system; `None` if the environment names no home directory.
    pub fn resolve(self, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        self.path_on(cfg!(target_os = "macos"), variable)
    }

    /// The same on macOS or another system.
    pub fn path_on(
        self,
        macos: bool,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Option<PathBuf> {
        let (xdg, usual, on_macos) = match self {
            UserDir::Cache => ("XDG_CACHE_HOME", ".cache", "Library/Caches"),
            UserDir::Config => ("XDG_CONFIG_HOME", ".config", "Library/Application Support"),
            UserDir::Data => ("XDG_DATA_HOME", ".local/share", "Library/Application Support"),
        };
        let under_home = if macos { on_macos } else { usual };
        // The XDG specification has relative paths ignored; an empty one is relative.
        let path = |name: &str| {
            let path = variable(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let base = path(xdg).or_else(|| Some(path("HOME")?.join(under_home)))?;
        Some(base.join("latlas"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory_text(directory: UserDir, macos: bool, set: &[(&str, &str)]) -> Option<String> {
        let variable = |name: &str| {
            let value = set.iter().find(|(known, _)| *known == name);
            value.map(|(_, value)| OsString::from(value))
        };
        let path = directory.path_on(macos, variable)?;
        Some(path.display().to_string())
    }

    #[test]
    fn the_environment_precedes_the_home_directory() {
        let home = ("HOME", "/h");
        for (directory, xdg, usual, on_macos) in [
            (UserDir::Cache, "XDG_CACHE_HOME", ".cache", "Caches"),
            (UserDir::Config, "XDG_CONFIG_HOME", ".config", "Application Support"),
            (UserDir::Data, "XDG_DATA_HOME", ".local/share", "Application Support"),
        ] {
            let named = directory_text(directory, false, &[(xdg, "/x"), home]);
            assert_eq!(named.as_deref(), Some("/x/latlas"));
            let usual = format!("/h/{usual}/latlas");
            for set in [&[home][..], &[(xdg, "x"), home], &[(xdg, ""), home]] {
                assert_eq!(directory_text(directory, false, set).as_ref(), Some(&usual));
            }
            let below_library = directory_text(directory, true, &[home]);
            assert_eq!(below_library, Some(format!("/h/Library/{on_macos}/latlas")));
            for set in [&[][..], &[("HOME", "")], &[("HOME", "h")]] {
                assert_eq!(directory_text(directory, false, set), None);
            }
        }
    }
}
