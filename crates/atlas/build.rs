//! Packs the script that draws the report's charts: Apache ECharts, which the
//! crate charming carries minified. It is found where cargo keeps that crate's
//! source, checked against a committed checksum, and compressed, so that no
//! foreign code lies in this repository and no build fetches any.

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate that carries the script, as `Cargo.toml` pins it.
const CARRIER: (&str, &str) = ("charming", "0.6.0");
/// Checksum and path within that crate, as `sha256sum` writes them.
const CHECKSUM: &str = include_str!("echarts.sha256");
/// Names the script itself, where cargo can't be asked.
const OWN: &str = "LATLAS_ECHARTS";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=echarts.sha256");
    println!("cargo::rerun-if-env-changed={OWN}");
    if let Err(why) = pack() {
        let (name, version) = CARRIER;
        println!(
            "cargo::error=the report's chart script (ECharts, carried by the crate {name} {version}) \
             can't be packed: {why}. Either let cargo find the crate (cargo fetch), or set {OWN} to \
             the path of an echarts.min.js with the checksum in crates/atlas/echarts.sha256"
        );
    }
}

fn pack() -> Result<(), Box<dyn Error>> {
    let (checksum, inside) = CHECKSUM
        .trim()
        .split_once("  ")
        .ok_or("echarts.sha256 is not what sha256sum writes")?;
    let path = match std::env::var_os(OWN) {
        Some(own) => PathBuf::from(own),
        None => source_of_carrier()?.join(inside),
    };
    println!("cargo::rerun-if-changed={}", path.display());
    let script = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let digest = Sha256::digest(&script);
    let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    if found != checksum {
        return Err(format!(
            "{} has the checksum {found}, not {checksum}",
            path.display()
        )
        .into());
    }
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("echarts.js.gz"), compressed(&script)?)?;
    // As raw bytes: the page's policy names them.
    std::fs::write(out.join("echarts.sha256"), digest)?;
    Ok(())
}

/// Without a time of making in its head: the same input gives the same bytes.
fn compressed(script: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::best());
    packed.write_all(script)?;
    packed.finish()
}

/// Where cargo keeps the carrier's source: a registry's, or a vendored one.
fn source_of_carrier() -> Result<PathBuf, Box<dyn Error>> {
    // What is built already is here already; a fresh clone may lack crates of
    // members that are not being built, which a second try fetches.
    let metadata = metadata(&["--offline"]).or_else(|_| metadata(&[]))?;
    let packages = metadata["packages"].as_array().ok_or("no packages")?;
    let (name, version) = CARRIER;
    let is_carrier = |p: &&serde_json::Value| p["name"] == name && p["version"] == version;
    let manifest = packages
        .iter()
        .find(is_carrier)
        .ok_or("cargo metadata does not list it")?;
    let manifest = manifest["manifest_path"]
        .as_str()
        .ok_or("it has no manifest")?;
    Ok(Path::new(manifest)
        .parent()
        .ok_or("no directory")?
        .to_owned())
}

fn metadata(how: &[&str]) -> Result<serde_json::Value, Box<dyn Error>> {
    let asked = Command::new(std::env::var("CARGO")?)
        .args(["metadata", "--format-version", "1", "--filter-platform"])
        .arg(std::env::var("HOST")?)
        .args(how)
        .current_dir(std::env::var("CARGO_MANIFEST_DIR")?)
        .output()?;
    if !asked.status.success() {
        let why = String::from_utf8_lossy(&asked.stderr);
        return Err(format!("cargo metadata: {}", why.trim().replace('\n', "; ")).into());
    }
    Ok(serde_json::from_slice(&asked.stdout)?)
}
