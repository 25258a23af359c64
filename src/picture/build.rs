//! Shaders without their comments and indentation: they are part of the page's wasm.

use std::path::PathBuf;
use std::{env, fs, io};

const SHADERS: [&str; 2] = ["rects.wgsl", "flames.wgsl"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for name in SHADERS {
        println!("cargo::rerun-if-changed=render/{name}");
        let text = fs::read_to_string(PathBuf::from("render").join(name))?;
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
        let kept: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        fs::write(out.join(name), kept.join("\n"))?;
    }
    Ok(())
}
