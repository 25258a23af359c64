//! The build of the page and its parts. Cargo builds a crate once for the page and once for its parts if any crate
//! below it has different features in the two.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Crates that the page and its parts both contain, with everything below them.
const SHARED: [&str; 2] = ["memscape-engine", "memscape-compare"];

/// Returns the features of all crates in the wasm of these packages, by name and version.
fn features(packages: &[&str]) -> BTreeMap<String, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["tree", "--locked", "--offline", "--prefix=none"]);
    cargo.args(["--target=wasm32-unknown-unknown", "--edges=normal", "--format={p}|{f}", "--no-dedupe"]);
    let output = cargo.args(packages.iter().flat_map(|name| ["-p", name])).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("the tree is UTF-8");
    let pairs = lines.lines().filter_map(|line| line.split_once('|'));
    pairs.map(|(name, features)| (name.to_owned(), features.to_owned())).collect()
}

#[test]
fn page_and_its_parts_share_builds() {
    let page = features(&["memscape-page"]);
    let parts = features(&["memscape-simulator", "memscape-surveyor", "memscape-yaml", "memscape-sql"]);
    let shared = features(&SHARED);
    assert!(shared.len() > 20 && shared.keys().any(|name| name.starts_with("memscape-history ")), "{shared:?}");
    for name in shared.keys() {
        assert_eq!(page.get(name), parts.get(name), "{name} has different features in the page and in its parts");
    }
}

/// With `--all`, the tests go on after a failed build. They must not test the page of an earlier one, and the command
/// line must not include it.
#[test]
fn failed_build_of_page_leaves_no_older_page() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failed-page");
    let pages = ["dist/index.html", "src/cli/built/memscape.html", "src/cli/built/sql-part.html"];
    let pages = pages.map(|page| folder.join(page));
    for page in &pages {
        std::fs::create_dir_all(page.with_file_name("")).expect("target/tmp can be written");
        std::fs::write(page, "older").expect("target/tmp can be written");
    }
    let script = "source \"$1\"; has_page_tools() { true; }; build_shell() { false; }; step() { \"${@:3}\"; }; \
                  fail() { exit 1; }; start_page dev dist";
    let functions = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pack/page.sh");
    let mut bash = Command::new("bash");
    bash.current_dir(&folder).args(["-c", script, "bash"]).arg(functions);
    assert_eq!(bash.status().expect("bash runs").code(), Some(1));
    assert_eq!(pages.map(|page| page.exists()), [false; 3]);
}
