//! Addresses to listen on, and which of them need a token.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// Why a server can't listen there.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Not an address: the text, and what the system says.
    #[error("no address {0:?}: give HOST:PORT, such as 127.0.0.1:8080 ({1})")]
    NoAddress(String, std::io::Error),
    #[error(
        "{0} can be reached from other machines: set a token that clients must send (--token-file \
         FILE or LATLAS_TOKEN), or listen on 127.0.0.1"
    )]
    NeedsToken(String),
    #[error(
        "can't listen on {0}: port in use; stop the process that listens there, or give another \
         port (port 0 takes a free one)"
    )]
    Taken(String),
    #[error("can't start the server's threads: {0} (ulimit -u, ulimit -v, pids.max)")]
    Threads(std::io::Error),
    #[error("can't start the server: {0}")]
    Runtime(std::io::Error),
    /// Another reason: the text, and what the system says.
    #[error("can't listen on {0}: {1}")]
    Other(String, std::io::Error),
}

/// The addresses of `HOST:PORT`; any but loopback only with a token.
///
/// # Errors
/// If it is no address, or one that needs a token.
pub fn addresses(listen: &str, with_token: bool) -> Result<Vec<SocketAddr>, ListenError> {
    let no_address = |cause| ListenError::NoAddress(listen.to_owned(), cause);
    let addresses: Vec<SocketAddr> = listen.to_socket_addrs().map_err(no_address)?.collect();
    if addresses.is_empty() {
        return Err(no_address(std::io::ErrorKind::NotFound.into()));
    }
    if !with_token && !addresses.iter().all(|address| address.ip().is_loopback()) {
        return Err(ListenError::NeedsToken(listen.to_owned()));
    }
    Ok(addresses)
}

/// Whether a `Host` header names this machine to itself. After DNS rebinding a
/// page of another site still sends its own name.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') => (name, port),
        _ => (host, "0"),
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    let v6 = name.strip_prefix('[').and_then(|ip| ip.strip_suffix(']'));
    let loopback = match v6 {
        Some(ip) => ip.parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback()),
        None => name.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback()),
    };
    port.parse::<u16>().is_ok() && (loopback || name.eq_ignore_ascii_case("localhost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_needs_no_token_and_everything_else_does() {
        for listen in ["127.0.0.1:0", "127.8.9.10:80", "[::1]:8080", "localhost:0"] {
            assert!(addresses(listen, false).is_ok(), "{listen}");
        }
        for listen in ["0.0.0.0:8080", "[::]:8080", "192.0.2.7:80"] {
            let refused = addresses(listen, false).expect_err(listen);
            assert!(matches!(refused, ListenError::NeedsToken(_)), "{listen}");
            assert!(addresses(listen, true).is_ok(), "{listen}");
        }
        for listen in ["8080", "127.0.0.1", "", "127.0.0.1:99999"] {
            let refused = addresses(listen, true).expect_err(listen);
            assert!(matches!(refused, ListenError::NoAddress(..)), "{listen}");
        }
    }

    #[test]
    fn names_of_this_machine_to_itself() {
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "localhost.:1",
            "127.0.0.1",
            "127.0.0.1:8080",
            "127.1.2.3:1",
            "[::1]",
            "[::1]:8080",
        ] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com",
            "example.com:8080",
            "127.0.0.1.example.com",
            "192.0.2.7:8080",
            "[::2]",
            "[::1",
            "[::1]x",
            "localhost:8080:1",
            "localhost:port",
            "0.0.0.0:8080",
            "127.0.0.1@example.com",
        ] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
