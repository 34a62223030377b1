//! How to connect: the URL, with the password of `PGPASSWORD` where it has none.

use crate::tls::{self, Verify};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use store_protocol::url::{UrlParts, scheme_of};
use store_protocol::{Failure, FailureKind};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How the URL of a database begins.
const SCHEMES: [&str; 2] = ["postgres", "postgresql"];

/// Parameters of the URL that are read here, and not by the library.
const TLS: [&str; 4] = ["sslmode", "sslrootcert", "sslcert", "sslkey"];

/// Parameters that the URL's own precede: a server that is gone must not hang a command.
const DEFAULTS: &str =
    "application_name=latlas&connect_timeout=10&tcp_user_timeout=30&keepalives_idle=30";

/// Variables of libpq that ask for a safer connection. They are not read; ignored, they would leave the
/// connection less safe than was asked for.
const REFUSED: [&str; 3] = ["PGSSL", "PGREQUIRE", "PGCHANNELBINDING"];

/// The root certificates that libpq uses unasked, below the home directory.
const USUAL_ROOT: &str = ".postgresql/root.crt";

/// Where Unix-domain sockets lie by default: Debian and Red Hat, PostgreSQL itself.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) tls: MakeRustlsConnect,
}

impl Settings {
    /// All that is known of a URL's database, with variables of the environment.
    pub(crate) fn of(url: &str, variables: &[(String, String)]) -> Result<Settings, Failure> {
        let wrong = |why: String| Failure::new(FailureKind::Settings, why);
        let set = variables.iter().filter(|(_, value)| !value.is_empty());
        let refused = |(name, _): &&(String, String)| REFUSED.iter().any(|r| name.starts_with(r));
        if let Some((name, _)) = set.clone().find(refused) {
            let why = format!(
                "{name} is set, which latlas does not read: write sslmode and sslrootcert into the URL"
            );
            return Err(wrong(why));
        }
        let variable = |name: &str| {
            let mut set = set.clone();
            set.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
        };
        let (mut config, own) = parsed(url).map_err(&wrong)?;
        if let Some(name) = left_to_a_variable(&config, |name| variable(name).is_some()) {
            let why = format!("{name} is set, which latlas does not read: write it into the URL");
            return Err(wrong(why));
        }
        if config.get_password().is_none()
            && let Some(password) = variable("PGPASSWORD")
        {
            config.password(password);
        }
        complete(&mut config).map_err(&wrong)?;
        let is_socket = is_socket(&config).map_err(&wrong)?;
        let home = variable("HOME").map(Path::new);
        let (mode, tls) = encryption(&own, is_socket, home).map_err(&wrong)?;
        config.ssl_mode(mode);
        Ok(Settings { config, tls })
    }
}

/// A variable of libpq that is set and says what the URL leaves out: ignored, it would have latlas use another
/// database than libpq's programs.
fn left_to_a_variable(config: &Config, is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    let no_host = config.get_hosts().is_empty() && config.get_hostaddrs().is_empty();
    let left_out = [
        ("PGHOST", no_host),
        ("PGHOSTADDR", no_host),
        ("PGSERVICE", no_host),
        ("PGPORT", config.get_ports().is_empty()),
        ("PGDATABASE", config.get_dbname().is_none()),
        ("PGUSER", config.get_user().is_none()),
    ];
    let found = left_out.into_iter().find(|&(name, is_left_out)| is_left_out && is_set(name));
    found.map(|(name, _)| name)
}

