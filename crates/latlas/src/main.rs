//! latlas
fn main() {}
