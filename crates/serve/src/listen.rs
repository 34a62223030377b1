//! Where a server may listen, and for whom.

use std::net::{SocketAddr, ToSocketAddrs};

/// Why a server can't listen there.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Not an address.
    #[error("no address {listen:?}: give HOST:PORT, such as 127.0.0.1:8080 ({cause})")]
    NoAddress {
        /// As it was given.
        listen: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// Strangers could come.
    #[error(
        "{0} can be reached from other machines: give a token (--token-file FILE, or LATLAS_TOKEN) \
         that whoever asks must know, or listen on 127.0.0.1"
    )]
    NeedsToken(String),
    /// Somebody else listens there.
    #[error(
        "can't listen on {0}: the port is taken; end what listens there, or give another port \
         (port 0 takes one that is free)"
    )]
    Taken(String),
    /// No threads, or no signals.
    #[error("can't start the server: {0}")]
    Runtime(std::io::Error),
    /// Another reason.
    #[error("can't listen on {listen}: {cause}")]
    Other {
        /// As it was given.
        listen: String,
        /// What the system says.
        cause: std::io::Error,
    },
}

/// The addresses behind `HOST:PORT`; any but loopback only with a token.
///
/// # Errors
/// If it is no address, or one that needs a token.
pub fn addresses(listen: &str, with_token: bool) -> Result<Vec<SocketAddr>, ListenError> {
    let no_address = |cause| ListenError::NoAddress {
        listen: listen.to_owned(),
        cause,
    };
    let found: Vec<SocketAddr> = listen.to_socket_addrs().map_err(no_address)?.collect();
    if found.is_empty() {
        return Err(no_address(std::io::ErrorKind::NotFound.into()));
    }
    if !with_token && !found.iter().all(|address| address.ip().is_loopback()) {
        return Err(ListenError::NeedsToken(listen.to_owned()));
    }
    Ok(found)
}

/// Whether a `Host` header names this machine to itself. A page of a stranger
/// whose name was made to lead to 127.0.0.1 (DNS rebinding) still sends its
/// own name.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, port)) if port.is_empty() || is_port(port) => name,
            _ => return false,
        },
        None => match host.rsplit_once(':') {
            Some((name, port)) if is_port(&format!(":{port}")) => name,
            Some(_) => return false,
            None => host,
        },
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':')
        .is_some_and(|port| port.parse::<u16>().is_ok())
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
            assert!(refused.to_string().contains("--token-file"));
            assert!(addresses(listen, true).is_ok(), "{listen}");
        }
        for listen in ["8080", "127.0.0.1", "", "127.0.0.1:99999"] {
            let refused = addresses(listen, true).expect_err(listen);
            assert!(matches!(refused, ListenError::NoAddress { .. }), "{listen}");
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
