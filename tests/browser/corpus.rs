//! Real snapshots with their expected summaries, if this machine has them.

use serde_json::Value;
use std::path::{Path, PathBuf};

/// A real snapshot and its expected summary.
pub(crate) struct RealFile {
    pub(crate) path: PathBuf,
    /// One JSON object per device, as written by `tools/reference.py`.
    pub(crate) devices: Vec<Value>,
}

/// Returns all files listed in `expected.json`, or `None`, with a message, if the folder is missing.
pub(crate) fn real_files() -> Option<Vec<RealFile>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = std::env::var_os("MEMSCAPE_SNAPSHOTS")
        .map(PathBuf::from)
        .into_iter()
        .chain([root.join("../shared/snapshots"), root.join("../../shared/snapshots")]);
    // Chromium does not read dropped files whose path contains `..`.
    let mut folders = folders.filter_map(|folder| folder.canonicalize().ok());
    let Some(folder) = folders.find(|folder| folder.join("expected.json").is_file()) else {
        eprintln!("SKIPPED: no real snapshots here (MEMSCAPE_SNAPSHOTS or ../shared/snapshots)");
        return None;
    };
    let expected = std::fs::read(folder.join("expected.json")).expect("expected.json can be read");
    let expected: serde_json::Map<String, Value> =
        serde_json::from_slice(&expected).expect("expected.json is an object");
    let file = |(name, devices): (String, Value)| RealFile {
        path: folder.join(name),
        devices: devices.as_array().expect("a list of devices a file").clone(),
    };
    Some(expected.into_iter().map(file).collect())
}
