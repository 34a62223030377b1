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

impl Dispatch {
    /// This system's libdispatch: what the program is linked with, else the
    /// first library of that name where the dynamic linker or a Swift
    /// toolchain has one. Looked for once.
    ///
    /// # Errors
    /// That there is none, or what is wrong with the one that is there.
    pub fn of_this_system() -> Result<&'static Dispatch, String> {
        static FOUND: OnceLock<Result<&'static Dispatch, String>> = OnceLock::new();
        FOUND
            .get_or_init(|| {
                #[cfg(target_vendor = "apple")]
                return Dispatch::of(libloading::os::unix::Library::this().into(), "linked");
                #[cfg(not(target_vendor = "apple"))]
                Dispatch::first_of(&places())
            })
            .clone()
    }

    /// The first of these libraries that is there. One that is there and can't
    /// be used is passed over, and named if no other can.
    ///
    /// # Errors
    /// `libdispatch not found`, or what is wrong with those that are there.
    pub fn first_of(places: &[PathBuf]) -> Result<&'static Dispatch, String> {
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
        if wrong.is_empty() {
            wrong.push("libdispatch not found".into());
        }
        Err(wrong.join("; "))
    }

    fn of(library: Library, place: &str) -> Result<&'static Dispatch, String> {
        // Its threads run in it, and its queues are its own: never unloaded.
        let library: &'static Library = Box::leak(Box::new(library));
        let missing = |name: &CStr| {
            let name = name.to_string_lossy();
            format!("libdispatch ({place}) has no function {name}")
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
/// Where toolchains and distributions put it, after what the dynamic linker
/// finds by itself (LD_LIBRARY_PATH, ld.so.conf).
pub(crate) fn places() -> Vec<PathBuf> {
    const NAME: &str = "libdispatch.so";
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
    let files = roots.into_iter().map(|root| root.join("linux").join(NAME));
    // Debian had one of its own, with a version.
    let named = [NAME, "libdispatch.so.0"].map(PathBuf::from);
    named.into_iter().chain(files).collect()
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

/// The library at a place; `Err(None)` if there is nothing.
fn open(place: &Path) -> Result<Library, Option<String>> {
    if place.is_absolute() && !place.exists() {
        return Err(None);
    }
    // SAFETY: the library's constructors run, which is what loading it means;
    // only names of libdispatch are asked for.
    unsafe { Library::new(place) }.map_err(|e| {
        let why = e.source().map_or(e.to_string(), ToString::to_string);
        // A library that it needs may be what isn't there.
        let itself = why.starts_with(&*place.to_string_lossy()) && why.contains("No such file");
        (!itself).then(|| format!("libdispatch ({}) can't be loaded: {why}", place.display()))
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
