//! Where tests kill a process: at named points between two steps that a kill
//! may part. In the program itself there is nothing.

/// The variable that names the point.
#[cfg(test)]
pub(crate) const AT: &str = "LATLAS_TEST_CRASH_AT";

/// Ends the process at once, as SIGKILL would, if the test wants it here.
#[cfg(test)]
pub(crate) fn point(name: &str) {
    if std::env::var(AT).is_ok_and(|at| at == name) {
        std::process::abort();
    }
}

#[cfg(not(test))]
#[inline(always)]
pub(crate) fn point(_name: &str) {}
