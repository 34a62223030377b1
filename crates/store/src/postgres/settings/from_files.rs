//! A service and a password from the files of libpq.

use super::files;
use super::names::SOCKETS;
use super::system::System;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use sys::input::{self, Input};
use sys::trust;

/// Largest of these files.
const MAX_BYTES: u64 = 1 << 20;

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The settings of a service, from the first file that has it.
pub(super) fn service(name: &str, system: &System) -> Result<Vec<(String, String)>, String> {
    let of_user = system.file(system.variable("PGSERVICEFILE"), ".pg_service.conf");
    let directory = system.variable("PGSYSCONFDIR").unwrap_or("/etc/postgresql-common");
    let of_system = Path::new(directory).join("pg_service.conf");
    let files: Vec<PathBuf> = of_user.into_iter().chain([of_system]).collect();
    for file in &files {
        match trust::read_text(file, MAX_BYTES) {
            Ok(text) => {
                if let Some(found) = files::service(&text, name) {
                    return Ok(found);
                }
            }
            Err(e) if is_absent(e.kind()) => {}
            Err(e) => return Err(format!("can't read {}: {e}", file.display())),
        }
    }
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    Err(format!("no service {name:?} in {}", files.join(" or ")))
}

/// Takes the password of the password file where none is given; says why one was not taken.
pub(super) fn password(all: &mut BTreeMap<String, String>, system: &System) -> Option<String> {
    if all.contains_key("password") {
        return None;
    }
    let file = system.file(all.get("passfile").map(String::as_str), ".pgpass")?;
    let (file, shown) = match trust::open(&file) {
        Err(e) if is_absent(e.kind()) => return None,
        Err(e) => return Some(format!("{} is ignored: {e}", file.display())),
        Ok(opened) => (opened, file.display()),
    };
    if let Input::File(file) = &file
        && file.metadata().ok()?.permissions().mode() & 0o077 != 0
    {
        return Some(format!("{shown} is ignored: others may read it (chmod 600 {shown})"));
    }
    let text = input::read_open(file, MAX_BYTES).and_then(|bytes| input::text(bytes, MAX_BYTES));
    let text = text.ok()?;
    let first =
        |key: &str| all.get(key).and_then(|hosts| hosts.split(',').next()).unwrap_or_default();
    let host = match first("host") {
        "" => first("hostaddr"),
        host if SOCKETS.contains(&host) => "localhost",
        host => host,
    };
    let found = files::password(&text, [host, first("port"), &all["dbname"], &all["user"]]);
    all.extend(found.map(|password| ("password".to_owned(), password)));
    None
}
