//! `latlas`: what does each common operation cost on this machine?
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    latlas::latlas()
}
