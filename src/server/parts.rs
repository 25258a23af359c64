//! Finds the files of parts of the page that are built after the page is first served.
//!
//! Once a part is built, its files have names with a hash (`sql-1234.js`), which `index.html` uses. Before that,
//! `index.html` uses names without a hash (`sql.js`). A page that was loaded before the build finished requests
//! `sql.js`, and gets `sql-1234.js` as soon as that exists.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Interval at which the folder is checked for a missing part.
const POLL: Duration = Duration::from_millis(200);

/// File name suffix of a part's script.
const GLUE: &str = ".js";
/// File name suffix of a part's wasm module.
const WASM: &str = "_bg.wasm";
/// Name of the file that the build writes last.
const LAST: &str = "offline.js";

/// Finder of the files of parts that may still be under construction.
pub struct Parts {
    folder: PathBuf,
    marker: Option<PathBuf>,
}

impl Parts {
    /// Creates the lookup for the files in `folder`. The build is running as long as the file `marker` exists.
    pub fn new(folder: PathBuf, marker: Option<PathBuf>) -> Parts {
        Parts { folder, marker }
    }

    /// Returns the path of the file to serve for `path`. If `path` names a part without a hash, this is the file name
    /// with the hash, otherwise `path` itself.
    ///
    /// Blocks while the part does not exist and the build is running.
    pub fn resolve(&self, path: &str) -> String {
        loop {
            // Checked before the files, so that a part finished in between is found.
            let is_building = self.marker.as_deref().is_some_and(Path::exists);
            if self.folder.join(path).is_file() {
                return path.to_owned();
            }
            match self.with_hash(path) {
                Some(found) => return found,
                None if is_building && is_part(path) => std::thread::sleep(POLL),
                None => return path.to_owned(),
            }
        }
    }

    /// Finds the file of a part by its name without the hash: `sql-1234.js` for `sql.js`.
    fn with_hash(&self, path: &str) -> Option<String> {
        let ending = if path.ends_with(WASM) { WASM } else { GLUE };
        let prefix = format!("{}-", path.strip_suffix(ending)?);
        let is_hashed = |name: &str| {
            let hash = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(ending));
            hash.is_some_and(|hash| !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        let entries = std::fs::read_dir(&self.folder).ok()?;
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).find(|name| is_hashed(name))
    }
}

/// Returns true if the build writes a file with this name after `index.html`.
fn is_part(path: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    path == LAST || [WASM, GLUE].iter().any(|ending| path.strip_suffix(ending).is_some_and(is_name))
}

#[cfg(test)]
#[path = "../../tests/units/server/parts.rs"]
mod tests;
