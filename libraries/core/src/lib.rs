//! latlas for programs in other languages, such as an app on a phone: rows are measured in the
//! program's own process, and come back as the Run document and as text.
//!
//! The interface is `include/latlas.h`; [`ffi`] has its functions, and all `unsafe` of this crate.
#![deny(unsafe_code)]

#[allow(unsafe_code)]
pub mod ffi;
mod measure;
mod texts;
