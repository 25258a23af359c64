//! Requests for parts of the page, including parts that are still being built.

use super::{Parts, is_part};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("memscape-parts-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn write(folder: &Path, name: &str) {
    fs::write(folder.join(name), name).unwrap();
}

#[test]
fn request_without_hash_is_answered_with_hashed_part() {
    let folder = folder("hash");
    for name in ["sql-123.js", "sql-123_bg.wasm", "sql-part.js", "page-9.js"] {
        write(&folder, name);
    }
    let parts = Parts::new(folder.clone(), None);
    assert_eq!(parts.resolve("sql.js"), "sql-123.js");
    assert_eq!(parts.resolve("sql_bg.wasm"), "sql-123_bg.wasm");
    assert_eq!(parts.resolve("sql-123.js"), "sql-123.js");
    assert_eq!(parts.resolve("yaml.js"), "yaml.js", "the server answers 404");
    assert_eq!(parts.resolve("../sql.js"), "../sql.js");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn request_waits_for_a_part_that_is_being_built() {
    let folder = folder("waits");
    let marker = folder.join("building");
    write(&folder, "building");
    let parts = Parts::new(folder.clone(), Some(marker.clone()));
    let asked = thread::spawn(move || parts.resolve("yaml_bg.wasm"));
    write(&folder, "yaml-7_bg.wasm");
    assert_eq!(asked.join().unwrap(), "yaml-7_bg.wasm");

    let parts = Parts::new(folder.clone(), Some(marker.clone()));
    let asked = thread::spawn(move || parts.resolve("sql.js"));
    fs::remove_file(marker).unwrap();
    assert_eq!(asked.join().unwrap(), "sql.js", "the build ended without it");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn server_waits_only_for_requests_of_parts() {
    assert!(["sql.js", "simulator_bg.wasm", "offline.js"].into_iter().all(is_part));
    assert!(!["favicon.ico", "", ".js", "page-1.js", "a/b.js", "../x.js"].into_iter().any(is_part));
}
