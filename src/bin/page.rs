//! The browser binary: page and worker in one wasm, so that the browser compiles it once.

fn main() {
    match web_sys::window() {
        Some(window) => memscape::page::start(window),
        None => memscape::worker::start(),
    }
}
