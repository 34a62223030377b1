//! Many readers at once, while one uploads, against a server that runs:
//!
//! ```text
//! cargo run --release -p latlas-serve --example readers -- 127.0.0.1:8080 1000 20 run.json.zst \
//!     cpu.add_i32 MACHINE RUN RUN
//! ```
//!
//! Address, readers, requests of each, and a run document to take as a pattern
//! for uploads; then what the server has: a row with a figure that is ok, the key
//! of a machine with it, and whole ids of two runs to compare. Prints how many requests there were, how many errors, and what
//! half of them and 99 of 100 took at most. Ends with 1 if any failed. The
//! server's token, if it has one, is taken from `LATLAS_TOKEN`.

mod load;

use load::{Known, Load};
use std::process::ExitCode;
use std::time::Instant;

/// Documents that are made of the pattern.
const DOCUMENTS: u64 = 100;

const GIVE: &str = "give ADDRESS READERS REQUESTS DOCUMENT ROW MACHINE RUN RUN";

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, readers, requests, pattern, known @ ..] = arguments.as_slice() else {
        return Err(GIVE.into());
    };
    let [row, machine, one, two] = known else {
        return Err(GIVE.into());
    };
    let readers: usize = readers.parse()?;
    let mut run = atlas::store::read(pattern.as_ref())?;
    // A run that is to come is refused.
    run.started_unix_ms = serve::now_unix_ms() - DOCUMENTS * 1000;
    let mut documents = Vec::new();
    for number in 0..DOCUMENTS {
        let began = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
        let unique = began.as_nanos() as u64;
        run.id = format!(
            "{:08x}-{:04x}-4000-8000-{:012x}",
            number,
            unique >> 48 & 0xffff,
            unique & 0xffff_ffff_ffff
        );
        run.started_unix_ms += 1000;
        documents.push(atlas::store::to_json(&run)?);
    }
    let load = Load {
        address: address.parse()?,
        readers,
        requests: requests.parse()?,
        paths: load::paths(&Known {
            row,
            machine,
            runs: [one, two],
        }),
        documents,
        token: std::env::var("LATLAS_TOKEN").ok(),
    };
    let runtime = tokio::runtime::Runtime::new()?;
    let began = Instant::now();
    let outcome = runtime.block_on(load::run(load));
    let took_s = began.elapsed().as_secs_f64();
    for error in outcome.errors.iter().take(10) {
        eprintln!("{error}");
    }
    println!(
        "{readers} readers, {} requests in {took_s:.1} s ({:.0} a second), {} uploads, {} errors; \
         p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
        outcome.took.len(),
        outcome.took.len() as f64 / took_s,
        outcome.kept,
        outcome.errors.len(),
        outcome.quantile(0.5).as_secs_f64() * 1e3,
        outcome.quantile(0.99).as_secs_f64() * 1e3,
        outcome.quantile(1.0).as_secs_f64() * 1e3,
    );
    let all_well = outcome.errors.is_empty() && outcome.kept > 0 && !outcome.took.is_empty();
    Ok(ExitCode::from(u8::from(!all_well)))
}
