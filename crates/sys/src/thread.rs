//! Threads. Every thread of latlas starts here, since `std::thread::spawn` and
//! `Scope::spawn` panic where a limit is reached (`ulimit -u`, the control
//! group's `pids.max`, memory): clippy refuses them elsewhere (`clippy.toml`).
//!
//! [`create_and_join`] is as near to the system's own calls as threads can be
//! timed: the standard library's carry an allocation, a name and a place for a
//! result.

use std::ffi::c_void;
use std::io;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// Starts a thread.
///
/// # Errors
/// What `pthread_create(3)` says: `WouldBlock` (EAGAIN) where a limit on threads
/// or memory is reached.
pub fn spawn<T: Send + 'static>(
    builder: Builder,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    room()?;
    #[expect(clippy::disallowed_methods, reason = "the one place")]
    builder.spawn(work)
}

/// Starts a thread of a scope, which waits for it: the caller must see to it that
/// it ends, also after an error of another thread's start.
///
/// # Errors
/// As [`spawn`].
pub fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    builder: Builder,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    room()?;
    #[expect(clippy::disallowed_methods, reason = "the one place")]
    builder.spawn_scoped(scope, work)
}

/// Whether so many threads can run besides those that do: asked before a library
/// starts its own, if it panics where it can't.
///
/// # Errors
/// As [`spawn`].
pub fn can_start(count: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    std::thread::scope(|scope| {
        // Open when this returns, also with an error.
        let _closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..count {
            spawn_scoped(scope, Builder::new(), || {
                drop(gate.lock().unwrap_or_else(PoisonError::into_inner));
            })?;
        }
        Ok(())
    })
}

/// Works on a stack of so many bytes: that of the calling thread, which is the
/// first of the process, or that of a new one where the limit (`ulimit -s`) is
/// lower.
///
/// # Errors
/// As [`spawn`].
pub fn with_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let limit = crate::limits::limit(crate::limits::Resource::Stack);
    let soft = limit.ok().and_then(|limit| limit.soft);
    if soft.is_none_or(|soft| soft >= bytes as u64) {
        return Ok(work());
    }
    std::thread::scope(|scope| {
        let working = spawn_scoped(scope, Builder::new().stack_size(bytes), work)?;
        working.join().or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Address space that a started thread needs besides its stack.
const ROOM_BYTES: u64 = 4 << 20;

/// Where the address space is limited (`ulimit -v`) and all but used up. The
/// standard library maps a second stack in the new thread, for the message on an
/// overflow of the first, and the process aborts if it can't.
fn room() -> io::Result<()> {
    static LIMITED: OnceLock<bool> = OnceLock::new();
    let is_limited = || {
        let limit = crate::limits::limit(crate::limits::Resource::AddressSpace);
        limit.is_ok_and(|limit| limit.soft.is_some())
    };
    if !*LIMITED.get_or_init(is_limited) {
        return Ok(());
    }
    match crate::limits::address_space_left() {
        Some(left) if left < ROOM_BYTES => Err(io::Error::from_raw_os_error(libc::EAGAIN)),
        _ => Ok(()),
    }
}

/// Creates a thread with the system's defaults that runs `body` on `task`,
/// calls `created` in the calling thread as soon as the call is back, and then
/// waits for the thread's end: `pthread_create` and `pthread_join`.
///
/// The new thread inherits the calling thread's CPUs. `body` must not panic:
/// the process would end.
///
/// # Errors
/// What `pthread_create(3)` says, for example `WouldBlock` (EAGAIN) where a
/// limit on threads is reached; `created` is not called then.
#[inline]
pub fn create_and_join<T: Sync>(task: &T, body: fn(&T), created: impl FnOnce()) -> io::Result<()> {
    let start = Start { task, body };
    let mut id = std::mem::MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: `id` may be written; no attributes means the defaults; `enter`
    // gets a `Start` of its own `T`, which lives until the join below, and is
    // shared with one thread, as `T: Sync` allows.
    let status = unsafe {
        libc::pthread_create(
            id.as_mut_ptr(),
            ptr::null(),
            enter::<T>,
            (&raw const start).cast_mut().cast(),
        )
    };
    if status != 0 {
        return Err(io::Error::from_raw_os_error(status));
    }
    // SAFETY: the call succeeded, so it has written the id.
    let join = Join(unsafe { id.assume_init() });
    created();
    drop(join);
    Ok(())
}

/// What the new thread gets.
struct Start<'t, T> {
    task: &'t T,
    body: fn(&T),
}

extern "C" fn enter<T: Sync>(start: *mut c_void) -> *mut c_void {
    // SAFETY: `create_and_join` gave a pointer to a `Start` of this `T`, and
    // does not return or unwind before this thread has ended.
    let start = unsafe { &*start.cast::<Start<'_, T>>() };
    (start.body)(start.task);
    ptr::null_mut()
}

/// A thread that uses what its creator owns: joined, whatever happens.
struct Join(libc::pthread_t);

impl Drop for Join {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the id of a thread that was created joinable and is joined
        // here only.
        let status = unsafe { libc::pthread_join(self.0, ptr::null_mut()) };
        if status != 0 {
            // The thread may still use what would be freed now.
            std::process::abort();
        }
    }
}

/// Kernel thread id (`gettid(2)`) of the calling thread; `None` on Apple
/// systems.
pub fn current_id() -> Option<u32> {
    #[cfg(target_vendor = "apple")]
    return None;
    #[cfg(not(target_vendor = "apple"))]
    u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).ok()
}