/// What the library reads of a URL, and the parameters that are read here.
fn parsed(url: &str) -> Result<(Config, BTreeMap<String, String>), String> {
    let is_known = |scheme: &str| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let known = scheme_of(url).filter(|(scheme, _)| is_known(scheme));
    let parts = known.and_then(|_| UrlParts::split(url));
    let parts = parts.ok_or("write it as postgres://USER@HOST:PORT/DATABASE")?;
    if parts.parameters.contains('@') {
        return Err("write an at sign in a parameter of the URL as %40".into());
    }
    let (names, ports): (Vec<&str>, Vec<&str>) = parts.hosts.split(',').map(name_and_port).unzip();
    let (mut hosts, mut ports) = (decoded(&names.join(","))?, decoded(&ports.join(","))?);
    let (mut own, mut others) = (BTreeMap::new(), DEFAULTS.to_owned());
    for pair in parts.parameters.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or("a parameter of the URL has no value")?;
        match decoded(key)?.as_str() {
            // As libpq has it, each of these replaces what stands before the question mark.
            "host" => hosts = decoded(value)?,
            "port" => ports = decoded(value)?,
            known if TLS.contains(&known) => drop(own.insert(known.to_owned(), decoded(value)?)),
            _ => others += &format!("&{pair}"),
        }
    }
    let text = format!("postgres:///{}?{others}", parts.database);
    let mut config = Config::from_str(&text).map_err(|error| causes(&error))?;
    // Not by the library: it takes an empty name for one, and two in a parameter for one.
    for host in hosts.split(',').filter(|_| !hosts.is_empty()) {
        config.host(host);
    }
    for port in ports.split(',').filter(|_| !ports.trim_matches(',').is_empty()) {
        let number = if port.is_empty() { "5432" } else { port };
        config.port(number.parse::<u16>().map_err(|_| "the port in the URL is not a number")?);
    }
    // Nor these: a password may contain a slash or an at sign.
    if !parts.user.is_empty() && config.get_user().is_none() {
        config.user(decoded(parts.user)?);
    }
    if !parts.password.is_empty() && config.get_password().is_none() {
        config.password(decoded(parts.password)?);
    }
    Ok((config, own))
}

/// The name of a host of a URL, without the brackets of an IPv6 address, and its port.
fn name_and_port(host: &str) -> (&str, &str) {
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, port)) => (name, port.strip_prefix(':').unwrap_or(port)),
        None => host.split_once(':').unwrap_or((host, "")),
    }
}

fn decoded(text: &str) -> Result<String, String> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(Cow::into_owned).map_err(|_| "the URL is not UTF-8".to_owned())
}

/// What a URL may leave out.
fn complete(config: &mut Config) -> Result<(), String> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let socket = |dir: &&&str| Path::new(dir).join(format!(".s.PGSQL.{port}")).exists();
        match SOCKETS.iter().find(socket) {
            Some(directory) => config.host_path(directory),
            None => config.host("localhost"),
        };
    }
    if config.get_ports().is_empty() {
        config.port(5432);
    }
    if config.get_user().is_none() {
        let user =
            whoami::username().map_err(|_| "no user is given: postgres://USER@HOST/DATABASE")?;
        config.user(user);
    }
    if config.get_dbname().is_none() {
        let user = config.get_user().unwrap_or_default().to_owned();
        config.dbname(user);
    }
    Ok(())
}

/// Whether the server is at a Unix-domain socket, which has no TLS.
fn is_socket(config: &Config) -> Result<bool, String> {
    let hosts = config.get_hosts();
    let sockets = hosts.iter().filter(|host| matches!(host, Host::Unix(_))).count();
    match sockets {
        0 => Ok(false),
        // An address would be what is connected to.
        _ if sockets == hosts.len() && config.get_hostaddrs().is_empty() => Ok(true),
        _ => Err("the URL names a socket and a host, and only one has TLS: name one kind".into()),
    }
}

