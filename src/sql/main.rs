//! Binary of the page's SQL worker.

#[cfg(target_arch = "wasm32")]
mod worker;

fn main() {
    #[cfg(target_arch = "wasm32")]
    worker::start();
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("Queries of the page run in a worker of it: ./run serve. On the command line: memscape sql");
}
