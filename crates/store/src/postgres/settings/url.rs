//! The settings in a URL.

use crate::place::UrlParts;
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;

/// The settings in a URL, `postgres://USER:PASSWORD@HOST:PORT,.../DATABASE?KEY=VALUE&...`, all of
/// whose parts may be missing.
pub(super) fn parameters(url: &str) -> Result<BTreeMap<String, String>, String> {
    let decoded = |text: &str| {
        let text = percent_decode_str(text).decode_utf8();
        text.map(std::borrow::Cow::into_owned).map_err(|_| "the URL is not UTF-8".to_owned())
    };
    let mut all = BTreeMap::new();
    let parts = UrlParts::of(url).ok_or("write it as postgres://USER@HOST:PORT/DATABASE")?;
    let (user, password, hosts) = (parts.user, parts.password, parts.hosts);
    let mut names = Vec::new();
    let mut ports = Vec::new();
    for host in hosts.split(',').filter(|_| !hosts.is_empty()) {
        // An IPv6 address stands in brackets.
        let end = host.rfind(']').map_or(0, |end| end + 1);
        let (name, port) = match host[end..].split_once(':') {
            Some((name, port)) => (format!("{}{name}", &host[..end]), port),
            None => (host.to_owned(), ""),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']').to_owned();
        names.push(decoded(&name)?);
        ports.push(port);
    }
    let mut add = |key: &str, value: String| {
        if !value.is_empty() {
            all.insert(key.to_owned(), value);
        }
    };
    add("user", decoded(user)?);
    add("password", decoded(password)?);
    add("host", names.join(","));
    if ports.iter().any(|port| !port.is_empty()) {
        let port = |port: &&str| if port.is_empty() { "5432" } else { port }.to_owned();
        add("port", ports.iter().map(port).collect::<Vec<_>>().join(","));
    }
    add("dbname", decoded(parts.database)?);
    for pair in parts.parameters.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or("a parameter of the URL has no value")?;
        add(&decoded(key)?, decoded(value)?);
    }
    Ok(all)
}
