//! What a reader sees: runs, comparisons and histories as text for terminals,
//! as pictures and as one page. Nothing here measures, concludes or prints.
#![forbid(unsafe_code)]

mod against;
mod axis;
pub mod chart;
mod grouped;
pub mod html;
pub mod markdown;
mod quantity;
pub mod render;
pub mod report;
mod shade;
pub mod terminal;
pub mod timeline;

#[cfg(test)]
mod tests;
