//! Call sites that are equal on every machine: paths without the parts that differ, and hashes of them.
//!
//! A change of a rule changes the hashes, so it needs a new [`RULES_VERSION`].

use history::python_path::{below_last, below_packages, below_standard_library, has_drive, is_decimal};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Version of the rules in this file. Surveys store it in every row.
pub const RULES_VERSION: i64 = 1;

/// Maximum length of a path or function in bytes. Only corrupt files have longer ones.
const MAX_TEXT_LEN: usize = 4096;

/// A call site with a normalized path. All fields are empty for allocations without a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSite {
    pub file: String,
    /// 0 if unknown, and for native code, whose numbers are addresses.
    pub line: u32,
    pub function: String,
}

impl CallSite {
    /// Normalizes a frame. `roots` are folders of the user's code, which become `work:`.
    pub fn new(file: &str, line: i128, function: &str, roots: &[String]) -> CallSite {
        let (file, function) = (truncated(file), truncated(function).to_owned());
        if file.is_empty() && function.is_empty() {
            return CallSite::default();
        }
        let path = file.replace('\\', "/");
        if is_native(&path) {
            let name = path.rsplit('/').next().unwrap_or_default();
            return CallSite { file: ["native:", name].concat(), line: 0, function };
        }
        CallSite { file: normalize(&path, roots), line: u32::try_from(line).unwrap_or(0), function }
    }

    /// Returns the hash of file, function and line.
    pub fn site(&self) -> String {
        hash(&[&self.file, &self.function, &self.line.to_string()])
    }

    /// Returns the hash of file and function, which stays the same if lines above are edited.
    pub fn place(&self) -> String {
        hash(&[&self.file, &self.function])
    }
}

/// Returns the first 64 bits of the SHA-256 of texts joined by line feeds, as 16 hexadecimal digits. Numbers of 64 bits
/// would be rounded by JavaScript, and are signed in some databases.
pub fn hash(texts: &[&str]) -> String {
    let digest = Sha256::digest(texts.join("\n"));
    digest.iter().take(8).fold(String::with_capacity(16), |mut text, byte| {
        // Writing to a String never fails.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Replaces the part of a path that differs between machines by a prefix, and folders that look numbered by `*`. The
/// first rule that matches is used.
pub fn normalize(path: &str, roots: &[String]) -> String {
    let path = path.replace('\\', "/");
    let (prefix, rest) = split_prefix(&path, roots);
    let mut parts: Vec<&str> = rest.split('/').collect();
    let folders = parts.len() - 1;
    for folder in parts.iter_mut().take(folders) {
        if is_numbered(folder) {
            *folder = "*";
        }
    }
    prefix.to_owned() + &parts.join("/")
}

/// Returns the prefix of the first rule that matches, and the rest of the path.
fn split_prefix<'a>(path: &'a str, roots: &[String]) -> (&'static str, &'a str) {
    let in_root = |root: &String| {
        let root = root.replace('\\', "/");
        path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/')
    };
    if let Some(rest) = roots.iter().find_map(in_root) {
        return ("work:", rest);
    }
    if let Some(rest) = below_packages(path) {
        return ("pkg:", rest);
    }
    if let Some(rest) = below_standard_library(path) {
        return ("py:", rest);
    }
    // Generated code. Its names contain hashes of the machine's settings.
    if path.split('/').any(|folder| folder.starts_with("torchinductor_")) {
        return ("inductor:", "");
    }
    if let Some(cell) = notebook_cell(path) {
        return ("ipython:", cell);
    }
    let ray = |folder: &str| folder.strip_prefix("_ray_pkg_").is_some_and(is_hex);
    let work = below_last(path, ray).or_else(|| below_last(path, |folder| folder.ends_with(".runfiles")));
    if let Some(rest) = work {
        return ("work:", rest);
    }
    match in_home(path) {
        Some(rest) => ("home:", rest),
        None => ("", path),
    }
}

/// Returns the number of a notebook's cell: `3` in `<ipython-input-3-0a1b>`, `81` in `/tmp/ipykernel_7/81.py`.
fn notebook_cell(path: &str) -> Option<&str> {
    let digits = |text: &'_ str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(rest) = path.strip_prefix("<ipython-input-") {
        return rest.get(..digits(rest));
    }
    let name = below_last(path, |folder| folder.strip_prefix("ipykernel_").is_some_and(is_decimal))?;
    name.get(..digits(name))
}

/// Returns the part of a path below a user's folder.
fn in_home(path: &str) -> Option<&str> {
    let path_without_drive = if has_drive(path) { path.get(2..)? } else { path };
    for shared in ["/home/", "/Users/"] {
        if let Some(rest) = path_without_drive.strip_prefix(shared) {
            return rest.split_once('/').map(|(_, rest)| rest);
        }
    }
    path.strip_prefix("/root/").or_else(|| path.strip_prefix("/workspace/"))
}

/// Returns whether a folder's name looks like a date, an id or a hash, which differ from run to run.
fn is_numbered(folder: &str) -> bool {
    let is_date = folder.len() >= 4
        && folder.starts_with(|letter: char| letter.is_ascii_digit())
        && folder.bytes().all(|byte| byte.is_ascii_digit() || b"._:T-".contains(&byte));
    // Words such as `effaced` have only letters.
    let is_hash = folder.len() >= 7 && is_hex(folder) && folder.bytes().any(|byte| byte.is_ascii_digit());
    let is_uuid = folder.len() == 36 && folder.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    let ends_in_id = folder
        .rsplit_once(['_', '-'])
        .is_some_and(|(_, number)| number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit()));
    is_date || is_hash || is_uuid || ends_in_id
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns whether a path, with `/` as separator, is a library, an interpreter, or unknown. The line numbers of such
/// frames are addresses, which differ from build to build.
fn is_native(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_version = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
    let is_library = name.ends_with(".so") || name.rsplit_once(".so.").is_some_and(|(_, version)| is_version(version));
    let python = name.strip_prefix("python").filter(|_| folder == "bin" || folder.ends_with("/bin"));
    let is_interpreter = python.is_some_and(|version| version.is_empty() || is_version(version));
    is_library || is_interpreter || matches!(path, "" | "??" | "none")
}

/// Truncates a text to the maximum length, at a character boundary.
fn truncated(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_LEN);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
#[path = "../../tests/units/analysis/place.rs"]
mod tests;
