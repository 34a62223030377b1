//! Commands under control: whole programs repeated, interleaved where
//! there are several, with the same honesty as the rows of the catalogue.
//!
//! [`repeat::repeat`] decides what runs next and when it is enough, on any
//! [`repeat::Runner`]; [`runner::CommandRunner`] is the real one; and
//! [`document::make_document`] makes the Run document of what came back.

pub mod arm;
pub mod document;
pub mod error;
pub mod input;
pub mod left;
pub mod placement;
pub mod repeat;
pub mod rows;
pub mod runner;
