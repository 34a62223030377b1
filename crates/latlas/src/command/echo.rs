//! `latlas echo`: be the other end for `--peer` on another machine.

use crate::arguments::EchoOptions;
use crate::echo::{Bounds, Server};
use crate::output;
use anyhow::{Context, bail};
use std::net::{SocketAddr, ToSocketAddrs};
use std::process::ExitCode;

/// Listens, says where on stdout, and serves until Ctrl-C.
pub(crate) fn echo(options: &EchoOptions) -> anyhow::Result<ExitCode> {
    let listen = &options.listen;
    let addresses: Vec<SocketAddr> = listen
        .to_socket_addrs()
        .with_context(|| format!("no address {listen:?}: give HOST:PORT, such as 127.0.0.1:7411"))?
        .collect();
    if !options.allow_remote && !addresses.iter().all(|a| a.ip().is_loopback()) {
        bail!(
            "{listen} can be reached from other machines, and whoever reaches it gets an answer: \
             add --allow-remote if that is meant"
        );
    }
    let bounds = Bounds {
        connections: options.connections as usize,
        message_bytes: options.message_bytes as usize,
        idle: options.idle,
    };
    let server =
        Server::bind(&addresses, bounds).with_context(|| format!("can't listen on {listen}"))?;
    let address = server.address().context("can't tell where it listens")?;
    output::print(&format!("{address}\n"))?;
    eprintln!(
        "latlas: echo on {address}: at most {} connections, closed after {} without traffic; Ctrl-C ends it",
        options.connections,
        humantime::format_duration(options.idle)
    );
    server.serve(|line| eprintln!("latlas: {line}"))
}
