//! Where the directory of runs is.

use super::StoreError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where the user's configuration has runs kept.
static KEPT_BELOW: OnceLock<PathBuf> = OnceLock::new();

/// Has [`data_dir`] answer this, unless the environment names one. Only the
/// first call counts: runs don't move while a program runs.
pub fn keep_below(directory: PathBuf) {
    let _ = KEPT_BELOW.set(directory);
}

/// The platform's data directory for latlas. `LATLAS_DATA_DIR` overrides it,
/// and then [`keep_below`].
pub fn data_dir() -> Result<PathBuf, StoreError> {
    let configured = KEPT_BELOW.get().map(PathBuf::as_path);
    data_dir_from(|name| std::env::var_os(name), configured)
}

/// Names a data directory.
const OWN: &str = "LATLAS_DATA_DIR";

/// `configured` is what the configuration says.
fn data_dir_from(
    variable: impl Fn(&str) -> Option<OsString>,
    configured: Option<&Path>,
) -> Result<PathBuf, StoreError> {
    // An empty variable is as good as none.
    let path = |name: &str| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(own) = path(OWN).or_else(|| configured.map(Path::to_owned)) {
        return Ok(own);
    }
    // The XDG specification has relative paths ignored.
    if let Some(xdg) = path("XDG_DATA_HOME").filter(|p| p.is_absolute()) {
        return Ok(xdg.join("latlas"));
    }
    let under_home = if cfg!(target_os = "macos") {
        "Library/Application Support/latlas"
    } else {
        ".local/share/latlas"
    };
    path("HOME")
        .map(|home| home.join(under_home))
        .ok_or(StoreError::NoDataDirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment<'a>(set: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| {
            set.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, value)| OsString::from(value))
        }
    }

    #[test]
    fn the_data_directory_follows_the_environment() {
        let of = |set: &[(&str, &str)]| data_dir_from(environment(set), None);
        let xdg = [("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(of(&xdg).expect("xdg"), Path::new("/x/latlas"));
        let own = [("LATLAS_DATA_DIR", "/own"), ("XDG_DATA_HOME", "/x")];
        assert_eq!(of(&own).expect("own"), Path::new("/own"));
        let relative = of(&[("XDG_DATA_HOME", "x"), ("HOME", "/h")]).expect("home");
        assert!(relative.starts_with("/h"), "{relative:?}");
        assert!(matches!(of(&[]), Err(StoreError::NoDataDirectory)));
        let configured = |set: &[(&str, &str)]| {
            data_dir_from(environment(set), Some(Path::new("/configured"))).expect("a place")
        };
        assert_eq!(configured(&own), Path::new("/own"));
        for set in [&xdg[..], &[("LATLAS_DATA_DIR", ""), ("HOME", "/h")], &[]] {
            assert_eq!(configured(set), Path::new("/configured"));
        }
    }
}
