//! Small suites of the harnesses, built and run with the real tools; a tool that isn't here is a line that begins with
//! SKIPPED.

mod bad;
mod own;
mod suites;
mod support;
