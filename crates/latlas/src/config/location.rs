//! The location of the file.

use std::ffi::OsString;
use std::path::PathBuf;

/// Names the file; empty for none.
pub(crate) const VARIABLE: &str = "LATLAS_CONFIG";

/// Where the configuration is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Location {
    /// Given by the user: it must exist.
    Given(PathBuf),
    /// The default, which need not exist.
    Default(PathBuf),
    /// Disabled, or no home directory is known.
    None,
}

impl Location {
    /// The path of the file.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        match self {
            Location::Given(path) | Location::Default(path) => Some(path),
            Location::None => None,
        }
    }
}

/// The location by options, else by `LATLAS_CONFIG`, else in the platform's directory for settings
/// (XDG base directories; Application Support on macOS).
pub(crate) fn of_user(given: Option<&PathBuf>, disabled: bool) -> Location {
    let macos = cfg!(target_os = "macos");
    from(given, disabled, macos, |name| std::env::var_os(name))
}

fn from(
    given: Option<&PathBuf>,
    disabled: bool,
    macos: bool,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Location {
    if disabled {
        return Location::None;
    }
    if let Some(path) = given {
        return Location::Given(path.clone());
    }
    match variable(VARIABLE) {
        Some(empty) if empty.is_empty() => return Location::None,
        Some(path) => return Location::Given(path.into()),
        None => {}
    }
    let directory = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let under_home = match macos {
        true => "Library/Application Support",
        false => ".config",
    };
    directory("XDG_CONFIG_HOME")
        .or_else(|| Some(directory("HOME")?.join(under_home)))
        .map_or(Location::None, |directory| {
            Location::Default(directory.join("latlas/config.toml"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(given: Option<&str>, disabled: bool, macos: bool, set: &[(&str, &str)]) -> Location {
        let given = given.map(PathBuf::from);
        from(given.as_ref(), disabled, macos, |name| {
            let variable = set.iter().find(|(set, _)| *set == name)?;
            Some(variable.1.into())
        })
    }

    #[test]
    fn the_option_precedes_the_variable_and_that_the_default() {
        let set = [
            ("LATLAS_CONFIG", "c.toml"),
            ("XDG_CONFIG_HOME", "/x"),
            ("HOME", "/h"),
        ];
        let usual = |path: &str| Location::Default(path.into());
        assert_eq!(with(Some("f"), true, false, &set), Location::None);
        assert_eq!(
            with(Some("f"), false, false, &set),
            Location::Given("f".into())
        );
        assert_eq!(
            with(None, false, false, &set),
            Location::Given("c.toml".into())
        );
        let set = &set[1..];
        assert_eq!(
            with(None, false, false, set),
            usual("/x/latlas/config.toml")
        );
        let set = &set[1..];
        assert_eq!(
            with(None, false, false, set),
            usual("/h/.config/latlas/config.toml")
        );
        assert_eq!(
            with(None, false, true, set),
            usual("/h/Library/Application Support/latlas/config.toml")
        );
        assert_eq!(with(None, false, false, &[]), Location::None);
        // The specification ignores relative paths; an empty name means none.
        let relative = [("XDG_CONFIG_HOME", "x"), ("HOME", "/h")];
        assert_eq!(
            with(None, false, false, &relative),
            usual("/h/.config/latlas/config.toml")
        );
        let none = [("LATLAS_CONFIG", ""), ("HOME", "/h")];
        assert_eq!(with(None, false, false, &none), Location::None);
    }
}
