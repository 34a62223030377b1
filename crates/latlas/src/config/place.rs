//! Where the file is.

use std::ffi::OsString;
use std::path::PathBuf;

/// Names another file; empty for none.
pub(crate) const VARIABLE: &str = "LATLAS_CONFIG";

/// Where the configuration is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// The user named it: it must be there.
    Named(PathBuf),
    /// The usual one, which need not be there.
    Usual(PathBuf),
    /// None is wanted, or no home directory is known.
    None,
}

impl Place {
    /// The file, if there is one to look for.
    pub(crate) fn path(&self) -> Option<&PathBuf> {
        match self {
            Place::Named(path) | Place::Usual(path) => Some(path),
            Place::None => None,
        }
    }
}

/// The place by flags, then by `LATLAS_CONFIG`, then the platform's directory
/// for settings (the XDG base directories; Application Support on macOS).
pub(crate) fn of_user(named: Option<&PathBuf>, unwanted: bool) -> Place {
    let macos = cfg!(target_os = "macos");
    from(named, unwanted, macos, |name| std::env::var_os(name))
}

fn from(
    named: Option<&PathBuf>,
    unwanted: bool,
    macos: bool,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Place {
    if unwanted {
        return Place::None;
    }
    if let Some(path) = named {
        return Place::Named(path.clone());
    }
    match variable(VARIABLE) {
        Some(empty) if empty.is_empty() => return Place::None,
        Some(path) => return Place::Named(path.into()),
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
        .map_or(Place::None, |directory| {
            Place::Usual(directory.join("latlas/config.toml"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(named: Option<&str>, unwanted: bool, macos: bool, set: &[(&str, &str)]) -> Place {
        let named = named.map(PathBuf::from);
        from(named.as_ref(), unwanted, macos, |name| {
            let found = set.iter().find(|(set, _)| *set == name)?;
            Some(found.1.into())
        })
    }

    #[test]
    fn the_flag_beats_the_variable_and_that_the_usual_place() {
        let set = [
            ("LATLAS_CONFIG", "c.toml"),
            ("XDG_CONFIG_HOME", "/x"),
            ("HOME", "/h"),
        ];
        let usual = |path: &str| Place::Usual(path.into());
        assert_eq!(with(Some("f"), true, false, &set), Place::None);
        assert_eq!(
            with(Some("f"), false, false, &set),
            Place::Named("f".into())
        );
        assert_eq!(
            with(None, false, false, &set),
            Place::Named("c.toml".into())
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
        assert_eq!(with(None, false, false, &[]), Place::None);
        // The specification has relative paths ignored; an empty name means none.
        let relative = [("XDG_CONFIG_HOME", "x"), ("HOME", "/h")];
        assert_eq!(
            with(None, false, false, &relative),
            usual("/h/.config/latlas/config.toml")
        );
        let none = [("LATLAS_CONFIG", ""), ("HOME", "/h")];
        assert_eq!(with(None, false, false, &none), Place::None);
    }
}
