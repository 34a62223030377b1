//! Makes the compressed records anew: `import FROM TO`, folders. Nothing is written unless all files pass.

use references::record::{
    BoardReport, CloudType, CoreMatrix, InstructionTimings, PublishedRecord, TestPopulation,
};
use std::error::Error;
use std::fs;
use std::path::Path;

/// What `zstd -19` does, with the checksum that tells damage.
fn packed<R: PublishedRecord>(from: &Path) -> Result<(String, Vec<u8>), Box<dyn Error>> {
    let name = format!("{}.jsonl", R::SOURCE.file_stem());
    let path = from.join(&name);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let records = references::checked_records::<R>(&text)?.len();
    let mut compressor = zstd::bulk::Compressor::new(19)?;
    compressor.include_checksum(true)?;
    let bytes = compressor.compress(text.as_bytes())?;
    println!("{name}: {records} records, {} bytes", bytes.len());
    Ok((format!("{name}.zst"), bytes))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = arguments.as_slice() else {
        return Err("import FROM TO: a folder with cloud.jsonl, boards.jsonl, ... and crates/references/data".into());
    };
    let from = Path::new(from);
    let files = [
        packed::<CloudType>(from)?,
        packed::<BoardReport>(from)?,
        packed::<InstructionTimings>(from)?,
        packed::<CoreMatrix>(from)?,
        packed::<TestPopulation>(from)?,
    ];
    for (name, bytes) in files {
        fs::write(Path::new(to).join(name), bytes)?;
    }
    Ok(())
}
