//! The files of libpq: `pg_service.conf` and the password file
//! (<https://www.postgresql.org/docs/current/libpq-pgservice.html>,
//! <https://www.postgresql.org/docs/current/libpq-pgpass.html>).

/// The settings of a service; `None` if the file has none of that name.
pub(super) fn service(text: &str, name: &str) -> Option<Vec<(String, String)>> {
    let mut found: Option<Vec<(String, String)>> = None;
    for line in text.lines().map(str::trim) {
        let header = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        match (header, &mut found) {
            (Some(header), None) if header == name => found = Some(Vec::new()),
            (Some(_), Some(_)) => break,
            (None, Some(settings)) if !line.starts_with('#') => {
                let pair = line.split_once('=');
                settings.extend(pair.map(|(key, value)| (key.trim().into(), value.trim().into())));
            }
            _ => {}
        }
    }
    found
}

/// The password for a connection: the first line that fits.
pub(super) fn password(text: &str, connection: [&str; 4]) -> Option<String> {
    text.lines().find_map(|line| {
        let fields = fields(line.trim_end_matches('\r'));
        let [of @ .., password] = fields.as_slice() else {
            return None;
        };
        let fits = |(own, wanted): (&String, &str)| own == "*" || own == wanted;
        let all = of.len() == 4 && of.iter().zip(connection).all(fits);
        (all && !line.starts_with('#')).then(|| password.clone())
    })
}

/// Fields with colons between; a backslash takes a colon or backslash as it is.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            ':' if fields.len() < 5 => fields.push(String::new()),
            c => {
                let c = if c == '\\' { characters.next().unwrap_or(c) } else { c };
                fields.last_mut().into_iter().for_each(|field| field.push(c));
            }
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_its_section() {
        let text =
            "# all\n[a]\nhost=x\n[lab]\n# the lab\nhost = db.lab\n dbname=atlas\n\n[z]\nhost=z\n";
        let lab = [("host".into(), "db.lab".into()), ("dbname".into(), "atlas".into())];
        assert_eq!(service(text, "lab").as_deref(), Some(&lab[..]));
        assert_eq!(service(text, "lob"), None);
    }

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# db:5432:atlas:me:commented\ndb:5432:atlas:you:no\ndb:*:atlas:me:p\\:w\\\\:x\n*:*:*:*:any\n";
        let of = |host, user| password(text, [host, "5432", "atlas", user]);
        assert_eq!(of("db", "me").as_deref(), Some("p:w\\:x"));
        assert_eq!(of("db", "you").as_deref(), Some("no"));
        assert_eq!(of("other", "me").as_deref(), Some("any"));
        assert_eq!(password("a:b\n", ["a", "b", "c", "d"]), None);
    }
}
