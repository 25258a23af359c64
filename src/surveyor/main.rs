//! Binary of the workers with their own engine: those that scan the files of many ranks, and the one that writes
//! exports.

#[cfg(target_arch = "wasm32")]
mod exporting;
#[cfg(target_arch = "wasm32")]
mod worker;

fn main() {
    #[cfg(target_arch = "wasm32")]
    worker::start();
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("The surveyor runs in a worker of the page: ./run serve");
}
