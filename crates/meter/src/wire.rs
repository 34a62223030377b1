//! The pipe between the parent and a worker: frames of a length and a JSON
//! message, so that what a worker sent before it was killed can be kept, and
//! half a frame is known for what it is.

use crate::controls::RequestedControls;
use crate::pack::PackSite;
use crate::placement::NotPinned;
use model::gate::Gate;
use model::limits::{Counter, Limits};
use model::noise::applied::Settings;
use model::run::Regime;
use model::sample::Sample;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};

/// A longer frame than this is not ours.
const LONGEST_FRAME: u32 = 64 << 20;

/// First message to a worker.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Setup {
    /// Its number.
    pub worker: u32,
    /// CPUs to pin itself to; empty for none.
    pub pin: Vec<u32>,
    /// What else to set for itself.
    pub asked: RequestedControls,
    /// Length of a tick of the common clock, as the parent calibrated it.
    pub ns_per_tick: f64,
    /// The run's beginning on CLOCK_MONOTONIC_RAW.
    pub began_ns: u64,
    /// Largest buffer on huge pages.
    pub huge_bytes: u64,
    /// Largest buffer on base pages.
    pub base_bytes: u64,
    /// Working set of the last-level canary.
    pub last_level_canary_bytes: u64,
    /// Seed of everything random in the worker.
    pub seed: u64,
    /// The machine as the plan sees it.
    pub machine_shape: crate::probe::MachineShape,
}

/// What the parent asks for.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Request {
    /// Number of the cell in the plan, returned with the answer.
    pub cell: u32,
    /// Number of the probe in the catalogue.
    pub probe: u32,
    /// Where the probe is, if it is a pack's: the worker's catalogue has none of those.
    pub pack: Option<PackSite>,
    /// Variant.
    pub variant: String,
    /// Point.
    pub at: Vec<u64>,
    /// How it is measured.
    pub regime: Regime,
    /// Samples wanted.
    pub samples: u32,
    /// Whether the samples carry the last-level canary.
    pub last_level_canary: bool,
    /// Wait for a quiet machine by these thresholds first.
    pub wait_for_quiet: Option<Gate>,
}

/// What a worker answers.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub enum Reply {
    /// It stands ready.
    Ready {
        /// CPUs it is pinned to; or why it is not pinned.
        pinned: Result<Vec<u32>, NotPinned>,
        /// What it really has of all controls.
        granted: Settings,
        /// The first of the other controls that was refused, and why.
        refused: Option<String>,
    },
    /// A visit.
    Visited {
        /// Number of the cell.
        cell: u32,
        /// Operations in a turn.
        ops_per_turn: f64,
        /// The samples: of the cell's own variant, and of those that are
        /// measured together with it.
        parts: Vec<Part>,
        /// Names of the modes that the operations ran in.
        modes: Vec<String>,
        /// Whether its U and 2U loops hold the same body.
        loops_alike: bool,
        /// The work's remarks.
        notes: Vec<String>,
        /// What the kernel counted, if that contradicts the method.
        contradiction: Option<String>,
        /// How long the whole visit took.
        wall_ns: u64,
    },
    /// The cell can't be measured.
    Unavailable {
        /// Number of the cell.
        cell: u32,
        /// Why.
        reason: String,
    },
}

/// Samples of one variant.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Part {
    /// The variant.
    pub variant: String,
    /// Its samples.
    pub samples: Vec<Sample>,
}

/// Sends one message.
pub fn send<T: Serialize>(to: &mut impl Write, message: &T) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len())
        .ok()
        .filter(|&n| n <= LONGEST_FRAME)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "message too long"))?;
    let mut frame = Vec::with_capacity(body.len() + 4);
    frame.extend(length.to_le_bytes());
    frame.extend(body);
    to.write_all(&frame)?;
    to.flush()
}

/// Receives one message. `Ok(None)` at the end of the stream between frames;
/// an error where it ends inside one, or holds something else.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    receive_frame(from)?.map(|body| open(&body)).transpose()
}

