use super::*;
use std::os::unix::fs::PermissionsExt;
use tokio_postgres::config::{Host, SslMode};

fn system(set: &[(&str, &str)]) -> System {
    let pair = |(name, value): &(&str, &str)| ((*name).into(), (*value).into());
    System { variables: set.iter().map(pair).collect() }
}

fn of(url: &str, set: &[(&str, &str)]) -> Config {
    let settings = Settings::of(url, &system(set)).map_err(|e| e.to_string());
    settings.map(|settings| settings.config).expect(url)
}

fn password(config: &Config) -> Option<&str> {
    config.get_password().map(|bytes| std::str::from_utf8(bytes).expect("text"))
}

#[test]
fn every_part_of_a_url_may_be_missing_or_quoted() {
    let all = of("postgres://me:p%40w@[::1]:5433,lab/at%20las?options=-c%20x%3D1", &[]);
    assert_eq!(all.get_user(), Some("me"));
    assert_eq!(password(&all), Some("p@w"));
    assert_eq!(all.get_dbname(), Some("at las"));
    assert_eq!(all.get_ports(), [5433, 5432]);
    let hosts = [Host::Tcp("::1".into()), Host::Tcp("lab".into())];
    assert_eq!(all.get_hosts(), hosts);
    assert_eq!(all.get_options(), Some("-c x=1"));
    let question = of("POSTGRES://me:p?w@lab/atlas?port=1", &[]);
    assert_eq!(password(&question), Some("p?w"));
    assert_eq!(question.get_dbname(), Some("atlas"));
    for empty in ["postgres:", "postgres://", "postgresql://?application_name=x"] {
        let none = of(empty, &[("PGUSER", "me"), ("PGPORT", "1")]);
        assert_eq!((none.get_dbname(), none.get_user()), (Some("me"), Some("me")));
        assert_eq!(none.get_hosts(), [Host::Tcp("localhost".into())]);
    }
    for bad in [
        "postgres:lab",
        "postgre://lab",
        "host=lab user=me",
        "postgres://h/?x",
        "postgres://h?sslmode=no",
        "postgres://h?nonsense=1",
    ] {
        let error = Settings::of(bad, &system(&[])).map(|_| ());
        assert!(matches!(error, Err(StoreError::Settings { .. })), "{bad}");
    }
}

#[test]
fn a_url_precedes_a_service_and_that_the_environment() {
    let dir = tempfile::tempdir().expect("tempdir");
    let file = dir.path().join("services");
    std::fs::write(&file, "[lab]\nhost=db.lab\nuser=bench\ndbname=atlas\n").expect("written");
    let file = file.to_str().expect("UTF-8");
    let set = [("PGSERVICEFILE", file), ("PGUSER", "me"), ("PGPORT", "6000")];
    let config = of("postgres://?service=lab&user=you", &set);
    assert_eq!((config.get_user(), config.get_ports()), (Some("you"), &[6000][..]));
    assert_eq!(config.get_dbname(), Some("atlas"));
    let by_variable = of("postgres:", &[set[0], ("PGSERVICE", "lab")]);
    assert_eq!(by_variable.get_user(), Some("bench"));
    let none = Settings::of("postgres://?service=no", &system(&set)).map(|_| ());
    assert!(none.expect_err("none").to_string().contains("no service \"no\""));
}

#[test]
fn a_password_file_is_taken_if_nobody_else_can_read_it() {
    let dir = tempfile::tempdir().expect("tempdir");
    let file = dir.path().join(".pgpass");
    std::fs::write(&file, "lab:*:atlas:me:s3cret\nlocalhost:*:*:me:l0cal\n").expect("written");
    let allow = |mode| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("set");
    };
    let home = [("HOME", dir.path().to_str().expect("UTF-8"))];
    allow(0o600);
    assert_eq!(password(&of("postgres://me@lab/atlas", &home)), Some("s3cret"));
    assert_eq!(password(&of("postgres://me@lab/other", &home)), None);
    let socket = of("postgres://me@%2Fvar%2Frun%2Fpostgresql/x", &home);
    assert_eq!(password(&socket), Some("l0cal"));
    assert_eq!(password(&of("postgres://me:own@lab/atlas", &home)), Some("own"));
    allow(0o644);
    let open = Settings::of("postgres://me@lab/atlas", &system(&home));
    let open = open.map_err(|e| e.to_string()).expect("settings");
    assert_eq!(password(&open.config), None);
    let note = open.note.expect("a note");
    assert!(note.contains("chmod 600") && !note.contains("s3cret"), "{note}");
}

#[test]
fn tls_is_wanted_as_sslmode_says() {
    let mode = |url: &str| of(url, &[]).get_ssl_mode();
    assert_eq!(mode("postgres://lab"), SslMode::Prefer);
    assert_eq!(mode("postgres://lab?sslmode=require"), SslMode::Require);
    assert_eq!(mode("postgres://lab?sslmode=disable"), SslMode::Disable);
    assert_eq!(mode("postgres://%2Ftmp/x?sslmode=require"), SslMode::Disable);
    for (url, set) in [
        ("postgres://lab", &[("PGREQUIREAUTH", "scram-sha-256")][..]),
        ("postgres://lab?sslrootcert=system", &[]),
    ] {
        let refused = Settings::of(url, &system(set)).map(|_| ());
        let why = refused.expect_err(url).to_string();
        assert!(why.contains("support"), "{why}");
    }
    let unverified = Settings::of("postgres://lab?sslmode=verify-full", &system(&[]));
    let why = unverified.map(|_| ()).expect_err("no root").to_string();
    assert!(why.contains("root certificate"), "{why}");
}
