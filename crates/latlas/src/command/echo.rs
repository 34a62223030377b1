//! `latlas echo`: the server for `latlas run --peer` on another machine.

use crate::arguments::EchoOptions;
use crate::echo::{Bounds, Server};
use crate::output;
use anyhow::{Context, bail};
use std::net::{SocketAddr, ToSocketAddrs};
use std::process::ExitCode;

/// Listens, prints the address and serves until Ctrl-C.
pub(crate) fn echo(options: &EchoOptions) -> anyhow::Result<ExitCode> {
    let listen = &options.listen;
    let addresses: Vec<SocketAddr> = listen
        .to_socket_addrs()
        .with_context(|| format!("no address {listen:?}: give HOST:PORT, such as 127.0.0.1:7411"))?
        .collect();
    if !options.allow_remote && !addresses.iter().all(|a| a.ip().is_loopback()) {
        bail!("{listen} is reachable from other machines: add --allow-remote to serve them");
    }
    let bounds = Bounds {
        connections: options.connections as usize,
        message_bytes: options.message_bytes as usize,
        idle: options.idle,
    };
    let server =
        Server::bind(&addresses, bounds).with_context(|| format!("can't listen on {listen}"))?;
    let address = server.address().context("can't get the address of the socket")?;
    output::print(&format!("{address}\n"))?;
    output::message(format_args!(
        "listening on {address} (at most {} connections, idle timeout {}); press Ctrl-C to stop",
        options.connections,
        humantime::format_duration(options.idle)
    ));
    server.serve(|line| output::message(format_args!("{line}")))
}
