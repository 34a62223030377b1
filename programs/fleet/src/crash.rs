//! Where tests kill `submit` and `collect`: at named points between two steps that a kill may part.

/// The variable that names the point. It has no effect in a release build.
const AT: &str = "LATLAS_TEST_CRASH_AT";

/// Ends the process at once, as SIGKILL would, if a test wants it here.
pub(crate) fn point(name: &str) {
    if cfg!(debug_assertions) && std::env::var(AT).is_ok_and(|at| at == name) {
        std::process::abort();
    }
}
