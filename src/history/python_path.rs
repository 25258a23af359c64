//! Recognition of paths that belong to Python itself and to installed packages. Separators are `/`.

/// Folders of installed packages.
pub const PACKAGE_FOLDERS: [&str; 2] = ["site-packages", "dist-packages"];

/// Beginning of the standard library's folder, below the prefix of an installation.
pub const STANDARD_LIBRARY: &str = "/lib/python3";

/// Returns the part of a path below the last folder of installed packages.
pub fn below_packages(path: &str) -> Option<&str> {
    below_last(path, |folder| PACKAGE_FOLDERS.contains(&folder))
}

/// Returns the part of a path from the folder of the standard library on, such as `/lib/python3.11/runpy.py`.
pub fn from_standard_library(path: &str) -> Option<&str> {
    path.get(path.find(STANDARD_LIBRARY)?..)
}

/// Returns the part of a path below Python's standard library: `lib/python3.N` or, on Windows, `Lib`.
pub fn below_standard_library(path: &str) -> Option<&str> {
    if let Some(rest) = below_last(path, |folder| folder.strip_prefix("python3.").is_some_and(is_decimal)) {
        let before = path.len().checked_sub(rest.len() + 1).and_then(|end| path.get(..end))?;
        let folder = before.rsplit('/').nth(1)?;
        return matches!(folder, "lib" | "lib64").then_some(rest);
    }
    below_last(path, |folder| folder == "Lib").filter(|_| has_drive(path))
}

/// Returns the part of a path below the last folder that matches.
pub fn below_last(path: &str, is_match: impl Fn(&str) -> bool) -> Option<&str> {
    let mut end = path.rfind('/')?;
    loop {
        let start = path.get(..end)?.rfind('/').map_or(0, |slash| slash + 1);
        if is_match(path.get(start..end)?) {
            return path.get(end + 1..);
        }
        end = start.checked_sub(1)?;
    }
}

/// Returns whether a path starts with a Windows drive, such as `C:/`.
pub fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

/// Returns whether a text consists of decimal digits.
pub fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
#[path = "../../tests/units/history/python_path.rs"]
mod tests;
