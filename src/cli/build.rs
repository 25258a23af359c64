//! Build script. Embeds the page that `./run build` wrote to `built/`. If that file does not exist, the embedded page
//! is empty.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // Watch the folder, which always exists. Watching a missing file would rebuild the crate every time.
    println!("cargo::rerun-if-changed=built");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let put = |name: &str| fs::write(out.join(name), fs::read(PathBuf::from("built").join(name)).unwrap_or_default());
    put("memscape.html").and_then(|()| put("sql-part.html"))
}
