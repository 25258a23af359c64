//! The browser binary: page and worker.

fn main() {}
