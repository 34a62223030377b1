//! Listening, a bounded number of connections, and an end that lets requests
//! finish.

use crate::listen::ListenError;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};

/// How long strangers may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A request's head must be whole after this; a connection that asks
    /// nothing for so long is closed.
    pub head: Duration,
    /// A connection that is so old ends after its request: who reads slowly
    /// for ever does not keep it for ever.
    pub life: Duration,
    /// How long requests may take to finish once the end is near.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head: Duration::from_secs(15),
            life: Duration::from_secs(600),
            grace: Duration::from_secs(10),
        }
    }
}

/// Largest head of a request, bytes.
const HEAD_BYTES: usize = 16 << 10;
/// Headers of a request at most.
const HEADERS: usize = 64;
/// Pause after an accept that failed for want of something of ours.
const BREATH: Duration = Duration::from_millis(100);

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    connections: usize,
    limits: Limits,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Connections that were cut off, since their requests did not finish.
    pub cut_off: usize,
}

impl Server {
    /// Listens on one of the addresses (a name may have several) for so many
    /// connections at once; further ones wait to be accepted.
    ///
    /// # Errors
    /// If the port is taken, or the address is not this machine's.
    pub async fn bind(
        listen: &str,
        addresses: &[SocketAddr],
        connections: usize,
    ) -> Result<Server, ListenError> {
        let refused = |cause: std::io::Error| match cause.kind() {
            std::io::ErrorKind::AddrInUse => ListenError::Taken(listen.to_owned()),
            _ => ListenError::Other {
                listen: listen.to_owned(),
                cause,
            },
        };
        let listener = TcpListener::bind(addresses).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Server {
            listener,
            address,
            connections,
            limits: Limits::default(),
        })
    }

    /// The same with other limits.
    #[must_use]
    pub fn within(mut self, limits: Limits) -> Server {
        self.limits = limits;
        self
    }

    /// Where it listens, with the port that the system chose for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is done, then lets requests finish for a while.
    /// `log` hears, a line each, of what goes wrong on our side.
    pub async fn run(
        self,
        router: Router,
        stop: impl Future<Output = ()>,
        log: impl Fn(&str),
    ) -> Ended {
        let limits = self.limits;
        let places = Arc::new(Semaphore::new(self.connections));
        let (ending, told) = watch::channel(false);
        let mut stop = pin!(stop);
        loop {
            let accepted = async {
                // Nobody closes the semaphore.
                let place = Arc::clone(&places).acquire_owned().await.ok();
                (place, self.listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                () = &mut stop => break,
                accepted = accepted => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let (router, told) = (router.clone(), told.clone());
                    tokio::spawn(async move {
                        let _place = place;
                        converse(stream, router, told, limits).await;
                    });
                }
                Err(e) if e.kind() == std::io::ErrorKind::ConnectionAborted => {}
                Err(e) => {
                    log(&format!("no connection can be accepted: {e}"));
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
        drop(self.listener);
        drop(told);
        let _ = ending.send(true);
        // Whoever converses holds a receiver.
        let _ = tokio::time::timeout(limits.grace, ending.closed()).await;
        Ended {
            cut_off: ending.receiver_count(),
        }
    }
}

/// One connection. How it ends is the other side's affair.
async fn converse(
    stream: TcpStream,
    router: Router,
    mut told: watch::Receiver<bool>,
    limits: Limits,
) {
    // An answer must not wait for the next one.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES);
    let service = TowerToHyperService::new(router);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let old = tokio::select! {
        _ = connection.as_mut() => return,
        _ = told.wait_for(|&ending| ending) => false,
        () = tokio::time::sleep(limits.life) => true,
    };
    connection.as_mut().graceful_shutdown();
    match old {
        true => {
            let _ = tokio::time::timeout(limits.grace, connection).await;
        }
        // The server waits, and counts whom it cuts off.
        false => {
            let _ = connection.await;
        }
    }
}

/// What is to be served, and where.
#[derive(Debug)]
pub struct Served<'a> {
    /// As it was asked for, for messages.
    pub listen: &'a str,
    /// The addresses behind that.
    pub addresses: &'a [SocketAddr],
    /// Connections at once.
    pub connections: usize,
    /// Who answers.
    pub router: Router,
}

impl Served<'_> {
    /// Serves until SIGINT or SIGTERM. `listening` hears where, `log` what goes
    /// wrong on our side.
    ///
    /// # Errors
    /// If it can't listen there, or the system refuses threads or signals.
    pub fn until_asked_to_end(
        self,
        listening: impl FnOnce(SocketAddr),
        log: impl Fn(&str),
    ) -> Result<Ended, ListenError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(ListenError::Runtime)?;
        let ended = runtime.block_on(async {
            // Before anybody hears of the address: then a signal may follow.
            let mut interrupt = signal(SignalKind::interrupt()).map_err(ListenError::Runtime)?;
            let mut terminate = signal(SignalKind::terminate()).map_err(ListenError::Runtime)?;
            let server = Server::bind(self.listen, self.addresses, self.connections).await?;
            listening(server.address());
            let stop = async {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                log("ending: no more connections, requests may finish");
            };
            Ok(server.run(self.router, stop, &log).await)
        });
        // What still blocks is a question that nobody waits for.
        runtime.shutdown_background();
        ended
    }
}
