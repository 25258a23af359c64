//! The browser binary. Page and worker are in one wasm module, so that the browser compiles it only once.

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
