//! URLs of stores.

/// Parameters of a URL that messages may show.
const SHOWN: [&str; 4] = ["host", "port", "dbname", "user"];

/// A text's scheme and what follows its colon.
pub fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let parts = text.split_once(':');
    parts.filter(|(scheme, _)| !scheme.is_empty() && scheme.chars().all(in_scheme))
}

/// The parts of `SCHEME://USER:PASSWORD@HOSTS/DATABASE?PARAMETERS`, as they stand there; empty where there are none.
#[derive(Clone, Copy, Debug)]
pub struct UrlParts<'a> {
    /// Before the first colon or the last at sign.
    pub user: &'a str,
    /// Between these.
    pub password: &'a str,
    /// Names, each with a port or without, between commas.
    pub hosts: &'a str,
    /// Also the path in a bucket.
    pub database: &'a str,
    /// KEY=VALUE between ampersands.
    pub parameters: &'a str,
}

impl<'a> UrlParts<'a> {
    /// `None` if it is no such URL; of a bare scheme and colon nothing but empty parts.
    pub fn split(url: &'a str) -> Option<UrlParts<'a>> {
        let (_, rest) = scheme_of(url)?;
        let rest = match rest {
            "" => "",
            rest => rest.strip_prefix("//")?,
        };
        // As libpq has it: before an at sign that precedes any slash, a question mark is of the
        // password.
        let first = rest.find(['@', '/']).unwrap_or(0);
        let from = if rest[first..].starts_with('@') { first } else { 0 };
        let (before, parameters) = match rest[from..].find('?') {
            Some(at) => (&rest[..from + at], &rest[from + at + 1..]),
            None => (rest, ""),
        };
        // A password that contains a slash or an at sign, unquoted, ends at the last one.
        let (user, before) = before.rsplit_once('@').unwrap_or(("", before));
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let (hosts, database) = before.split_once('/').unwrap_or((before, ""));
        Some(UrlParts { user, password, hosts, database, parameters })
    }

    /// Whether no part can be a piece of a password.
    pub fn is_plain(&self) -> bool {
        let is_port = |host: &str| {
            let name_end = host.rfind(']').map_or(0, |end| end + 1);
            let port = host[name_end..].split_once(':').map_or("", |(_, port)| port);
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

/// A URL as messages show it: scheme, user, host and database, and parameters that name these; only
/// the scheme of one that has no such parts.
pub fn url_without_password(url: &str) -> String {
    let Some((scheme, rest)) = scheme_of(url) else {
        return "KEY=VALUE".into();
    };
    let Some(parts) = UrlParts::split(url).filter(UrlParts::is_plain) else {
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
    if left.is_empty() { text } else { format!("{text}?{}", left.join("&")) }
}
