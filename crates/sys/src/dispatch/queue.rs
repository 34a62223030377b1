//! Queues of libdispatch.

use super::Dispatch;
use super::object::Object;
use std::ffi::c_void;
use std::fmt;
use std::io;

impl Dispatch {
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
        Object::from_raw(&self.functions, own, true).map(Queue)
    }

    /// The queue that all share for tasks of a class of quality of service, by the number of the
    /// class.
    ///
    /// # Errors
    /// `OutOfMemory` where libdispatch knows no such class.
    pub fn global_queue(&'static self, class: u32) -> io::Result<Queue> {
        // SAFETY: any number is allowed, and no flags are.
        let own = unsafe { (self.functions.global_queue)(class as isize, 0) };
        Object::from_raw(&self.functions, own, false).map(Queue)
    }
}

/// What a queue runs.
pub trait QueueTask: Sync {
    /// Runs once for each time it was posted. A panic ends the process.
    fn run(&self);
}

extern "C" fn run_task<T: QueueTask>(task: *mut c_void) {
    // SAFETY: `sync` and `post` pass a reference to a `T` that lives at least
    // until this has run.
    unsafe { &*task.cast::<T>() }.run();
}

extern "C" fn nothing(_: *mut c_void) {}

/// A queue; one of its own is released when dropped.
pub struct Queue(Object);

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
        unsafe { (self.0.functions.sync_f)(self.0.as_ptr(), std::ptr::null_mut(), nothing) }
    }

    /// `dispatch_sync_f()` of a task: it has run when this returns.
    #[inline]
    pub fn sync<T: QueueTask>(&self, task: &T) {
        let context = std::ptr::from_ref(task).cast_mut().cast();
        // SAFETY: as above; the task is borrowed until it has run.
        unsafe { (self.0.functions.sync_f)(self.0.as_ptr(), context, run_task::<T>) }
    }

    /// `dispatch_async_f()` of a task: it runs on a thread of libdispatch's,
    /// at any later time.
    #[inline]
    pub fn post<T: QueueTask>(&self, task: &'static T) {
        let context = std::ptr::from_ref(task).cast_mut().cast();
        // SAFETY: a queue of this library, which keeps it until the task has
        // run, even if it is released before; the task is never freed.
        unsafe { (self.0.functions.async_f)(self.0.as_ptr(), context, run_task::<T>) }
    }
}
