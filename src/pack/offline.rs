//! The script that answers without a network: `www/offline.js`, with the list of the build's files and their hashes.

use crate::hash;
use std::fs;
use std::path::Path;

/// The script, and what stands in it for the build and for the list.
const SCRIPT: &str = include_str!("../../www/offline.js");
const BUILD: &str = "{BUILD}";
const FILES: &str = "{FILES}";
/// Its name in the build, and what a page never asks for.
pub(crate) const NAME: &str = "offline.js";
const LEFT_OUT: [&str; 2] = [NAME, crate::SQL];
/// What is answered where the folder itself is asked for.
const PAGE: &str = "index.html";

/// The script for the files that lie in a folder; the error says what is wrong there.
pub(crate) fn script(dist: &Path) -> Result<String, String> {
    let said = |error: std::io::Error| error.to_string();
    let mut lines = Vec::new();
    for entry in fs::read_dir(dist).map_err(said)? {
        let entry = entry.map_err(said)?;
        let name = entry.file_name().into_string().map_err(|_| "a name is no text")?;
        if LEFT_OUT.contains(&name.as_str()) {
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
    if SCRIPT.matches(BUILD).count() != 1 || SCRIPT.matches(FILES).count() != 1 {
        return Err("offline.js has no place for the list".to_owned());
    }
    Ok(SCRIPT.replace(BUILD, &build).replace(FILES, &list))
}
