//! Options of `latlas serve`.

use clap::{Args, Parser, Subcommand};
use latlas::arguments::InvalidValue;
use latlas::arguments::config::ConfigOptions;
use latlas::config::CommandLine;
use std::path::PathBuf;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
Serves machines, runs, rows and comparisons as HTML and as an API (/api/openapi.json), and accepts
uploads. Serves other machines only with a token, sent as `Authorization: Bearer TOKEN` or as the
password of any user. Runs can't be deleted or tagged over HTTP. `latlas help serve` describes the server.

Examples:
  latlas serve                          Serve http://127.0.0.1:8080
  latlas serve --listen 127.0.0.1:0     Pick a free port and print it
  latlas serve --listen 0.0.0.0:8080 --token-file /etc/latlas/token
                                        Serve other machines
  latlas serve --read-only              Disable uploads
  curl --data-binary @run.json.zst -H 'Content-Type: application/zstd' http://127.0.0.1:8080/api/runs

Exit codes:
  0  ended by Ctrl-C or SIGTERM
  2  the request can't be carried out (port in use, token required)
  3  ended, but unfinished requests were aborted";

/// The command line `latlas serve ...`.
#[derive(Parser, Debug)]
#[command(name = "latlas", bin_name = "latlas", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) config: ConfigOptions,
    #[command(subcommand)]
    pub(crate) command: Only,
}

/// Its one command.
#[derive(Subcommand, Debug)]
pub(crate) enum Only {
    /// Serve stored runs over HTTP
    #[command(after_help = EXAMPLES)]
    Serve(ServeOptions),
}

impl CommandLine for Arguments {
    const PROGRAM: Option<&str> = Some("serve");

    fn command() -> clap::Command {
        <Arguments as clap::CommandFactory>::command()
    }

    fn configuration(&self) -> &ConfigOptions {
        &self.config
    }
}

/// Options of `latlas serve`.
#[derive(Args, Debug, Clone)]
pub(crate) struct ServeOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,
    /// File with the token clients must send [env: LATLAS_TOKEN (the token)]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Maximum size of an uploaded document
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = upload)]
    pub(crate) max_upload: u64,
    /// Disable uploads
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Maximum number of connections; further ones wait
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) connections: u32,
}

fn upload(text: &str) -> Result<u64, InvalidValue> {
    let largest = store::MAX_DOCUMENT_BYTES;
    model::size::parse_size(text)
        .filter(|bytes| (1024..=largest).contains(bytes))
        .ok_or(InvalidValue::UploadSize)
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

    #[test]
    fn the_page_of_the_command_line_has_all_of_it() {
        let mut command = <Arguments as CommandLine>::command().disable_help_subcommand(true);
        let page = latlas::arguments::page::help_page("", command.clone());
        command.build();
        let own = command.find_subcommand("serve").expect("its command");
        latlas::arguments::page::assert_complete(&page, own);
    }
}
