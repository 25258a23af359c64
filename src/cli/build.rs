//! Build script. Embeds the manual, the Python package, and the page that `./run build` wrote to `built/`. If that file
//! does not exist, the embedded page is empty.

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
    copy(["../../www/docs", "built/docs"], &out.join("docs"))?;
    let modules = copy(["../python/memscape", "built/python"], &out.join("python"))?;
    fs::write(out.join("python_modules.rs"), module_list(&modules))
}

/// Copies the files of the first folder that exists, without its subfolders, and returns their names.
fn copy(sources: [&str; 2], target: &Path) -> io::Result<Vec<String>> {
    let source = sources.map(Path::new).into_iter().find(|folder| folder.is_dir()).ok_or(io::ErrorKind::NotFound)?;
    println!("cargo::rerun-if-changed={}", source.display());
    fs::create_dir_all(target)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), target.join(entry.file_name()))?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Returns an array of module names and sources as Rust.
fn module_list(files: &[String]) -> String {
    let row = |file: &String| {
        let module = file.strip_suffix(".py")?;
        let name = if module == "__init__" { "memscape".to_owned() } else { format!("memscape.{module}") };
        Some(format!("({name:?}, include_str!(concat!(env!(\"OUT_DIR\"), \"/python/{file}\"))),\n"))
    };
    format!("&[\n{}]", files.iter().filter_map(row).collect::<String>())
}
