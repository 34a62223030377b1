//! Where runs are kept: a directory, or a database.

use super::StoreError;
use model::user_dir::UserDir;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where runs are kept.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// A directory.
    Directory(PathBuf),
    /// A PostgreSQL database, by its URL. It may contain a password, which `Display` and `Debug`
    /// leave out.
    Database(String),
}

/// How the URL of a database begins.
const SCHEMES: [&str; 2] = ["postgres", "postgresql"];

/// Names in a connection string of libpq, `host=lab password=...`.
const KEYS: [&str; 6] = ["host", "hostaddr", "dbname", "user", "password", "service"];

/// Parameters of a URL that messages may show.
const SHOWN: [&str; 5] = ["service", "host", "port", "dbname", "user"];

impl Place {
    /// The place that a text names: the URL of a database, or a directory. What looks like the name
    /// of a database is never a directory, but may be refused when it is used.
    pub fn parse(text: &str) -> Place {
        let is_key = |word: &str| {
            word.split_once('=')
                .is_some_and(|(key, _)| KEYS.contains(&key))
        };
        let (scheme, rest) = scheme_of(text).unwrap_or_default();
        match is_known(scheme) || rest.starts_with("//") || text.split_whitespace().any(is_key) {
            true => Place::Database(text.to_owned()),
            false => Place::Directory(text.into()),
        }
    }

    /// The place that [`keep_in`] names, then `LATLAS_STORE`, then the data directory of the
    /// environment, then the configuration's.
    pub(crate) fn of_user() -> Result<Place, StoreError> {
        if let Some(given) = GIVEN.get() {
            return Ok(given.clone());
        }
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        if let Some(own) = variable("LATLAS_STORE") {
            return Ok(Place::parse(&own.to_string_lossy()));
        }
        match CONFIGURED.get().filter(|_| variable(OWN).is_none()) {
            Some(configured) => Ok(configured.clone()),
            None => data_dir().map(Place::Directory),
        }
    }

    /// Whether it is a URL with a password in it, or may be one.
    pub fn has_password(&self) -> bool {
        let Place::Database(url) = self else {
            return false;
        };
        let is_secret = |pair: &str| {
            let key = pair.split('=').next().unwrap_or_default();
            key.contains('%') || key.to_ascii_lowercase().contains("pass")
        };
        match UrlParts::of(url) {
            Some(parts) => {
                !parts.password.is_empty()
                    || !parts.is_plain()
                    || parts.parameters.split('&').any(is_secret)
            }
            None => url.contains('@') || url.contains("pass"),
        }
    }
}

/// A text's scheme and what follows its colon.
fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let parts = text.split_once(':');
    parts.filter(|(scheme, _)| !scheme.is_empty() && scheme.chars().all(in_scheme))
}

fn is_known(scheme: &str) -> bool {
    SCHEMES
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
}

/// The parts of a database's URL, as they stand there.
pub(crate) struct UrlParts<'a> {
    pub(crate) user: &'a str,
    pub(crate) password: &'a str,
    pub(crate) hosts: &'a str,
    pub(crate) database: &'a str,
    pub(crate) parameters: &'a str,
}

impl<'a> UrlParts<'a> {
    /// `None` if it is no such URL.
    pub(crate) fn of(url: &'a str) -> Option<UrlParts<'a>> {
        let (_, rest) = scheme_of(url).filter(|(scheme, _)| is_known(scheme))?;
        let rest = match rest {
            "" => "",
            rest => rest.strip_prefix("//")?,
        };
        // As libpq has it: before an at sign that precedes any slash, a question mark is of the
        // password.
        let first = rest.find(['@', '/']).unwrap_or(0);
        let from = if rest[first..].starts_with('@') {
            first
        } else {
            0
        };
        let (before, parameters) = match rest[from..].find('?') {
            Some(at) => (&rest[..from + at], &rest[from + at + 1..]),
            None => (rest, ""),
        };
        // A password that contains a slash or an at sign, unquoted, ends at the last one.
        let (user, before) = before.rsplit_once('@').unwrap_or(("", before));
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let (hosts, database) = before.split_once('/').unwrap_or((before, ""));
        Some(UrlParts {
            user,
            password,
            hosts,
            database,
            parameters,
        })
    }

    /// Whether no part can be a piece of a password.
    fn is_plain(&self) -> bool {
        let is_port = |host: &str| {
            let name_end = host.rfind(']').map_or(0, |end| end + 1);
            let port = host[name_end..]
                .split_once(':')
                .map_or("", |(_, port)| port);
            port.chars().all(|c| c.is_ascii_digit())
        };
        let parts = [self.user, self.hosts, self.database];
        parts.into_iter().all(is_plain)
            && self.hosts.split(',').all(is_port)
            && !self.parameters.contains('@')
    }
}

fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._-%,:[]/+~".contains(c);
    text.chars().all(plain)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Directory(path) => write!(f, "{}", path.display()),
            Place::Database(url) => f.write_str(&shown(url)),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({self})")
    }
}