/// Whether a thread of this process still exists in the kernel (`tgkill(2)`
/// with signal 0): false for a joined thread, true for one that is exiting.
/// Takes a fraction of a microsecond.
///
/// # Errors
/// `Unsupported` on Apple systems; what `tgkill(2)` says other than ESRCH.
#[inline]
#[cfg_attr(target_vendor = "apple", allow(unused_variables))]
pub fn exists(id: u32) -> io::Result<bool> {
    #[cfg(target_vendor = "apple")]
    return Err(crate::platform::unsupported("tgkill"));
    #[cfg(not(target_vendor = "apple"))]
    {
        // SAFETY: signal 0 is never delivered, the call only looks the thread
        // up; it takes three numbers.
        let status = unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), id, 0) };
        if status == 0 {
            return Ok(true);
        }
        match io::Error::last_os_error() {
            e if e.raw_os_error() == Some(libc::ESRCH) => Ok(false),
            e => Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn as_many_threads_as_asked_for_run_at_the_same_time() {
        can_start(3).expect("threads");
        assert_eq!(with_stack(1 << 30, || 7).expect("a thread"), 7);
    }

    #[test]
    fn the_body_runs_once_and_is_over_at_the_return() {
        let task = AtomicU32::new(0);
        let created = Cell::new(0);
        create_and_join(
            &task,
            |task| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                task.fetch_add(1, Ordering::Relaxed);
            },
            || created.set(created.get() + 1),
        )
        .expect("a thread");
        assert_eq!((task.load(Ordering::Relaxed), created.get()), (1, 1));
    }

    #[test]
    fn a_panic_of_the_creator_waits_for_the_thread() {
        let task = AtomicU32::new(0);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            create_and_join(
                &task,
                |task| {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    task.store(7, Ordering::Relaxed);
                },
                || panic!("on purpose"),
            )
        }));
        assert!(outcome.is_err());
        assert_eq!(task.load(Ordering::Relaxed), 7);
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn a_joined_thread_no_longer_exists() {
        let me = current_id().expect("Linux numbers its threads");
        assert!(exists(me).expect("asked"));
        let task = AtomicU32::new(0);
        create_and_join(
            &task,
            |task| {
                let id = current_id().unwrap_or_default();
                task.store(id, Ordering::Relaxed);
            },
            || (),
        )
        .expect("a thread");
        let id = task.load(Ordering::Relaxed);
        assert!(id != 0 && id != me);
        // The join is over when the thread's number is cleared, which is a
        // little before the thread is gone.
        let begin = std::time::Instant::now();
        while exists(id).expect("asked") {
            assert!(begin.elapsed().as_secs() < 180, "{id} stays");
            std::thread::yield_now();
        }
    }
}
