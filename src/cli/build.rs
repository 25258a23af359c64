//! Build script. Embeds the manual, and the page that `./run build` wrote to `built/`. If that file does not exist, the
//! embedded page is empty.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // Watch the folder, which always exists. Watching a missing file would rebuild the crate every time.
    println!("cargo::rerun-if-changed=built");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let put = |name: &str| fs::write(out.join(name), fs::read(PathBuf::from("built").join(name)).unwrap_or_default());
    put("memscape.html").and_then(|()| put("sql-part.html"))?;
    // The published crate has a copy of the manual, because it contains only files below its own folder.
    let docs = ["../../www/docs", "built/docs"].map(Path::new).into_iter().find(|folder| folder.is_dir());
    let docs = docs.ok_or(io::ErrorKind::NotFound)?;
    println!("cargo::rerun-if-changed={}", docs.display());
    fs::create_dir_all(out.join("docs"))?;
    for entry in fs::read_dir(docs)? {
        let entry = entry?;
        fs::copy(entry.path(), out.join("docs").join(entry.file_name()))?;
    }
    Ok(())
}
