//! libdispatch (Apple's Grand Central Dispatch), looked for when the program
//! runs: it is a part of Apple's systems, and a library that comes with Swift
//! elsewhere.

mod object;
mod places;
mod queue;
mod semaphore;

pub use queue::{Queue, QueueTask};
pub use semaphore::Semaphore;

use libloading::Library;
use places::open_library;
use std::error::Error;
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A `dispatch_function_t`.
type Function = extern "C" fn(*mut c_void);

/// The functions that are used; the variants that take a plain function, so
/// that no compiler with blocks is needed.
struct Functions {
    queue_create: unsafe extern "C" fn(*const c_char, *const c_void) -> *mut c_void,
    release: unsafe extern "C" fn(*mut c_void),
    sync_f: unsafe extern "C" fn(*mut c_void, *mut c_void, Function),
    async_f: unsafe extern "C" fn(*mut c_void, *mut c_void, Function),
    global_queue: unsafe extern "C" fn(isize, usize) -> *mut c_void,
    semaphore_create: unsafe extern "C" fn(isize) -> *mut c_void,
    semaphore_signal: unsafe extern "C" fn(*mut c_void) -> isize,
    semaphore_wait: unsafe extern "C" fn(*mut c_void, u64) -> isize,
}

/// A loaded libdispatch. It is never unloaded, since its threads outlive every
/// queue.
pub struct Dispatch {
    functions: Functions,
    place: String,
}

impl fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dispatch({})", self.place)
    }
}

/// What is wrong with a library.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum Wrong {
    #[error("libdispatch ({}) can't be loaded: {why}", place.display())]
    NotLoaded { place: PathBuf, why: String },
    #[error("libdispatch ({place}) has no function {name}")]
    NoFunction {
        /// Its path, or `linked`.
        place: String,
        name: String,
    },
}

/// Why there is no libdispatch: what is wrong with those that are there.
#[derive(Clone, Debug, PartialEq)]
pub struct NoDispatch(pub Vec<Wrong>);

impl fmt::Display for NoDispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("libdispatch not found");
        }
        let reasons: Vec<String> = self.0.iter().map(Wrong::to_string).collect();
        f.write_str(&reasons.join("; "))
    }
}

impl Error for NoDispatch {}

impl Dispatch {
    /// This system's libdispatch: what the program is linked with, else the
    /// first library of that name where the dynamic linker or a Swift
    /// toolchain has one. Looked for once.
    ///
    /// # Errors
    /// That there is none, or what is wrong with those that are there.
    pub fn of_this_system() -> Result<&'static Dispatch, NoDispatch> {
        static FOUND: OnceLock<Result<&'static Dispatch, NoDispatch>> = OnceLock::new();
        FOUND
            .get_or_init(|| {
                #[cfg(target_vendor = "apple")]
                return Dispatch::from_library(
                    libloading::os::unix::Library::this().into(),
                    "linked",
                )
                .map_err(|wrong| NoDispatch(vec![wrong]));
                #[cfg(not(target_vendor = "apple"))]
                Dispatch::first_of(&places::library_paths(
                    std::env::var_os("LD_LIBRARY_PATH").as_deref(),
                ))
            })
            .clone()
    }

    /// The first of these libraries that is there. One that is there and can't
    /// be used is passed over, and named if no other can.
    ///
    /// # Errors
    /// What is wrong with those that are there.
    pub fn first_of(places: &[PathBuf]) -> Result<&'static Dispatch, NoDispatch> {
        let mut wrong = Vec::new();
        for place in places {
            match open_library(place) {
                Ok(library) => match Dispatch::from_library(library, &place.to_string_lossy()) {
                    Ok(dispatch) => return Ok(dispatch),
                    Err(reason) => wrong.push(reason),
                },
                Err(reason) => wrong.extend(reason),
            }
        }
        Err(NoDispatch(wrong))
    }

    fn from_library(library: Library, place: &str) -> Result<&'static Dispatch, Wrong> {
        // Its threads run in it, and its queues are its own: never unloaded.
        let library: &'static Library = Box::leak(Box::new(library));
        let missing = |name: &CStr| Wrong::NoFunction {
            place: place.to_owned(),
            name: name.to_string_lossy().into_owned(),
        };
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type is that of libdispatch's documented
                // function of this name, and the library stays.
                *unsafe { library.get($name.to_bytes_with_nul()) }.map_err(|_| missing($name))?
            };
        }
        let functions = Functions {
            queue_create: function!(c"dispatch_queue_create"),
            release: function!(c"dispatch_release"),
            sync_f: function!(c"dispatch_sync_f"),
            async_f: function!(c"dispatch_async_f"),
            global_queue: function!(c"dispatch_get_global_queue"),
            semaphore_create: function!(c"dispatch_semaphore_create"),
            semaphore_signal: function!(c"dispatch_semaphore_signal"),
            semaphore_wait: function!(c"dispatch_semaphore_wait"),
        };
        Ok(Box::leak(Box::new(Dispatch { functions, place: place.to_string() })))
    }

    /// Where it was found: a path, a name that the dynamic linker resolved, or
    /// `linked`.
    pub fn place(&self) -> &str {
        &self.place
    }
}

#[cfg(test)]
mod tests;
