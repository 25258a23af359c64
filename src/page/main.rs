//! The browser binary: page and worker in one wasm, so that the browser compiles it once.

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
