//! The location of the file.

use model::user_dir::UserDir;
use std::ffi::OsString;
use std::path::PathBuf;

/// Names the file; empty for none.
pub(crate) const VARIABLE: &str = "LATLAS_CONFIG";

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
    let directory = UserDir::Config.path_on(macos, variable);
    directory.map_or(Location::None, |directory| Location::Default(directory.join("config")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_precedes_the_variable_and_that_the_default() {
        const CONFIG: (&str, &str) = ("LATLAS_CONFIG", "c");
        const XDG: (&str, &str) = ("XDG_CONFIG_HOME", "/x");
        const HOME: (&str, &str) = ("HOME", "/h");
        let usual = |path: &str| Location::Default(path.into());
        let given = |path: &str| Location::Given(path.into());
        let f = Some(PathBuf::from("f"));
        let of_home = usual("/h/.config/latlas/config");
        let of_mac = usual("/h/Library/Application Support/latlas/config");
        let all = [CONFIG, XDG, HOME];
        for (option, disabled, macos, set, expected) in [
            (&f, true, false, &all[..], Location::None),
            (&f, false, false, &all, given("f")),
            (&None, false, false, &all, given("c")),
            (&None, false, false, &all[1..], usual("/x/latlas/config")),
            (&None, false, false, &all[2..], of_home.clone()),
            (&None, false, true, &all[2..], of_mac),
            (&None, false, false, &[], Location::None),
            // The specification ignores relative paths; an empty name means none.
            (&None, false, false, &[("XDG_CONFIG_HOME", "x"), HOME], of_home),
            (&None, false, false, &[("LATLAS_CONFIG", ""), HOME], Location::None),
        ] {
            let variable = |name: &str| {
                let mut set = set.iter();
                Some(set.find(|(own, _)| *own == name)?.1.into())
            };
            let found = from(option.as_ref(), disabled, macos, variable);
            assert_eq!(found, expected, "{set:?}");
        }
    }
}