/// What is encrypted, and what is verified of the server: with a root certificate at least that the server's
/// is of it.
fn encryption(
    own: &BTreeMap<String, String>,
    is_socket: bool,
    home: Option<&Path>,
) -> Result<(SslMode, MakeRustlsConnect), String> {
    let of = |key: &str| own.get(key).map(String::as_str);
    let file = |key: &str| of(key).map(PathBuf::from);
    let (mode, verify) = match of("sslmode").unwrap_or("prefer") {
        "disable" => (SslMode::Disable, Verify::Nothing),
        "prefer" => (SslMode::Prefer, Verify::Chain),
        "require" | "verify-ca" => (SslMode::Require, Verify::Chain),
        "verify-full" => (SslMode::Require, Verify::ChainAndName),
        other => return Err(format!("no sslmode {other:?}")),
    };
    let root = file("sslrootcert");
    if of("sslmode").is_some_and(|mode| mode.starts_with("verify")) && root.is_none() {
        return Err(
            "sslmode verifies the server's certificate, and there is no root certificate: add \
                    sslrootcert=FILE to the URL"
                .into(),
        );
    }
    if is_socket || mode == SslMode::Disable {
        return Ok((SslMode::Disable, tls::connector(None, None, Verify::Nothing)?));
    }
    // Ignored, it would leave the server unverified where libpq verifies it.
    let usual = home.map(|home| home.join(USUAL_ROOT)).filter(|file| file.exists());
    if let (None, Some(usual)) = (&root, usual) {
        let usual = usual.display();
        return Err(format!(
            "{usual} is there, which latlas does not read: add sslrootcert={usual} to the URL (or \
             sslmode=disable)"
        ));
    }
    let verify = if root.is_none() { Verify::Nothing } else { verify };
    let client = match (file("sslcert"), file("sslkey")) {
        (Some(cert), Some(key)) => Some((cert, key)),
        (None, None) => None,
        _ => return Err("sslcert and sslkey go together: add the other one to the URL".into()),
    };
    Ok((mode, tls::connector(root.as_deref(), client, verify)?))
}

