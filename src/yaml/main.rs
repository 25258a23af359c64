//! Binary of the YAML worker.

#[cfg(target_arch = "wasm32")]
mod worker;

fn main() {
    #[cfg(target_arch = "wasm32")]
    worker::start();
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("The reader of YAML runs in a worker of the page: ./run serve");
}
