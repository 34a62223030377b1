//! The parent's side of its worker processes: started, told, listened to,
//! ended. No worker outlives its parent's hold on it.

use crate::wire::{self, Reply, Request, Setup};
use crate::worker::WORKER_VARIABLE;
use model::noise::applied::Settings;
use std::io::{self, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::Duration;

/// A worker that says nothing for this long is taken for stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// One worker process.
pub struct Hand {
    /// Its number.
    pub worker: u32,
    child: Child,
    reaped: bool,
    from: BufReader<UnixStream>,
    to: UnixStream,
    /// CPUs it is pinned to, or why it is not.
    pub pinned: Result<Vec<u32>, String>,
    /// What it has of all controls, as it read them back.
    pub granted: Settings,
    /// Why it has not all of the others that were asked for.
    pub refused: Option<String>,
}

impl Hand {
    /// Starts a worker and waits until it stands ready.
    pub fn start(setup: &Setup) -> io::Result<Hand> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut program = sys::process::this_program()?;
        program
            .args(std::env::args_os().skip(1))
            .env(WORKER_VARIABLE, std::process::id().to_string())
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null());
        // A group of its own: Ctrl-C is the parent's to answer. One that gets
        // a session makes it itself, before it is ready: a session has a group
        // too, whose leader can't begin one, and what runs in the child before
        // its program would cost a fork of all that is here.
        if !setup.asked.controls().own_session {
            program.process_group(0);
        }
        let child = program.spawn()?;
        ours.set_read_timeout(Some(PATIENCE))?;
        let mut hand = Hand {
            worker: setup.worker,
            child,
            reaped: false,
            from: BufReader::new(ours.try_clone()?),
            to: ours,
            pinned: Ok(Vec::new()),
            granted: Settings::default(),
            refused: None,
        };
        wire::send(&mut hand.to, setup)?;
        match hand.listen()? {
            Reply::Ready {
                pinned,
                granted,
                refused,
            } => (hand.pinned, hand.granted, hand.refused) = (pinned, granted, refused),
            _ => return Err(io::Error::other("the worker did not say it was ready")),
        }
        Ok(hand)
    }

    /// Sends it a request.
    pub fn tell(&mut self, request: &Request) -> io::Result<()> {
        wire::send(&mut self.to, request).map_err(|e| match e.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => self.obituary(),
            _ => e,
        })
    }

    /// Waits for its next answer.
    pub fn listen(&mut self) -> io::Result<Reply> {
        wire::open(&self.listen_unopened()?)
    }

    /// Waits for its next answer and leaves it unopened, for
    /// [`wire::open`]: opening takes CPU time, which the worker's next visit
    /// may want.
    pub fn listen_unopened(&mut self) -> io::Result<Vec<u8>> {
        match wire::receive_frame(&mut self.from) {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(self.obituary()),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Err(self.obituary()),
            Err(e) if e.kind() == io::ErrorKind::ConnectionReset => Err(self.obituary()),
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                Err(io::Error::other(format!(
                    "worker {} said nothing for {} s",
                    self.worker,
                    PATIENCE.as_secs()
                )))
            }
            Err(e) => Err(e),
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, as an error.
    fn obituary(&mut self) -> io::Error {
        self.reaped = true;
        let how = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(e) => e.to_string(),
        };
        io::Error::other(format!("worker {} ended early ({how})", self.worker))
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        // Nothing in a worker wants an orderly end; a zombie nobody wants.
        // Nor children of its own that hang: it leads a group, whose number is
        // nobody else's until it is reaped.
        if !self.reaped {
            let _ = sys::process::kill_group(self.child.id());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
