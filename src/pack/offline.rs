//! Generates the service worker from `www/offline.js` and a list of the build's files with their hashes.

use crate::hash;
use std::fs;
use std::path::Path;

/// Source code of the service worker, with placeholders.
const SCRIPT: &str = include_str!("../../www/offline.js");
/// Placeholder for the build id.
const BUILD_PLACEHOLDER: &str = "{BUILD}";
/// Placeholder for the list of files.
const FILES_PLACEHOLDER: &str = "{FILES}";
/// File name of the service worker in the build.
pub(crate) const NAME: &str = "offline.js";
/// Files that are not listed, because the page never requests them.
const NOT_LISTED: [&str; 2] = [NAME, crate::SQL];
/// Name of the file that a server returns for the URL of the folder.
const PAGE: &str = "index.html";

/// Generates the service worker for the files in `dist`. Returns its source code.
pub(crate) fn script(dist: &Path) -> Result<String, String> {
    let message = |error: std::io::Error| error.to_string();
    let mut lines = Vec::new();
    for entry in fs::read_dir(dist).map_err(message)? {
        let entry = entry.map_err(message)?;
        let name = entry.file_name().into_string().map_err(|_| "a name is no text")?;
        // Folders hold the manual, which is fetched when it is opened.
        if NOT_LISTED.contains(&name.as_str()) || entry.path().is_dir() {
            continue;
        }
        if !name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it)) {
            return Err(format!("{name} is no plain name"));
        }
        let hash = hash(&fs::read(entry.path()).map_err(|error| format!("{name}: {error}"))?);
        let name = if name == PAGE { "" } else { &name };
        lines.push(format!("  [\"./{name}\", \"{}\"],\n", hash.trim_matches('\'')));
    }
    lines.sort();
    let list = format!("[\n{}]", lines.concat());
    let build: String =
        hash(list.as_bytes()).bytes().filter(u8::is_ascii_alphanumeric).skip(6).take(16).map(char::from).collect();
    if SCRIPT.matches(BUILD_PLACEHOLDER).count() != 1 || SCRIPT.matches(FILES_PLACEHOLDER).count() != 1 {
        return Err("offline.js has no place for the list".to_owned());
    }
    Ok(SCRIPT.replace(BUILD_PLACEHOLDER, &build).replace(FILES_PLACEHOLDER, &list))
}
