use super::data_dir::data_dir_from;
use super::*;
use std::ffi::OsString;
use std::path::Path;

#[test]
fn a_place_never_shows_a_password() {
    for (url, shown) in [
        ("postgres://", "postgres://"),
        ("postgres:", "postgres:"),
        ("postgres://lab/atlas", "postgres://lab/atlas"),
        ("postgres://me@lab:5433/atlas", "postgres://me@lab:5433/atlas"),
        ("postgres://me:s3cret@lab/atlas", "postgres://me@lab/atlas"),
        ("postgres://me:s3cr/t@x@lab/atlas", "postgres://me@lab/atlas"),
        ("postgres://:s3cret@lab", "postgres://lab"),
        ("postgres://me:s3cr?t@lab/atlas", "postgres://me@lab/atlas"),
        ("POSTGRES://me:s3cret@lab/atlas", "POSTGRES://me@lab/atlas"),
        ("postgresql://lab?password=s3cret&service=x", "postgresql://lab"),
        ("postgres://lab?sslpassword=s3cret", "postgres://lab"),
        ("postgres://lab?p%61ssword=s3cret", "postgres://lab"),
        ("postgres://lab?pass=s3cret", "postgres://lab"),
        ("postgres://me:s3cret@lab?PASSWORD=s3cret", "postgres://me@lab"),
        ("s3://key:s3cret@bucket/runs?secret=s3cret&host=x", "s3://key@bucket/runs?host=x"),
        // No such URL.
        ("postgres:me:s3cret@lab/atlas", "postgres:"),
        ("postgres:/me:s3cret@lab/atlas", "postgres:"),
        ("postgres://me:s3cret/atlas", "postgres:"),
        ("postgres://me:1/2?s3cret@lab/atlas", "postgres:"),
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
    for directory in ["/d", "a:b", "./a://b", "/x/host=lab", "postgres", "postgres.old"] {
        let place = Place::parse(directory);
        assert!(matches!(place, Place::Directory(_)), "{directory}");
        assert_eq!(place.to_string(), directory);
    }
}

fn environment<'a>(set: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
    |name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value))
}

#[test]
fn the_data_directory_follows_the_environment() {
    let of = |set: &[(&str, &str)]| data_dir_from(environment(set));
    let xdg = [("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
    assert_eq!(of(&xdg).expect("xdg"), Path::new("/x/latlas"));
    let own = [("LATLAS_DATA_DIR", "/own"), ("XDG_DATA_HOME", "/x")];
    assert_eq!(of(&own).expect("own"), Path::new("/own"));
    let relative = of(&[("XDG_DATA_HOME", "x"), ("HOME", "/h")]).expect("home");
    assert!(relative.starts_with("/h"), "{relative:?}");
    assert!(matches!(of(&[]), Err(StoreError::NoDataDirectory)));
    let empty = of(&[("LATLAS_DATA_DIR", ""), ("XDG_DATA_HOME", "/x")]).expect("xdg");
    assert_eq!(empty, Path::new("/x/latlas"));
}
