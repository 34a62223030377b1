//! Options of `latlas serve`.

use clap::Args;
use std::path::PathBuf;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
Machines, runs, rows over all machines, comparisons and uploads, as pages and for programs
(/api/openapi.json). Only this machine is answered unless there is a token, which whoever asks must
know: as `Authorization: Bearer TOKEN`, or in a browser as the password of any name. Nothing can be
deleted or tagged over HTTP. docs/serve.md tells the rest.

Examples:
  latlas serve                          the atlas as pages, on http://127.0.0.1:8080
  latlas serve --listen 127.0.0.1:0     on a port that is free; the address is printed
  latlas serve --listen 0.0.0.0:8080 --token-file /etc/latlas/token    for other machines
  latlas serve --read-only              without uploads
  curl --data-binary @run.json.zst -H 'Content-Type: application/zstd' http://127.0.0.1:8080/api/runs

Exit codes: 0 ended by Ctrl-C or SIGTERM; 2 the request can't be carried out (the port is taken, an
address that needs a token); 3 ended, but requests were cut off.";

/// Where to listen, and for whom.
#[derive(Args, Debug, Clone)]
pub(crate) struct ServeOptions {
    /// Address and port; port 0 for one that is free
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,
    /// A file with the token that whoever asks must know; without it LATLAS_TOKEN has it, if set
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Largest document that is taken
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = upload)]
    pub(crate) max_upload: u64,
    /// Take no documents
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Connections at once; further ones wait
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) connections: u32,
}

fn upload(text: &str) -> Result<u64, String> {
    let largest = atlas::store::MAX_DOCUMENT_BYTES;
    model::size::parse(text)
        .filter(|bytes| (1024..=largest).contains(bytes))
        .ok_or_else(|| "give a size from 1KiB to 256MiB, such as 64MiB".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_has_a_size_within_what_a_document_may_be() {
        assert_eq!(upload("64MiB"), Ok(64 << 20));
        assert_eq!(upload("256MiB"), Ok(256 << 20));
        for bad in ["1", "0", "-1MiB", "257MiB", "much", ""] {
            assert!(upload(bad).is_err(), "{bad}");
        }
    }
}