/// A URL as messages show it: scheme, user, host and database, and parameters that name these; only
/// the scheme of one that has no such parts.
fn shown(url: &str) -> String {
    let Some((scheme, rest)) = scheme_of(url) else {
        return "KEY=VALUE".into();
    };
    let Some(parts) = UrlParts::of(url).filter(UrlParts::is_plain) else {
        return format!("{scheme}:");
    };
    let mut text = format!("{scheme}:");
    if !rest.is_empty() {
        text += "//";
    }
    if !parts.user.is_empty() {
        text += &format!("{}@", parts.user);
    }
    text += parts.hosts;
    if !parts.database.is_empty() {
        text += &format!("/{}", parts.database);
    }
    let is_shown = |pair: &&str| {
        let pair = pair.split_once('=');
        pair.is_some_and(|(key, value)| SHOWN.contains(&key) && is_plain(value))
    };
    let left: Vec<&str> = parts.parameters.split('&').filter(is_shown).collect();
    match left.is_empty() {
        true => text,
        false => format!("{text}?{}", left.join("&")),
    }
}

/// The store that the command line names.
static GIVEN: OnceLock<Place> = OnceLock::new();
/// The store that the user's configuration names.
static CONFIGURED: OnceLock<Place> = OnceLock::new();

/// Has [`Store::of_user`](crate::Store::of_user) answer this. Only the first call counts; `given`
/// is what the command line names, which precedes the environment.
pub fn keep_in(place: Place, given: bool) {
    let _ = match given {
        true => GIVEN.set(place),
        false => CONFIGURED.set(place),
    };
}

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
    let own = variable(OWN).filter(|value| !value.is_empty());
    own.map(PathBuf::from)
        .or_else(|| configured.map(Path::to_owned))
        .or_else(|| UserDir::Data.path(variable))
        .ok_or(StoreError::NoDataDirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_never_shows_a_password() {
        for (url, shown) in [
            ("postgres://", "postgres://"),
            ("postgres:", "postgres:"),
            ("postgres://lab/atlas", "postgres://lab/atlas"),
            (
                "postgres://me@lab:5433/atlas",
                "postgres://me@lab:5433/atlas",
            ),
            ("postgres://me:s3cret@lab/atlas", "postgres://me@lab/atlas"),
            (
                "postgres://me:s3cr/t@x@lab/atlas",
                "postgres://me@lab/atlas",
            ),
            ("postgres://:s3cret@lab", "postgres://lab"),
            ("postgres://me:s3cr?t@lab/atlas", "postgres://me@lab/atlas"),
            ("POSTGRES://me:s3cret@lab/atlas", "POSTGRES://me@lab/atlas"),
            (
                "postgresql://lab?password=s3cret&service=x",
                "postgresql://lab?service=x",
            ),
            ("postgres://lab?sslpassword=s3cret", "postgres://lab"),
            ("postgres://lab?p%61ssword=s3cret", "postgres://lab"),
            ("postgres://lab?pass=s3cret", "postgres://lab"),
            (
                "postgres://me:s3cret@lab?PASSWORD=s3cret",
                "postgres://me@lab",
            ),
            // No URL of a database.
            ("postgres:me:s3cret@lab/atlas", "postgres:"),
            ("postgres:/me:s3cret@lab/atlas", "postgres:"),
            ("postgres://me:s3cret/atlas", "postgres:"),
            ("postgres://me:1/2?s3cret@lab/atlas", "postgres:"),
            ("postgre://me:s3cret@lab/atlas", "postgre:"),
            ("host=lab password=s3cret", "KEY=VALUE"),
            ("password=s3cret host=lab:1", "KEY=VALUE"),
        ] {
            let place = Place::parse(url);
            assert_eq!(place.to_string(), shown);
            assert!(!format!("{place:?}").contains("s3cr"), "{place:?}");
            let certain = url.contains("s3cr") && !url.contains("s3cret/");
            assert!(!certain || place.has_password(), "{url}");
            assert!(url.contains("s3cr") || !place.has_password(), "{url}");
            assert!(matches!(place, Place::Database(_)), "{url}");
        }
        for directory in [
            "/d",
            "a:b",
            "./a://b",
            "/x/host=lab",
            "postgres",
            "postgres.old",
        ] {
            let place = Place::parse(directory);
            assert!(matches!(place, Place::Directory(_)), "{directory}");
            assert_eq!(place.to_string(), directory);
        }
    }

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
