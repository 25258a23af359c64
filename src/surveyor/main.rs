//! Binary of the workers with their own engine: those that scan the files of many ranks, and the one that writes
//! exports.

#[cfg(target_arch = "wasm32")]
mod exporting;
#[cfg(target_arch = "wasm32")]
mod worker;

#[cfg(target_arch = "wasm32")]
fn main() {
    worker::start();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("The surveyor runs in a worker of the page: ./run serve");
}
