//! A service and a password from the files of libpq.

use super::files;
use super::names::SOCKETS;
use super::system::System;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The settings of a service, from the first file that has it.
pub(super) fn service(name: &str, system: &System) -> Result<Vec<(String, String)>, String> {
    let of_user = system.file(system.variable("PGSERVICEFILE"), ".pg_service.conf");
    let directory = system
        .variable("PGSYSCONFDIR")
        .unwrap_or("/etc/postgresql-common");
    let of_system = Path::new(directory).join("pg_service.conf");
    let files: Vec<PathBuf> = of_user.into_iter().chain([of_system]).collect();
    for file in &files {
        match std::fs::read_to_string(file) {
            Ok(text) => {
                if let Some(found) = files::service(&text, name) {
                    return Ok(found);
                }
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(format!("can't read {}: {e}", file.display())),
        }
    }
    let files: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    Err(format!("no service {name:?} in {}", files.join(" or ")))
}

/// Takes the password of the password file where none is given; says why one was not taken.
pub(super) fn password(all: &mut BTreeMap<String, String>, system: &System) -> Option<String> {
    if all.contains_key("password") {
        return None;
    }
    let file = system.file(all.get("passfile").map(String::as_str), ".pgpass")?;
    let mode = std::fs::metadata(&file).ok()?.permissions().mode();
    if mode & 0o077 != 0 {
        let file = file.display();
        return Some(format!(
            "{file} is ignored: others may read it (chmod 600 {file})"
        ));
    }
    let text = std::fs::read_to_string(&file).ok()?;
    let first = |key: &str| {
        all.get(key)
            .and_then(|hosts| hosts.split(',').next())
            .unwrap_or_default()
    };
    let host = match first("host") {
        "" => first("hostaddr"),
        host if SOCKETS.contains(&host) => "localhost",
        host => host,
    };
    let found = files::password(&text, [host, first("port"), &all["dbname"], &all["user"]]);
    all.extend(found.map(|password| ("password".to_owned(), password)));
    None
}
