//! `latlas echo` under garbage, floods, too many connections, and silence.

use crate::support::Home;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::Child;
use std::time::{Duration, Instant};

/// Long against anything that should happen; only a broken server waits so
/// long.
const PATIENCE: Duration = Duration::from_secs(180);

struct Echo {
    child: Child,
    address: SocketAddr,
}

impl Echo {
    fn start(options: &str) -> Echo {
        let line = format!("echo --listen 127.0.0.1:0 {options}");
        let mut child = Home::new().start(line);
        let stdout = child.stdout.take().expect("piped");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("an address");
        let address = line.trim().parse().expect("an address");
        Echo { child, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// Whether it still does what it is for.
    fn answers(&mut self) {
        assert!(self.child.try_wait().expect("a child").is_none(), "it has ended");
        // Connections that have just ended may still count.
        soon("it answers no longer", || {
            let mut stream = self.connect();
            let mut answer = [0];
            let _ = stream.write_all(b"7");
            stream.read_exact(&mut answer).is_ok() && &answer == b"7"
        });
    }

    fn threads(&self) -> usize {
        let tasks = format!("/proc/{}/task", self.child.id());
        std::fs::read_dir(tasks).map_or(0, Iterator::count)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks again and again.
fn soon(what: &str, mut is: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Sends all, takes all back, in two threads as a full pipe needs.
fn through(stream: TcpStream, sent: Vec<u8>) -> Vec<u8> {
    let mut writer = stream.try_clone().expect("a second handle");
    let sending = std::thread::spawn(move || {
        writer.write_all(&sent).expect("taken");
        writer.shutdown(Shutdown::Write).expect("the end");
    });
    let mut back = Vec::new();
    let mut reader = stream;
    reader.read_to_end(&mut back).expect("all of it");
    sending.join().expect("sent");
    back
}

#[test]
fn whatever_is_sent_comes_back() {
    let mut echo = Echo::start("--message-bytes 1000");
    let mut runner = TestRunner::new(ProptestConfig::with_cases(40));
    let garbage = proptest::collection::vec(any::<u8>(), 0..20_000);
    runner
        .run(&garbage, |sent| {
            prop_assert_eq!(through(echo.connect(), sent.clone()), sent);
            Ok(())
        })
        .expect("an echo");
    // Far beyond what it holds.
    let flood: Vec<u8> = (0..8 << 20_u32).map(|i: u32| (i / 251) as u8).collect();
    assert!(through(echo.connect(), flood.clone()) == flood);
    echo.answers();
}

#[test]
fn abrupt_ends_in_any_order_leave_it_alive() {
    let mut echo = Echo::start("--idle 300ms");
    let mut runner = TestRunner::new(ProptestConfig::with_cases(60));
    let strategy = (proptest::collection::vec(any::<u8>(), 0..200_000), 0_u8..4, any::<bool>());
    runner
        .run(&strategy, |(bytes, end, nonblocking)| {
            let mut stream = echo.connect();
            stream.set_nonblocking(nonblocking).expect("a mode");
            let _ = stream.write(&bytes);
            match end {
                0 => drop(stream.shutdown(Shutdown::Both)),
                1 => drop(stream.shutdown(Shutdown::Write)),
                // Unread answers make the kernel send a reset.
                2 => drop(stream),
                _ => drop(stream.shutdown(Shutdown::Read)),
            }
            Ok(())
        })
        .expect("alive");
    echo.answers();
    // Whatever was left hanging is gone when the idle time is over.
    soon("threads are left", || echo.threads() == 1);
}

#[test]
fn one_connection_too_many_is_closed_until_another_ends() {
    let mut echo = Echo::start("--connections 2");
    let mut held: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = echo.connect();
            stream.write_all(b"x").expect("taken");
            stream.read_exact(&mut [0]).expect("an answer");
            stream
        })
        .collect();
    let mut third = echo.connect();
    let closed = match third.read(&mut [0]) {
        Ok(n) => n == 0,
        Err(e) => e.kind() == ErrorKind::ConnectionReset,
    };
    assert!(closed, "the third was served");
    held.pop();
    echo.answers();
}

#[test]
fn silence_and_a_reader_that_never_reads_are_ended() {
    let echo = Echo::start("--idle 200ms");
    let mut silent = echo.connect();
    assert_eq!(silent.read(&mut [0]).expect("closed by it"), 0);
    // It reads no answer, so writing to it blocks until the idle time is over.
    let mut deaf = echo.connect();
    let flood = vec![7; 1 << 20];
    let ended = (0..200).any(|_| deaf.write_all(&flood).is_err());
    assert!(ended, "it took 200 MiB without a reader");
}

#[test]
fn an_address_that_is_taken_is_refused() {
    let echo = Echo::start("");
    let line = format!("echo --listen {}", echo.address);
    Home::new().run(line).refused("can't listen");
}
