//! Listens with a bounded number of connections, and lets requests finish at
//! the end.

use crate::app::{DRAWINGS, QUERIES};
use crate::listen::ListenError;
use crate::share::{Client, Shares};
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};

/// How long clients may take.
#[derive(Clone, Copy, Debug)]
pub struct ClientTimeouts {
    /// For a request's head; an idle connection is closed after it.
    pub head: Duration,
    /// A connection this old ends after its request, so that a slow reader does
    /// not keep it for ever.
    pub life: Duration,
    /// For requests to finish at the end.
    pub grace: Duration,
}

impl Default for ClientTimeouts {
    fn default() -> ClientTimeouts {
        ClientTimeouts {
            head: Duration::from_secs(15),
            life: Duration::from_secs(600),
            grace: Duration::from_secs(10),
        }
    }
}

/// Largest head of a request, bytes.
const HEAD_BYTES: usize = 16 << 10;
const HEADERS: usize = 64;
/// Pause after a failed accept: no file descriptors, or no memory.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    connections: usize,
    limits: ClientTimeouts,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerEnd {
    /// Connections that were cut off, since their requests did not finish.
    pub cut_off: usize,
}

impl Server {
    /// Listens on one of the addresses (a name may have several) with at most
    /// so many connections at once; further ones wait to be accepted.
    pub async fn bind(
        listen: &str,
        addresses: &[SocketAddr],
        connections: usize,
        limits: ClientTimeouts,
    ) -> Result<Server, ListenError> {
        let refused = |cause: std::io::Error| match cause.kind() {
            std::io::ErrorKind::AddrInUse => ListenError::Taken(listen.to_owned()),
            _ => ListenError::Other(listen.to_owned(), cause),
        };
        let listener = TcpListener::bind(addresses).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Server { listener, address, connections, limits })
    }

    /// Where it listens, with the port that the system chose for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is done, then lets requests finish for a while.
    /// `log` takes a line for each failure of the server itself.
    pub async fn serve_requests(
        self,
        router: Router,
        stop: impl Future<Output = ()>,
        log: impl Fn(&str),
    ) -> ServerEnd {
        let limits = self.limits;
        let permits = Arc::new(Semaphore::new(self.connections));
        let shares = Shares::new(self.connections);
        let (ending, ends) = watch::channel(false);
        let mut stop = pin!(stop);
        loop {
            let accept = async {
                // The semaphore is never closed.
                let permit = Arc::clone(&permits).acquire_owned().await.ok();
                (permit, self.listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                () = &mut stop => break,
                accepted = accept => accepted,
            };
            match accepted {
                Ok((stream, from)) => {
                    let client = Client(from.ip());
                    // More than its share are closed: waiting ones would keep others out.
                    let Some(share) = shares.take(client, 1) else {
                        continue;
                    };
                    let (router, ends) = (router.clone(), ends.clone());
                    tokio::spawn(async move {
                        let _held = (permit, share);
                        connection(stream, client, router, ends, limits).await;
                    });
                }
                Err(e) if e.kind() == std::io::ErrorKind::ConnectionAborted => {}
                Err(e) => {
                    log(&format!("can't accept connections: {e}"));
                    tokio::time::sleep(ACCEPT_RETRY).await;
                }
            }
        }
        drop(self.listener);
        drop(ends);
        let _ = ending.send(true);
        // Every connection holds a receiver.
        let _ = tokio::time::timeout(limits.grace, ending.closed()).await;
        ServerEnd { cut_off: ending.receiver_count() }
    }
}

/// Serves one connection; errors are the client's.
async fn connection(
    stream: TcpStream,
    client: Client,
    router: Router,
    mut ends: watch::Receiver<bool>,
    limits: ClientTimeouts,
) {
    // A response must not wait for the next one.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(client);
        router.call(request)
    });
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let old = tokio::select! {
        _ = connection.as_mut() => return,
        _ = ends.wait_for(|&ending| ending) => false,
        () = tokio::time::sleep(limits.life) => true,
    };
    connection.as_mut().graceful_shutdown();
    match old {
        true => drop(tokio::time::timeout(limits.grace, connection).await),
        // The server waits, and counts what it cuts off.
        false => drop(connection.await),
    }
}

/// Listens and serves until SIGINT or SIGTERM. `listening` takes the address,
/// `log` a line for each failure of the server itself.
pub fn serve(
    listen: &str,
    addresses: &[SocketAddr],
    connections: usize,
    router: Router,
    listening: impl FnOnce(SocketAddr),
    log: impl Fn(&str),
) -> Result<ServerEnd, ListenError> {
    // Where it can't start its own, the runtime panics.
    let own = std::thread::available_parallelism().map_or(1, usize::from);
    sys::thread::can_start(own + QUERIES + DRAWINGS).map_err(ListenError::Threads)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(ListenError::Runtime)?;
    let ended = runtime.block_on(async {
        // Before the address is known: then a signal may follow.
        let mut interrupt = signal(SignalKind::interrupt()).map_err(ListenError::Runtime)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(ListenError::Runtime)?;
        let server =
            Server::bind(listen, addresses, connections, ClientTimeouts::default()).await?;
        listening(server.address());
        let stop = async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            log("stopping: finishing requests, accepting no connections");
        };
        Ok(server.serve_requests(router, stop, &log).await)
    });
    // What still blocks is a query whose client has left.
    runtime.shutdown_background();
    ended
}
