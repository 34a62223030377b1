//! libdispatch (Apple's Grand Central Dispatch), looked for when the program
//! runs: it is a part of Apple's systems, and a library that comes with Swift
//! elsewhere.

use libloading::Library;
use std::error::Error;
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
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
pub enum Wrong {
    /// It is there, and the dynamic linker refuses it.
    #[error("libdispatch ({}) can't be loaded: {why}", place.display())]
    NotLoaded {
        /// Its path.
        place: PathBuf,
        /// What the dynamic linker said.
        why: String,
    },
    /// It is another library, or an incomplete one.
    #[error("libdispatch ({place}) has no function {name}")]
    NoFunction {
        /// Its path, or `linked`.
        place: String,
        /// The function.
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
                return Dispatch::of(libloading::os::unix::Library::this().into(), "linked")
                    .map_err(|wrong| NoDispatch(vec![wrong]));
                #[cfg(not(target_vendor = "apple"))]
                Dispatch::first_of(&places(std::env::var_os("LD_LIBRARY_PATH").as_deref()))
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
            match open(place) {
                Ok(library) => match Dispatch::of(library, &place.to_string_lossy()) {
                    Ok(dispatch) => return Ok(dispatch),
                    Err(reason) => wrong.push(reason),
                },
                Err(reason) => wrong.extend(reason),
            }
        }
        Err(NoDispatch(wrong))
    }

    fn of(library: Library, place: &str) -> Result<&'static Dispatch, Wrong> {
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
        };
        Ok(Box::leak(Box::new(Dispatch {
            functions,
            place: place.to_string(),
        })))
    }

    /// Where it was found: a path, a name that the dynamic linker resolved, or
    /// `linked`.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// A new serial queue, which runs one task at a time.
    ///
    /// # Errors
    /// `OutOfMemory` where libdispatch gives none.
    #[inline]
    pub fn queue(&'static self) -> io::Result<Queue> {
        // SAFETY: a label and no attributes, which means serial.
        let own = unsafe {
            (self.functions.queue_create)(c"latlas".as_ptr(), std::ptr::null::<c_void>())
        };
        let own = NonNull::new(own).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Queue {
            functions: &self.functions,
            own,
        })
    }
}

#[cfg(not(target_vendor = "apple"))]
/// Where toolchains and distributions put it: what the dynamic linker finds by
/// its name, then the directories that it searches (one that is there and can't
/// be loaded says why only by its path), then those of Swift.
pub(crate) fn places(library_path: Option<&std::ffi::OsStr>) -> Vec<PathBuf> {
    // Debian had one of its own, with a version.
    const NAMES: [&str; 2] = ["libdispatch.so", "libdispatch.so.0"];
    const SEARCHED: [&str; 6] = [
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
    ];
    let given = library_path.map(std::env::split_paths);
    let given = given
        .into_iter()
        .flatten()
        .filter(|path| path.is_absolute());
    let searched = given.chain(SEARCHED.map(PathBuf::from));
    let named = NAMES.map(PathBuf::from).into_iter();
    let named = named.chain(searched.flat_map(|folder| NAMES.map(|name| folder.join(name))));
    let mut roots: Vec<PathBuf> = [
        "/usr/lib/swift",
        "/usr/libexec/swift/lib/swift",
        "/opt/swift/usr/lib/swift",
        "/usr/local/lib/swift",
    ]
    .map(PathBuf::from)
    .into();
    // Distributions keep several versions apart.
    for several in ["/usr/libexec/swift", "/usr/lib"] {
        roots.extend(swift_below(Path::new(several)));
    }
    let files = roots
        .into_iter()
        .map(|root| root.join("linux").join(NAMES[0]));
    named.chain(files).collect()
}

#[cfg(not(target_vendor = "apple"))]
/// Folders of versions and their libraries, such as `6.0/lib/swift`, in order.
fn swift_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("swift") || name.starts_with(|c: char| c.is_ascii_digit())
        })
        .map(|entry| entry.path().join("lib/swift"))
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

/// The library at a place; `Err(None)` if there is nothing. A name that the
/// dynamic linker can't load counts as nothing: [`places`] has the paths too.
fn open(place: &Path) -> Result<Library, Option<Wrong>> {
    if place.is_absolute() && !place.exists() {
        return Err(None);
    }
    // SAFETY: the library's constructors run, which is what loading it means;
    // only names of libdispatch are asked for.
    unsafe { Library::new(place) }.map_err(|e| {
        place.is_absolute().then(|| Wrong::NotLoaded {
            place: place.to_owned(),
            why: e.source().map_or(e.to_string(), ToString::to_string),
        })
    })
}

/// What a queue runs.
pub trait Task: Sync {
    /// Runs once for each time it was posted. A panic ends the process.
    fn run(&self);
}

extern "C" fn run_task<T: Task>(task: *mut c_void) {
    // SAFETY: `sync` and `post` pass a reference to a `T` that lives at least
    // until this has run.
    unsafe { &*task.cast::<T>() }.run();
}

extern "C" fn nothing(_: *mut c_void) {}

/// A serial queue; released when dropped.
pub struct Queue {
    functions: &'static Functions,
    own: NonNull<c_void>,
}

// SAFETY: queues are made to be used by several threads at once.
unsafe impl Sync for Queue {}
// SAFETY: a queue belongs to no thread.
unsafe impl Send for Queue {}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Queue")
    }
}

impl Queue {
    /// `dispatch_sync_f()` of a function that does nothing.
    #[inline]
    pub fn sync_nothing(&self) {
        // SAFETY: a queue of this library that is not yet released; the
        // function looks at no context.
        unsafe { (self.functions.sync_f)(self.own.as_ptr(), std::ptr::null_mut(), nothing) }
    }

    /// `dispatch_sync_f()` of a task: it has run when this returns.
    #[inline]
    pub fn sync<T: Task>(&self, task: &T) {
        let context = std::ptr::from_ref(task).cast_mut().cast();
        // SAFETY: as above; the task is borrowed until it has run.
        unsafe { (self.functions.sync_f)(self.own.as_ptr(), context, run_task::<T>) }
    }

    /// `dispatch_async_f()` of a task: it runs on a thread of libdispatch's,
    /// at any later time.
    #[inline]
    pub fn post<T: Task>(&self, task: &'static T) {
        let context = std::ptr::from_ref(task).cast_mut().cast();
        // SAFETY: a queue of this library, which keeps it until the task has
        // run, even if it is released before; the task is never freed.
        unsafe { (self.functions.async_f)(self.own.as_ptr(), context, run_task::<T>) }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: created by `queue_create`, and no other code has it.
        unsafe { (self.functions.release)(self.own.as_ptr()) }
    }
}

#[cfg(test)]
mod tests;
