//! The functions of `include/latlas.h`, which documents them. Each takes apart what C gives it,
//! calls safe code within [`guarded`], and hands strings over.

use crate::measure::{self, MeasureRequest};
use crate::texts;
use meter::conduct::{Observer, Progress};
use meter::plan::Plan;
use model::run::Run;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// `latlas_run`.
#[derive(Default)]
pub struct LatlasRun {
    stop: AtomicBool,
    began: AtomicBool,
    /// The run, or why there is none.
    outcome: OnceLock<Result<Box<Run>, String>>,
}

/// `latlas_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatlasStatus {
    /// Measured.
    Done = 0,
    /// Stopped by [`latlas_run_cancel`].
    Cancelled = 1,
    /// Nothing was measured.
    Refused = 2,
    /// The library panicked.
    Failed = 3,
}

/// `latlas_progress`.
pub type LatlasProgress = Option<unsafe extern "C" fn(*mut c_void, u64, u64, f64, f64)>;

/// `latlas_request`.
#[repr(C)]
pub struct LatlasRequest {
    rows: *const *const c_char,
    row_count: usize,
    budget_s: f64,
    directory: *const c_char,
    progress: LatlasProgress,
    context: *mut c_void,
}

/// No panic may pass into C.
fn guarded<T>(panicked: T, body: impl FnOnce() -> T) -> T {
    panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or(panicked)
}

/// A string for the caller; null for none, and where it can't be one of C.
fn handed_over(text: Option<String>) -> *mut c_char {
    let text = text.and_then(|text| CString::new(text).ok());
    text.map_or(ptr::null_mut(), CString::into_raw)
}

/// # Safety
/// Null, or a string that ends with a zero byte and stays for the call.
unsafe fn text_of(text: *const c_char) -> Result<Option<String>, &'static str> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    text.map(|text| Some(text.to_owned())).map_err(|_| "a string of the request is not UTF-8")
}

/// # Safety
/// As `latlas.h` says of the request.
unsafe fn request_of(request: &LatlasRequest) -> Result<MeasureRequest, &'static str> {
    let mut rows = Vec::new();
    if !request.rows.is_null() {
        for n in 0..request.row_count {
            // SAFETY: `rows` has `row_count` strings.
            let row = unsafe { text_of(*request.rows.add(n)) }?;
            rows.push(row.ok_or("a row of the request is NULL")?);
        }
        if rows.is_empty() {
            return Err("the request has no rows; leave out `rows` for the whole atlas");
        }
    }
    let budget = match request.budget_s {
        0.0 => None,
        s => Some(Duration::try_from_secs_f64(s).map_err(|_| "budget_s is not a valid time")?),
    };
    Ok(MeasureRequest {
        rows,
        budget,
        // SAFETY: null or a string.
        directory: unsafe { text_of(request.directory) }?.map(PathBuf::from),
    })
}

struct ProgressCallback {
    progress: LatlasProgress,
    context: *mut c_void,
}

impl ProgressCallback {
    fn call(&self, done: u64, planned: u64, elapsed: Duration, remaining: Duration) {
        if let Some(progress) = self.progress {
            let (elapsed_s, remaining_s) = (elapsed.as_secs_f64(), remaining.as_secs_f64());
            // SAFETY: the caller's function with the caller's context, on the thread that called
            // `latlas_run_measure`.
            unsafe { progress(self.context, done, planned, elapsed_s, remaining_s) }
        }
    }
}

impl Observer for ProgressCallback {
    fn started(&mut self, plan: &Plan) {
        self.call(0, 0, Duration::ZERO, plan.total());
    }
    fn progress(&mut self, now: &Progress) {
        self.call(now.visits_done, now.visits_planned, now.elapsed, now.remaining);
    }
}

/// See `latlas.h`.
#[unsafe(no_mangle)]
pub extern "C" fn latlas_rows() -> *mut c_char {
    guarded(ptr::null_mut(), || handed_over(Some(texts::rows())))
}

/// See `latlas.h`.
#[unsafe(no_mangle)]
pub extern "C" fn latlas_run_new() -> *mut LatlasRun {
    Box::into_raw(Box::default())
}