/// An error with its causes, in one line.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn made(url: &str, set: &[(&str, &str)]) -> Result<Settings, String> {
        let pair = |(name, value): &(&str, &str)| ((*name).into(), (*value).into());
        let set: Vec<_> = set.iter().map(pair).collect();
        Settings::of(url, &set).map_err(|failure| failure.message)
    }

    fn of(url: &str) -> Config {
        made(url, &[]).expect(url).config
    }

    fn password(config: &Config) -> Option<&str> {
        config.get_password().map(|bytes| std::str::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn every_part_of_a_url_may_be_missing_or_quoted() {
        let all = of("postgres://me:p%40w@[::1]:5433,lab/at%20las?options=-c%20x%3D1");
        assert_eq!((all.get_user(), password(&all)), (Some("me"), Some("p@w")));
        assert_eq!((all.get_dbname(), all.get_ports()), (Some("at las"), &[5433, 5432][..]));
        assert_eq!(all.get_hosts(), [Host::Tcp("::1".into()), Host::Tcp("lab".into())]);
        assert_eq!(all.get_options(), Some("-c x=1"));
        assert_eq!(password(&of("postgres://me:p@/w@lab/x")), Some("p@/w"));
        let question = of("POSTGRES://me:p?w@lab/atlas?port=1");
        assert_eq!((password(&question), question.get_dbname()), (Some("p?w"), Some("atlas")));
        let socket = of("postgres:///atlas?host=/var/run/postgresql");
        assert_eq!(socket.get_hosts(), [Host::Unix("/var/run/postgresql".into())]);
        assert_eq!((socket.get_dbname(), socket.get_ports()), (Some("atlas"), &[5432][..]));
        for own_port in ["postgres:///atlas?port=5433", "postgres://:5433/atlas"] {
            let own_port = of(own_port);
            assert_eq!((own_port.get_dbname(), own_port.get_ports()), (Some("atlas"), &[5433][..]));
            assert_eq!(own_port.get_hosts().len(), 1);
            assert_ne!(own_port.get_hosts(), [Host::Tcp(String::new())]);
        }
        // A parameter replaces what it names, and no more.
        let others = of("postgres://lab:5433/x?h%6Fst=a,b");
        assert_eq!(others.get_hosts(), [Host::Tcp("a".into()), Host::Tcp("b".into())]);
        assert_eq!(others.get_ports(), [5433]);
        let idle = |url: &str| of(url).get_keepalives_idle();
        assert_eq!(idle("postgres://lab"), Duration::from_secs(30));
        assert_eq!(idle("postgres://lab?keepalives_idle=9"), Duration::from_secs(9));
        for empty in ["postgres:", "postgres://", "postgresql://?application_name=x"] {
            let none = of(empty);
            assert_eq!((none.get_dbname(), none.get_ports()), (none.get_user(), &[5432][..]));
            assert_eq!(none.get_hosts().len(), 1);
        }
        for bad in [
            "postgres:lab",
            "postgre://lab",
            "host=lab user=me",
            "postgres://h/?x",
            "postgres://h?sslmode=no",
            "postgres://h?nonsense=1",
            "postgres://h:port/x",
            "postgres://%2Ftmp,lab/x",
            "postgres://lab?sslcert=/c",
        ] {
            assert!(made(bad, &[]).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_password_of_the_environment_is_for_a_url_without_one() {
        let set = [("PGPASSWORD", "s3cret"), ("PGUSER", "not read")];
        let by = |url: &str| made(url, &set).expect(url).config;
        assert_eq!(password(&by("postgres://me@lab/x")), Some("s3cret"));
        assert_eq!(password(&by("postgres://me:own@lab/x")), Some("own"));
        assert_eq!(by("postgres://me@lab/x").get_user(), Some("me"));
        assert_eq!(password(&of("postgres://me@lab/x")), None);
    }

    #[test]
    fn a_variable_that_says_what_the_url_leaves_out_is_refused() {
        let whole = "postgres://me@lab:5432/x";
        for (variable, url) in [
            ("PGHOST", "postgres:///x"),
            ("PGHOSTADDR", "postgres:"),
            ("PGSERVICE", "postgres://me@/x"),
            ("PGPORT", "postgres://me@lab/x"),
            ("PGDATABASE", "postgres://me@lab:5432"),
            ("PGUSER", "postgres://lab:5432/x"),
        ] {
            let why = made(url, &[(variable, "1")]).err().expect(variable);
            assert!(why.contains(&format!("{variable} is set")), "{why}");
            made(whole, &[(variable, "1")]).expect("nothing is left out");
            made(url, &[(variable, "")]).expect("as good as none");
        }
    }

    #[test]
    fn a_root_certificate_of_libpq_is_named_and_not_ignored() {
        let home = tempfile::tempdir().expect("tempdir");
        let root = home.path().join(USUAL_ROOT);
        std::fs::create_dir(home.path().join(".postgresql")).expect("made");
        let set = [("HOME", home.path().to_str().expect("UTF-8"))];
        made("postgres://lab", &set).expect("none is there");
        std::fs::write(&root, "").expect("written");
        for url in ["postgres://lab", "postgres://lab?sslmode=require"] {
            let why = made(url, &set).err().expect(url);
            assert!(why.contains(&format!("sslrootcert={}", root.display())), "{why}");
        }
        made("postgres://lab?sslmode=disable", &set).expect("nothing is encrypted");
        made("postgres://%2Ftmp/x", &set).expect("a socket");
    }

    #[test]
    fn tls_is_wanted_as_sslmode_says() {
        let mode = |url: &str| of(url).get_ssl_mode();
        assert_eq!(mode("postgres://lab"), SslMode::Prefer);
        assert_eq!(mode("postgres://lab?sslmode=require"), SslMode::Require);
        assert_eq!(mode("postgres://lab?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://%2Ftmp/x?sslmode=require"), SslMode::Disable);
        for variable in ["PGSSLMODE", "PGREQUIREAUTH", "PGCHANNELBINDING"] {
            let why = made("postgres://lab", &[(variable, "x")]).err().expect(variable);
            assert!(why.contains("does not read"), "{why}");
        }
        let why = made("postgres://lab?sslmode=verify-full", &[]).err().expect("no root");
        assert!(why.contains("root certificate"), "{why}");
        let why = made("postgres://lab?sslrootcert=/no/such", &[]).err().expect("no file");
        assert!(why.contains("/no/such"), "{why}");
    }
}