/// The message in a frame's body.
pub fn open<T: DeserializeOwned>(body: &[u8]) -> io::Result<T> {
    serde_json::from_slice(body).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

/// The message in a frame's body that keeps to limits, which are checked before anything is made
/// of it.
///
/// # Errors
/// What there is too much of; `InvalidData` where it is no such message.
pub fn open_within<T: DeserializeOwned>(body: &[u8], limits: &Limits) -> io::Result<T> {
    let counted = Counter::new(limits).feed(body);
    counted.map_err(|excess| io::Error::new(io::ErrorKind::FileTooLarge, excess))?;
    open(body)
}

/// Receives the body of one frame, unopened: a listener whose CPU matters to
/// what is being measured opens it later.
pub fn receive_frame(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    receive_frame_while(from, &mut || false)
}

/// The same from a stream that has a read timeout: whenever that ends, `waits`
/// says whether to go on.
pub fn receive_frame_while(
    from: &mut impl Read,
    waits: &mut impl FnMut() -> bool,
) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0_u8; 4];
    match fill(from, &mut length, waits)? {
        0 => return Ok(None),
        4 => {}
        _ => return Err(io::ErrorKind::UnexpectedEof.into()),
    }
    let length = u32::from_le_bytes(length);
    if length > LONGEST_FRAME {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a frame of {length} bytes is not one of ours"),
        ));
    }
    let mut body = vec![0_u8; length as usize];
    match fill(from, &mut body, waits)? {
        got if got == body.len() => Ok(Some(body)),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Fills a buffer as far as the stream goes. Gives how far that was.
fn fill(
    from: &mut impl Read,
    buffer: &mut [u8],
    waits: &mut impl FnMut() -> bool,
) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match from.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) => match e.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut if waits() => {}
                _ => return Err(e),
            },
        }
    }
    Ok(got)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_frames_survive_a_cut_stream() {
        let mut stream = Vec::new();
        for cell in 0..3 {
            let reply = Reply::Unavailable { cell, reason: "no such thing".into() };
            send(&mut stream, &reply).expect("a vector takes all");
        }
        let whole = stream.len();
        stream.truncate(whole - 5);
        let mut from = &stream[..];
        for wanted in 0..2 {
            let reply: Option<Reply> = receive(&mut from).expect("a whole frame");
            assert!(matches!(reply, Some(Reply::Unavailable { cell, .. }) if cell == wanted));
        }
        let cut = receive::<Reply>(&mut from).expect_err("the third is cut");
        assert_eq!(cut.kind(), io::ErrorKind::UnexpectedEof);
        assert!(receive::<Reply>(&mut &b""[..]).expect("a clean end").is_none());
    }

    #[test]
    fn a_long_list_is_refused_before_it_is_read() {
        use crate::pack::{Listed, Listing};
        let listing = |probes: usize, title: usize| {
            let listed = Listed { title: "t".repeat(title), ..Listed::default() };
            let listing = Listing {
                name: "a".into(),
                built_with: String::new(),
                probes: vec![listed; probes],
            };
            serde_json::to_vec(&Ok::<_, String>(listing)).expect("JSON")
        };
        let open = |body: &[u8]| {
            open_within::<Result<Listing, String>>(body, &model::limits::PACK)
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        assert_eq!(open(&listing(4096, 100)), Ok(()));
        let long = listing(60_000, 10);
        assert!(long.len() > 10 << 20, "{}", long.len());
        let why = "its list \"probes\" has more than 4096 entries";
        assert_eq!(open(&long), Err(why.into()));
        let why = "a text in \"title\" has more than 65536 bytes";
        assert_eq!(open(&listing(1, 70_000)), Err(why.into()));
    }

    #[test]
    fn foreign_bytes_are_refused() {
        assert!(receive::<Reply>(&mut &b"GET / HTTP/1.1\r\n"[..]).is_err());
        assert!(receive::<Reply>(&mut &b"\x02\0\0\0{]"[..]).is_err());
    }

    /// Gives one byte, then a timeout, and so on.
    struct Halting<'a>(&'a [u8], bool);

    impl Read for Halting<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            match self.1 {
                true => Err(io::ErrorKind::WouldBlock.into()),
                false => self.0.read(&mut buffer[..1]),
            }
        }
    }

    #[test]
    fn a_timeout_inside_a_frame_loses_nothing_of_it() {
        let mut stream = Vec::new();
        send(&mut stream, &"a frame").expect("a vector takes all");
        let mut asked = 0;
        let mut waits = || {
            asked += 1;
            true
        };
        let frame = receive_frame_while(&mut Halting(&stream, false), &mut waits);
        let frame = frame.expect("waits").expect("a frame");
        assert_eq!(open::<String>(&frame).expect("text"), "a frame");
        assert_eq!(asked, stream.len(), "before each byte");
        let given_up = receive_frame_while(&mut Halting(&stream, false), &mut || false);
        let kind = given_up.expect_err("does not wait").kind();
        assert_eq!(kind, io::ErrorKind::WouldBlock);
    }
}
