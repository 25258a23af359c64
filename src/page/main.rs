//! The browser binary. Page and worker are in one wasm module, so that the browser compiles it only once. In the
//! optimized page, code that only the worker needs, and only later, is in a second module (`src/pack/split.rs`).

#[cfg(target_arch = "wasm32")]
fn main() {
    match web_sys::window() {
        Some(window) => page::start(window),
        None => page::worker::start(),
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("The page runs in a browser: ./run serve");
}
