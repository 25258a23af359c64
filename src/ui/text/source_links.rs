//! Source locations of frames: formatting them as text, and building links that open them in an editor.
//!
//! File names come from the snapshot and are untrusted. The link template comes only from the user. It must start with
//! an allowed scheme, and everything taken from a file name is percent-encoded.

use std::fmt;

/// Allowed schemes of link templates. They open an editor or a page, and none of them runs a program.
pub const SCHEMES: [&str; 13] = [
    "vscode",
    "vscode-insiders",
    "vscodium",
    "cursor",
    "windsurf",
    "zed",
    "idea",
    "pycharm",
    "jetbrains",
    "subl",
    "txmt",
    "https",
    "http",
];

/// Placeholder in a template for the percent-encoded path of the file.
const FILE_PLACEHOLDER: &str = "{file}";
/// Placeholder in a template for the line number.
const LINE_PLACEHOLDER: &str = "{line}";
/// Maximum length of a template, in bytes.
const MAX_TEMPLATE: usize = 512;
/// Maximum length of a path, in bytes. Longer paths are not possible in common file systems.
const MAX_PATH: usize = 4096;

/// Reason why a template is invalid or a frame has no link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceLinkError {
    NoTemplate,
    TooLong,
    /// The scheme is not one of [`SCHEMES`].
    UnknownScheme,
    /// The template does not contain `{file}`.
    NoFilePlaceholder,
    /// A placeholder is part of the host name.
    PlaceholderInHost,
    /// The template contains a space, an unknown placeholder or a character that is not allowed in a URL.
    InvalidCharacter,
    /// The frame has no file name.
    NoFileName,
    /// The file's path is not absolute, contains `..`, or is too long.
    RelativePath,
}

impl fmt::Display for SourceLinkError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            SourceLinkError::NoTemplate => "Source links are not set up: see Settings.",
            SourceLinkError::TooLong => "A link template has at most 512 characters.",
            SourceLinkError::UnknownScheme => {
                "A link template begins with vscode:, vscode-insiders:, vscodium:, cursor:, windsurf:, zed:, idea:, pycharm:, \
                 jetbrains:, subl:, txmt:, https: or http:."
            }
            SourceLinkError::NoFilePlaceholder => "A link template needs {file}, and may contain {line}.",
            SourceLinkError::PlaceholderInHost => "In a link to a server, {file} and {line} must come after the host name.",
            SourceLinkError::InvalidCharacter => "A link template has no spaces, and no braces other than {file} and {line}.",
            SourceLinkError::NoFileName => "This row has no file.",
            SourceLinkError::RelativePath => "This file has no absolute path, so it cannot be linked.",
        })
    }
}

/// Checks whether a template is valid. An empty template is valid and disables links.
///
/// # Errors
/// Returns the reason if the template is invalid.
pub fn check_template(template: &str) -> Result<(), SourceLinkError> {
    if template.is_empty() {
        return Ok(());
    }
    if template.len() > MAX_TEMPLATE {
        return Err(SourceLinkError::TooLong);
    }
    let (scheme, rest) = template.split_once(':').ok_or(SourceLinkError::UnknownScheme)?;
    if !SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Err(SourceLinkError::UnknownScheme);
    }
    let file = rest.find(FILE_PLACEHOLDER).ok_or(SourceLinkError::NoFilePlaceholder)?;
    let plain = rest.replace(FILE_PLACEHOLDER, "").replace(LINE_PLACEHOLDER, "");
    if !plain.bytes().all(|byte| byte.is_ascii_graphic() && !b"{}<>\"\\^`|".contains(&byte)) {
        return Err(SourceLinkError::InvalidCharacter);
    }
    if scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http") {
        let server = rest.strip_prefix("//").ok_or(SourceLinkError::PlaceholderInHost)?;
        // Plus the two slashes that were stripped.
        let path = server
            .find(['/', '?', '#'])
            .filter(|&at| at > 0)
            .map(|at| at + 2)
            .ok_or(SourceLinkError::PlaceholderInHost)?;
        let first = rest.find(LINE_PLACEHOLDER).map_or(file, |line| line.min(file));
        if first <= path {
            return Err(SourceLinkError::PlaceholderInHost);
        }
    }
    Ok(())
}

/// Returns the link to a line of a file.
///
/// # Errors
/// Returns an error if the template is empty or invalid, or if the file's path is not absolute.
pub fn expand_template(template: &str, file: &str, line: &str) -> Result<String, SourceLinkError> {
    if template.is_empty() {
        return Err(SourceLinkError::NoTemplate);
    }
    check_template(template)?;
    let path = encode_absolute_path(file)?;
    let digits = !line.is_empty() && line.len() <= 10 && line.bytes().all(|byte| byte.is_ascii_digit());
    let line = if digits && line.bytes().any(|byte| byte != b'0') { line } else { "1" };
    // Accept both `vscode://file/{file}` and `vscode://file{file}`.
    let doubled = ["/", FILE_PLACEHOLDER].concat();
    let template =
        if path.starts_with('/') { template.replace(&doubled, FILE_PLACEHOLDER) } else { template.to_owned() };
    Ok(template.replace(LINE_PLACEHOLDER, line).replace(FILE_PLACEHOLDER, &path))
}

/// Percent-encodes an absolute path, with `/` as the separator. The result starts with `/`, even before a drive letter.
fn encode_absolute_path(file: &str) -> Result<String, SourceLinkError> {
    if matches!(file, "" | "??" | "none") {
        return Err(SourceLinkError::NoFileName);
    }
    let is_drive = |head: &[u8]| matches!(head, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    let on_drive = is_drive(file.as_bytes());
    let has_parent_part = file.split(['/', '\\']).any(|part| part == "..");
    if has_parent_part || file.len() > MAX_PATH || !(on_drive || file.starts_with('/')) {
        return Err(SourceLinkError::RelativePath);
    }
    let mut path = String::with_capacity(file.len() + 1);
    if on_drive {
        path.push('/');
    }
    for (index, byte) in file.bytes().enumerate() {
        match byte {
            b'\\' if on_drive => path.push('/'),
            b':' if on_drive && index == 1 => path.push(':'),
            b'/' | b'-' | b'.' | b'_' | b'~' => path.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => path.push(char::from(byte)),
            _ => {
                path.push('%');
                for digit in [byte >> 4, byte & 15] {
                    path.push(char::from_digit(digit.into(), 16).map_or('0', |digit| digit.to_ascii_uppercase()));
                }
            }
        }
    }
    // Two leading slashes would name a server.
    let parts = path.trim_start_matches('/');
    Ok(["/", parts].concat())
}

/// Formats a source location such as `train.py:233`. Removes the prefix `folder` from the path, and omits an unknown
/// line number.
pub fn location(file: &str, line: &str, folder: &str) -> String {
    if matches!(file, "" | "??" | "none") {
        return String::new();
    }
    let short = strip_folder(file, folder).unwrap_or(file);
    if matches!(line, "" | "0") { short.to_owned() } else { [short, ":", line].concat() }
}

/// Returns the path relative to `folder`, or `None` if the file is not inside it.
pub fn strip_folder<'a>(file: &'a str, folder: &str) -> Option<&'a str> {
    let folder = folder.trim_end_matches(['/', '\\']);
    let rest = file.strip_prefix(folder).filter(|_| !folder.is_empty())?;
    rest.strip_prefix(['/', '\\']).filter(|rest| !rest.is_empty())
}
