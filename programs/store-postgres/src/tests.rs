//! What a connection does on its bad days.

use crate::client::Client;
use crate::fault::Fault;
use crate::settings::Settings;
use std::time::{Duration, Instant};
use store_protocol::{Failure, FailureKind};

/// A connection to the server of the tests; `None` without one.
fn client(limit: Duration) -> Option<Client> {
    let Ok(url) = std::env::var("LATLAS_TEST_POSTGRES") else {
        println!("SKIPPED: no PostgreSQL server (LATLAS_TEST_POSTGRES; .ci/postgres starts one)");
        return None;
    };
    let settings = Settings::of(&url, &crate::variables()).expect("settings");
    let client = Client::connect(&settings.config, settings.tls, limit);
    Some(client.map_err(|_| ()).expect("connected"))
}

#[test]
fn a_statement_without_an_answer_is_given_up_and_so_is_its_connection() {
    let Some(mut client) = client(Duration::from_secs(1)) else { return };
    let change = client.transaction().map_err(|_| ()).expect("begun");
    let begun = Instant::now();
    match change.query("SELECT pg_sleep(60)", &[]) {
        Err(Fault::Failed(why)) => {
            assert_eq!(why, Failure::new(FailureKind::WentAway, "no answer for 1 s"));
        }
        other => panic!("{other:?}"),
    }
    // Nor is what was begun undone at the price of another such time.
    drop(change);
    assert!(client.is_closed() && client.query("SELECT 1", &[]).is_err());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn the_server_gives_up_a_statement_before_the_client_does() {
    let Some(client) = client(Duration::from_secs(9)) else { return };
    let row = client.query_one("SHOW statement_timeout", &[]).expect("asked");
    assert_eq!(row.get::<_, String>(0), "55s");
}
