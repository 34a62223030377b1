//! Signposts: a program marks stretches and moments of its own in the trace that
//! `latlas trace -- ./program` records.
//!
//! ```
//! use latlas_signpost::{signpost, span};
//!
//! fn parse(text: &str) -> usize {
//!     let _span = span!("parse"); // ends with the scope
//!     if text.is_empty() {
//!         signpost!("empty input"); // a moment
//!     }
//!     text.len()
//! }
//! # parse("");
//! ```
//!
//! Names are fixed for each place in the code, and have at most 120 bytes. A
//! program that is not traced loads one byte for each signpost. A traced one
//! writes 16 bytes for a moment and 32 for a stretch into memory that it shares
//! with latlas; no system call stands between. What finds no room is dropped
//! and counted.
//!
//! `include/latlas_signpost.h` does the same for C and C++; the feature `tracing`
//! adds [`layer()`] for the spans and events of the `tracing` crate.
//!
//! Not for signal handlers. Systems other than Linux and Android with 64 bits:
//! all of it does nothing.
#![warn(missing_docs)]

#[cfg(all(any(target_os = "linux", target_os = "android"), target_pointer_width = "64"))]
#[path = "thread.rs"]
mod client;
#[cfg(not(all(any(target_os = "linux", target_os = "android"), target_pointer_width = "64")))]
#[path = "absent.rs"]
mod client;
#[cfg(feature = "tracing")]
mod layer;
#[doc(hidden)]
pub mod layout;
#[cfg(all(any(target_os = "linux", target_os = "android"), target_pointer_width = "64"))]
mod system;

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

pub use client::is_traced;
#[cfg(feature = "tracing")]
pub use layer::{Layer, layer};
use layout::RecordKind;

/// A stretch, which ends when this is dropped, on the thread that began it.
///
/// Bind it to a name (`let _span = ...`): `let _ = ...` drops it at once.
#[derive(Debug)]
#[must_use = "the stretch ends when this is dropped"]
pub struct Span {
    /// 0: not recorded.
    name: u32,
    _of_this_thread: PhantomData<*const ()>,
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if self.name != 0 {
            client::end(self.name);
        }
    }
}

/// The name of the signposts of one place in the code.
#[derive(Debug)]
pub struct Site {
    name: &'static str,
    /// Its number in the shared memory plus 1, 0 until it has one, or
    /// [`NO_ROOM`].
    id: AtomicU32,
}

/// The table of names is full.
const NO_ROOM: u32 = u32::MAX;

impl Site {
    /// A place in the code, which should be a `static`.
    pub const fn new(name: &'static str) -> Site {
        Site { name, id: AtomicU32::new(0) }
    }

    /// Begins a stretch.
    #[inline]
    pub fn span(&self) -> Span {
        let name = if client::is_traced() { self.mark(RecordKind::Begin) } else { 0 };
        Span { name, _of_this_thread: PhantomData }
    }

    /// Marks a moment.
    #[inline]
    pub fn moment(&self) {
        if client::is_traced() {
            self.mark(RecordKind::Moment);
        }
    }

    /// Its number, if the record was written, else 0.
    fn mark(&self, kind: RecordKind) -> u32 {
        let mut id = self.id.load(Ordering::Relaxed);
        if id == 0 {
            id = client::intern(self.name).map_or(NO_ROOM, |index| index + 1);
            self.id.store(id, Ordering::Relaxed);
        }
        match id != NO_ROOM {
            true => id * u32::from(client::mark(kind, id)),
            false => {
                client::unnamed();
                0
            }
        }
    }
}

/// Begins a stretch of this name, which ends when the value is dropped:
/// `let _span = span!("parse");`
#[macro_export]
macro_rules! span {
    ($name:literal) => {{
        static SITE: $crate::Site = $crate::Site::new($name);
        SITE.span()
    }};
}

/// Marks a moment: `signpost!("first byte");`
#[macro_export]
macro_rules! signpost {
    ($name:literal) => {{
        static SITE: $crate::Site = $crate::Site::new($name);
        SITE.moment()
    }};
}
