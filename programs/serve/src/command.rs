//! `latlas serve`: stored runs over HTTP.

use crate::arguments::{Arguments, Only, ServeOptions};
use anyhow::{Context, bail};
use compare::references::References;
use latlas::{UNRELIABLE, catalogue, output};
use serve::{Options, Token, addresses, router};
use std::env::VarError;
use std::process::ExitCode;
use std::sync::Arc;
use store::Store;
use store::index::Index;
use sys::trust;

/// Limit of a token file.
const MAX_TOKEN_BYTES: u64 = 64 << 10;

/// Open files besides connections: documents, the index, the terminal.
const OTHER_FILES: u64 = 128;

/// Listens, prints the address on stderr, and serves until Ctrl-C or SIGTERM.
pub(crate) fn perform(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let Only::Serve(options) = arguments.command;
    let options = &options;
    let token = token(options)?;
    let addresses = addresses(&options.listen, token.is_some())?;
    let store = Store::of_user()?;
    // Fail now rather than with the first request.
    let index = Index::open(store.clone())?;
    index.messages().iter().for_each(|line| log(line));
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
                memory_bytes: 4 * options.max_upload,
                ..serve::UploadLimits::default()
            },
            now_unix_ms: serve::now_unix_ms,
            read_only: options.read_only,
            timeout: serve::TIMEOUT,
            probes: catalogue::texts(&probes::catalogue()),
            log: Arc::new(log),
        },
    );
    let connections = connections(options.connections)?;
    let access = if with_token { "token required" } else { "this machine only" };
    let listening = |address| {
        log(&format!("serving http://{address} ({access}); press Ctrl-C to stop"));
    };
    let ended = serve::serve(&options.listen, &addresses, connections, router, listening, log)?;
    if ended.cut_off > 0 {
        log(&format!("stopped; aborted {} unfinished connections", ended.cut_off));
        return Ok(ExitCode::from(UNRELIABLE));
    }
    log("stopped");
    Ok(ExitCode::SUCCESS)
}

fn log(line: &str) {
    output::message(format_args!("{line}"));
}

fn token(options: &ServeOptions) -> anyhow::Result<Option<Token>> {
    let (text, source) = match &options.token_file {
        Some(path) => {
            let text = trust::read_text(path, MAX_TOKEN_BYTES)
                .with_context(|| format!("can't read the token from {}", path.display()))?;
            (text, path.display().to_string())
        }
        None => match std::env::var("LATLAS_TOKEN") {
            Ok(text) => (text, "LATLAS_TOKEN".to_owned()),
            Err(VarError::NotPresent) => return Ok(None),
            // Not what it holds: that is a secret.
            Err(VarError::NotUnicode(_)) => bail!("the token in LATLAS_TOKEN is not UTF-8"),
        },
    };
    let token = Token::new(&text).with_context(|| format!("bad token in {source}"))?;
    Ok(Some(token))
}

/// The number of connections, reduced to the limit of open files.
fn connections(requested: u32) -> anyhow::Result<usize> {
    let wanted = u64::from(requested) + OTHER_FILES;
    let files =
        sys::process::allow_open_files(wanted).context("can't read the limit of open files")?;
    if files >= wanted {
        return Ok(requested as usize);
    }
    let left = files.saturating_sub(OTHER_FILES);
    if left == 0 {
        bail!(
            "the limit of {files} open files is too low, {OTHER_FILES} are needed besides connections: raise `ulimit -Hn`"
        );
    }
    log(&format!(
        "the limit is {files} open files (ulimit -Hn): using {left} connections instead of {requested}"
    ));
    Ok(left as usize)
}
