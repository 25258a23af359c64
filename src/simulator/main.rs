//! Binary of the allocator simulator's worker.

#[cfg(target_arch = "wasm32")]
mod worker;

fn main() {
    #[cfg(target_arch = "wasm32")]
    worker::start();
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("The simulator runs in a worker of the page: ./run serve");
}
