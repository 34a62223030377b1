//! What one client may take of a limited resource: the rest stays for others.

use crate::problem::Problem;
use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use futures_util::stream::unfold;
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The address that a request came from. Clients behind one proxy are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Client(pub(crate) IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Client, Infallible> {
        // Without a connection there is one client.
        let known = parts.extensions.get().copied();
        Ok(known.unwrap_or(Client(Ipv4Addr::UNSPECIFIED.into())))
    }
}

/// Units of a resource, of which each client may hold a share.
pub(crate) struct Shares {
    all: Arc<Semaphore>,
    share: usize,
    /// Those of each client that holds some or waits.
    clients: Mutex<HashMap<Client, Weak<Semaphore>>>,
}

/// Units that are held. Dropping it returns them.
pub(crate) struct Held {
    of_client: OwnedSemaphorePermit,
    of_all: OwnedSemaphorePermit,
}

impl Held {
    pub(crate) fn merge(&mut self, more: Held) {
        self.of_client.merge(more.of_client);
        self.of_all.merge(more.of_all);
    }
}

impl Shares {
    /// So many units, of which one client may hold three quarters.
    pub(crate) fn new(units: usize) -> Shares {
        let units = units.min(Semaphore::MAX_PERMITS);
        Shares {
            all: Arc::new(Semaphore::new(units)),
            share: units - units / 4,
            clients: Mutex::default(),
        }
    }

    fn of_client(&self, client: Client) -> Arc<Semaphore> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = clients.get(&client).and_then(Weak::upgrade) {
            return known;
        }
        // As many stay as there are clients with a request now.
        clients.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.share));
        clients.insert(client, Arc::downgrade(&own));
        own
    }

    /// Waits for a unit: first for the client's own, so that its further requests keep
    /// no other client waiting. A client that leaves, leaves the queue.
    pub(crate) async fn wait(&self, client: Client, patience: Duration) -> Result<Held, Problem> {
        let waiting = async {
            Some(Held {
                of_client: self.of_client(client).acquire_owned().await.ok()?,
                of_all: Arc::clone(&self.all).acquire_owned().await.ok()?,
            })
        };
        match tokio::time::timeout(patience, waiting).await {
            Ok(Some(held)) => Ok(held),
            _ => Err(Problem::Busy),
        }
    }

    /// Takes units that are free now.
    pub(crate) fn take(&self, client: Client, units: usize) -> Option<Held> {
        let units = u32::try_from(units).ok()?;
        Some(Held {
            of_client: self.of_client(client).try_acquire_many_owned(units).ok()?,
            of_all: Arc::clone(&self.all).try_acquire_many_owned(units).ok()?,
        })
    }

    /// Takes as many units, or the client's whole share where that is less.
    pub(crate) fn take_up_to_share(&self, client: Client, units: usize) -> Option<Held> {
        self.take(client, units.min(self.share))
    }

    #[cfg(test)]
    pub(crate) fn free(&self) -> usize {
        self.all.available_permits()
    }
}

/// A body that holds something until it is sent, or its reader has left.
pub(crate) fn holding(bytes: Bytes, held: Held) -> Body {
    const PIECE: usize = 64 << 10;
    Body::from_stream(unfold((bytes, held), async |(mut bytes, held)| {
        let piece = bytes.split_to(PIECE.min(bytes.len()));
        (!piece.is_empty()).then_some((Ok::<_, Infallible>(piece), (bytes, held)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    const NOW: Duration = Duration::ZERO;

    fn client(number: u8) -> Client {
        Client(Ipv4Addr::new(127, 0, 0, number).into())
    }

    #[tokio::test]
    async fn one_client_leaves_a_quarter_to_others() {
        let shares = Shares::new(4);
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(shares.wait(client(1), NOW).await.expect("its share"));
        }
        assert!(shares.wait(client(1), NOW).await.is_err());
        let other = shares.wait(client(2), NOW).await.expect("the rest");
        assert!(shares.wait(client(3), NOW).await.is_err());
        drop(held.pop());
        assert!(shares.wait(client(3), NOW).await.is_ok());
        drop((held, other));
        assert_eq!(shares.free(), 4);
    }

    #[tokio::test]
    async fn a_body_holds_its_memory_until_it_is_sent() {
        let shares = Shares::new(8);
        let held = shares.take_up_to_share(client(1), 100).expect("free");
        assert_eq!(shares.free(), 2);
        let page = Bytes::from(vec![7; 200_000]);
        let mut body = holding(page.clone(), held);
        let first = body.frame().await.expect("a piece").expect("sent");
        assert_eq!(first.into_data().expect("data").len(), 64 << 10);
        assert_eq!(shares.free(), 2);
        let rest = body.collect().await.expect("sent").to_bytes();
        assert_eq!(rest.len(), page.len() - (64 << 10));
        assert_eq!(shares.free(), 8);
        let held = shares.take(client(1), 6).expect("free");
        drop(holding(page, held));
        assert_eq!(shares.free(), 8, "the reader left");
    }
}
