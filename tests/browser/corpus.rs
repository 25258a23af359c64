//! The real snapshots, where this machine has them, and the reference numbers of each.

use serde_json::Value;
use std::path::{Path, PathBuf};

/// One real snapshot.
pub(crate) struct RealFile {
    pub(crate) path: PathBuf,
    /// An object a device, as `tools/reference.py` writes it.
    pub(crate) devices: Vec<Value>,
}

/// Every file that `expected.json` names. `None`, said aloud, where the folder is missing.
pub(crate) fn real_files() -> Option<Vec<RealFile>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = std::env::var_os("MEMSCAPE_SNAPSHOTS")
        .map(PathBuf::from)
        .into_iter()
        .chain([root.join("../shared/snapshots"), root.join("../../shared/snapshots")]);
    // Chromium reads no dropped file whose path has `..` in it.
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