/// See `latlas.h`.
///
/// # Safety
/// `run` is of [`latlas_run_new`] and not freed; `request` and what it points at stay for the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latlas_run_measure(
    run: *const LatlasRun,
    request: *const LatlasRequest,
) -> LatlasStatus {
    // SAFETY: each is null or points at one; a run is only shared.
    let (Some(run), Some(request)) = (unsafe { (run.as_ref(), request.as_ref()) }) else {
        return LatlasStatus::Refused;
    };
    if run.began.swap(true, Ordering::Relaxed) {
        return LatlasStatus::Refused;
    }
    let measured = guarded(Err("the library panicked: this is a bug of latlas".into()), || {
        // SAFETY: the caller's promise.
        let asked = unsafe { request_of(request) }?;
        let mut observer =
            ProgressCallback { progress: request.progress, context: request.context };
        let measured = measure::measure(asked, &mut observer, &run.stop);
        measured.map(Ok).map_err(|why| why.to_string())
    });
    let (status, outcome) = match measured {
        Err(why) => (LatlasStatus::Refused, Err(why)),
        Ok(Err(why)) => (LatlasStatus::Failed, Err(why)),
        Ok(Ok(measured)) => match measured.partial {
            Some(_) => (LatlasStatus::Cancelled, Ok(Box::new(measured))),
            None => (LatlasStatus::Done, Ok(Box::new(measured))),
        },
    };
    // Once: `began` lets no second call come here.
    let _ = run.outcome.set(outcome);
    status
}

/// See `latlas.h`.
///
/// # Safety
/// `run` is null, or of [`latlas_run_new`] and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latlas_run_cancel(run: *const LatlasRun) {
    // SAFETY: the caller's promise.
    if let Some(run) = unsafe { run.as_ref() } {
        run.stop.store(true, Ordering::Relaxed);
    }
}

/// See `latlas.h`.
///
/// # Safety
/// `run` is null, or of [`latlas_run_new`] and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latlas_run_document(run: *const LatlasRun) -> *mut c_char {
    // SAFETY: the caller's promise.
    let Some(Ok(run)) = (unsafe { run.as_ref() }).and_then(|run| run.outcome.get()) else {
        return ptr::null_mut();
    };
    guarded(ptr::null_mut(), || handed_over(serde_json::to_string(run).ok()))
}

/// See `latlas.h`.
///
/// # Safety
/// `run` is null, or of [`latlas_run_new`] and not freed; `table` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latlas_run_table(
    run: *const LatlasRun,
    table: *const c_char,
    columns: usize,
) -> *mut c_char {
    // SAFETY: the caller's promise.
    let Some(Ok(run)) = (unsafe { run.as_ref() }).and_then(|run| run.outcome.get()) else {
        return ptr::null_mut();
    };
    // SAFETY: the caller's promise.
    let Ok(key) = (unsafe { text_of(table) }) else {
        return ptr::null_mut();
    };
    guarded(ptr::null_mut(), || {
        handed_over(texts::table(run, key.as_deref(), columns.clamp(40, 1000)))
    })
}

/// See `latlas.h`.
///
/// # Safety
/// `run` is null, or of [`latlas_run_new`] and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latlas_run_error(run: *const LatlasRun) -> *mut c_char {
    // SAFETY: the caller's promise.
    match (unsafe { run.as_ref() }).and_then(|run| run.outcome.get()) {
        Some(Err(why)) => handed_over(Some(why.clone())),
        _ => ptr::null_mut(),
    }
}

/// See `latlas.h`.
///
/// # Safety
/// `run` is null, or of [`latlas_run_new`], not freed and not in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latlas_run_free(run: *mut LatlasRun) {
    if !run.is_null() {
        // SAFETY: made by `Box::into_raw`, and freed once by the caller's promise.
        guarded((), || drop(unsafe { Box::from_raw(run) }));
    }
}

/// See `latlas.h`.
///
/// # Safety
/// `string` is null, or of a function here and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn latlas_string_free(string: *mut c_char) {
    if !string.is_null() {
        // SAFETY: made by `CString::into_raw`, and freed once by the caller's promise.
        drop(unsafe { CString::from_raw(string) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_value() {
        let got = guarded(LatlasStatus::Failed, || panic!("as this test wants it"));
        assert_eq!(got, LatlasStatus::Failed);
        assert_eq!(guarded(1, || 2), 2);
    }
}
