//! `latlas serve`: the atlas over HTTP.

use crate::UNRELIABLE;
use crate::arguments::serve::ServeOptions;
use crate::{catalogue, output};
use anyhow::{Context, bail};
use atlas::index::Index;
use atlas::input;
use atlas::references::References;
use atlas::store::Store;
use meter::probe::Probe;
use serve::{Options, Served, Token, addresses, router};
use std::process::ExitCode;
use std::sync::Arc;

/// No token is near as long.
const MAX_TOKEN_BYTES: u64 = 64 << 10;

/// Files that are open beside connections: documents, the index, the terminal.
const OTHER_FILES: u64 = 128;

/// Listens, says where on stderr, and serves until Ctrl-C or SIGTERM.
pub(crate) fn serve(probes: &[Probe], options: &ServeOptions) -> anyhow::Result<ExitCode> {
    let token = token(options)?;
    let addresses = addresses(&options.listen, token.is_some())?;
    let store = Store::of_user()?;
    // Better now than with the first request.
    let index = Index::open(store.clone())?;
    index.told().iter().for_each(|line| log(line));
    drop(index);
    let with_token = token.is_some();
    let router = router(
        store,
        References::embedded()?,
        Options {
            token,
            max_upload_bytes: options.max_upload,
            upload: serve::UploadLimits {
                // Four of the largest.
                held_bytes: 4 * options.max_upload,
                ..serve::UploadLimits::default()
            },
            now_unix_ms: serve::now_unix_ms,
            read_only: options.read_only,
            patience: serve::PATIENCE,
            probes: catalogue::texts(probes),
            log: Arc::new(log),
        },
    );
    let connections = connections(options.connections)?;
    let whom = match with_token {
        true => "with the token",
        false => "for this machine only",
    };
    let listening = |address| {
        log(&format!(
            "the atlas is at http://{address} ({whom}); Ctrl-C ends it"
        ));
    };
    let served = Served {
        listen: &options.listen,
        addresses: &addresses,
        connections,
        router,
    };
    let ended = served.until_asked_to_end(listening, log)?;
    if ended.cut_off > 0 {
        log(&format!(
            "ended; {} connections did not finish in time and were cut off",
            ended.cut_off
        ));
        return Ok(ExitCode::from(UNRELIABLE));
    }
    log("ended");
    Ok(ExitCode::SUCCESS)
}

fn log(line: &str) {
    output::tell(&format!("latlas: {line}\n"));
}

fn token(options: &ServeOptions) -> anyhow::Result<Option<Token>> {
    let (text, place) = match &options.token_file {
        Some(path) => {
            let text = input::read_text(path, MAX_TOKEN_BYTES)
                .with_context(|| format!("can't read the token from {}", path.display()))?;
            (text, path.display().to_string())
        }
        None => match std::env::var("LATLAS_TOKEN") {
            Ok(text) => (text, "LATLAS_TOKEN".to_owned()),
            Err(std::env::VarError::NotPresent) => return Ok(None),
            Err(e) => bail!("LATLAS_TOKEN: {e}"),
        },
    };
    let token = Token::new(&text).with_context(|| format!("no token in {place}"))?;
    Ok(Some(token))
}

/// As many connections as were asked for, if so many files may be open.
fn connections(asked: u32) -> anyhow::Result<usize> {
    let wanted = u64::from(asked) + OTHER_FILES;
    let files = sys::process::allow_open_files(wanted)
        .context("can't tell how many files may be open at once")?;
    if files >= wanted {
        return Ok(asked as usize);
    }
    let left = files.saturating_sub(OTHER_FILES);
    if left == 0 {
        bail!(
            "only {files} files may be open at once, and {OTHER_FILES} are needed beside connections: raise `ulimit -Hn`"
        );
    }
    log(&format!(
        "only {files} files may be open at once (ulimit -Hn): {left} connections instead of {asked}"
    ));
    Ok(left as usize)
}
