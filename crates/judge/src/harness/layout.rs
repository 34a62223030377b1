//! The same program linked again, with its functions in another order.

use super::adapter::{Adapter, ProgramKind};
use super::environment::small_environment;
use super::error::HarnessError;
use super::programs::{Program, text};
use crate::checkout::BuildSide;
use crate::process::{Child, ProcessError, Processes, own_variables};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Stands in for the linker.
const LINKER_SCRIPT: &str = include_str!("keep-links.sh");
/// Where it keeps links.
const LINKS: &str = "links";

/// A link of a large program takes seconds.
const LIMIT: Duration = Duration::from_secs(300);

/// Layouts of a program that are kept on a side.
const KEPT: usize = 4;

/// Makes a build keep its links, where the harness has a use for them; what variables it wants for that. None where a
/// Rust project chooses its own linker.
pub(super) fn link_variables(
    adapter: &Adapter,
    side: &BuildSide,
    processes: &mut Processes,
) -> Result<Vec<(String, OsString)>, HarnessError> {
    if !adapter.links_again() {
        return Ok(Vec::new());
    }
    let script = side.link_keeper();
    write_linker(&script)?;
    // Others name the script in their build.
    if adapter.programs != ProgramKind::Cargo || chooses_linker(&side.root) {
        return Ok(Vec::new());
    }
    let words = ["rustc".to_owned(), "-vV".to_owned()];
    let (variables, directory) = (own_variables(&[]), &side.root);
    let asked =
        processes.run(&Child { words: &words, variables: &variables, directory, limit: LIMIT });
    let said = match asked {
        Err(ProcessError::NotFound(_)) => String::new(),
        other => other?.out_text(),
    };
    let Some(host) = said.lines().find_map(|line| line.strip_prefix("host: ")) else {
        return Ok(Vec::new());
    };
    let host = host.to_uppercase().replace('-', "_");
    Ok(vec![(format!("CARGO_TARGET_{host}_LINKER"), script.into())])
}

/// Whether a Rust project or its user says which linker is to be used.
fn chooses_linker(root: &Path) -> bool {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or(home.map(|home| home.join(".cargo")));
    let folders = root.ancestors().map(|folder| folder.join(".cargo")).chain(cargo_home);
    let mut files =
        folders.flat_map(|folder| ["config.toml", "config"].map(|name| folder.join(name)));
    let is_chosen = |file: PathBuf| {
        fs::read_to_string(file).is_ok_and(|text| {
            text.lines()
                .any(|line| line.trim_start().starts_with("linker") || line.contains("fuse-ld"))
        })
    };
    files.any(is_chosen)
        || std::env::vars().any(|(name, value)| {
            name.starts_with("CARGO_TARGET_") && name.ends_with("_LINKER")
                || name == "RUSTFLAGS" && value.contains("link")
        })
}

/// The executables with other layouts.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    /// BuildSide, program, seed and file, the oldest first.
    made: Vec<(usize, String, u64, PathBuf)>,
}

impl Layouts {
    /// The program with the layout of a seed; none where it can't be linked so.
    pub(super) fn executable(
        &mut self,
        at: usize,
        side: &BuildSide,
        program: &Program,
        adapter: &Adapter,
        seed: u64,
        processes: &mut Processes,
    ) -> Result<Option<PathBuf>, ProcessError> {
        // Linkers take 31 bits, and 0 is no seed to some.
        let seed = seed % 0x7fff_ffff + 1;
        let is_of = |made: &(usize, String, u64, PathBuf)| made.0 == at && made.1 == program.key;
        if let Some(found) = self.made.iter().find(|made| is_of(made) && made.2 == seed) {
            return Ok(Some(found.3.clone()));
        }
        let Some(exe) = &program.exe else { return Ok(None) };
        let of_program = self.made.iter().filter(|made| is_of(made)).count();
        let file = match self.made.iter().position(is_of).filter(|_| of_program >= KEPT) {
            // Its name too: paths stay as long as they were.
            Some(oldest) => self.made.remove(oldest).3,
            None => {
                // Programs in several folders may have one name.
                let name = program.key.replace('/', "_");
                side.target.join("layouts").join(format!("{of_program}-{name}"))
            }
        };
        let _ = fs::remove_file(&file);
        if fs::create_dir_all(side.target.join("layouts")).is_err() {
            return Ok(None);
        }
        let with = Program { exe: Some(file.clone()), ..program.clone() };
        let mut filling = with.filling(side, "").put("seed", seed.to_string());
        if adapter.links_again() {
            let Some(link) = kept_link(side, exe, &file) else { return Ok(None) };
            filling = filling.with_words("link", link);
        }
        let words = filling.filled(&adapter.relink);
        // A compiler wants the caller's own variables for its caches.
        let variables = match adapter.programs {
            ProgramKind::Packages => own_variables(&[]),
            _ => small_environment([]),
        };
        let child =
            Child { words: &words, variables: &variables, directory: &side.root, limit: LIMIT };
        let ended = match processes.run(&child) {
            Err(ProcessError::Interrupted) => return Err(ProcessError::Interrupted),
            Err(_) => return Ok(None),
            Ok(ended) => ended,
        };
        if !ended.is_success() || !file.is_file() {
            return Ok(None);
        }
        self.made.push((at, program.key.clone(), seed, file.clone()));
        Ok(Some(file))
    }
}

/// Puts the script that keeps links where it is found.
fn write_linker(path: &Path) -> Result<(), HarnessError> {
    use std::os::unix::fs::PermissionsExt;
    let written = fs::write(path, LINKER_SCRIPT)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)));
    written.map_err(|error| HarnessError::File { file: text(path), error })
}

/// The words that linked an executable, with another output.
fn kept_link(side: &BuildSide, exe: &Path, to: &Path) -> Option<Vec<String>> {
    let place = exe.canonicalize().ok()?;
    let kept = side.target.join(LINKS).join(place.strip_prefix("/").ok()?).join("words");
    let kept = String::from_utf8(fs::read(kept).ok()?).ok()?;
    let mut words: Vec<String> = kept.split_terminator('\0').map(str::to_owned).collect();
    let output = words.iter().position(|word| word == "-o")? + 1;
    *words.get_mut(output)? = text(to);
    if !words.iter().any(|word| word.starts_with("-fuse-ld=") && word.contains("lld")) {
        words.push("-fuse-ld=lld".into());
    }
    Some(words)
}
