//! Binary of the page's SQL worker.

#[cfg(target_arch = "wasm32")]
mod worker;

#[cfg(target_arch = "wasm32")]
fn main() {
    worker::start();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("Queries of the page run in a worker of it: ./run serve. On the command line: memscape sql");
}
