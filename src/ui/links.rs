//! Where a frame's source is: how its place is written for people, and the link that opens it.
//!
//! Names of files come from the snapshot and are hostile; the template comes from the person at the page alone. What a link may
//! begin with is listed, and all that a file contributes is percent-encoded.

use std::fmt;

/// What a link may begin with. Each opens an editor or a page; none runs anything.
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

/// The place of the file's path in a template, percent-encoded.
const FILE: &str = "{file}";
/// The place of the line.
const LINE: &str = "{line}";
/// No template is longer.
const LONGEST_TEMPLATE: usize = 512;
/// No file system has a longer path.
const LONGEST_PATH: usize = 4096;

/// Why a template is refused, or why there is no link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// There is no template.
    NoTemplate,
    TooLong,
    /// It does not begin with one of [`SCHEMES`].
    Scheme,
    /// It has no place for the file.
    NoFile,
    /// The file would name the server, or the place on it.
    Host,
    /// It has a brace that is no `{file}` or `{line}`, a space, or a sign that no address has.
    Sign,
    /// The frame names no file.
    Nameless,
    /// The file is none with an absolute path: what it is relative to is not known.
    Relative,
}

impl fmt::Display for LinkError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            LinkError::NoTemplate => "Source links are not set up: see Settings.",
            LinkError::TooLong => "A link template has at most 512 characters.",
            LinkError::Scheme => {
                "A link template begins with vscode:, vscode-insiders:, vscodium:, cursor:, windsurf:, zed:, idea:, pycharm:, \
                 jetbrains:, subl:, txmt:, https: or http:."
            }
            LinkError::NoFile => "A link template needs {file}, and may contain {line}.",
            LinkError::Host => "In a link to a server, {file} and {line} must come after the host name.",
            LinkError::Sign => "A link template has no spaces, and no braces other than {file} and {line}.",
            LinkError::Nameless => "This row has no file.",
            LinkError::Relative => "This file has no absolute path, so it cannot be linked.",
        })
    }
}

/// Checks a template. An empty one is none, and fine.
pub fn check(template: &str) -> Result<(), LinkError> {
    if template.is_empty() {
        return Ok(());
    }
    if template.len() > LONGEST_TEMPLATE {
        return Err(LinkError::TooLong);
    }
    let (scheme, rest) = template.split_once(':').ok_or(LinkError::Scheme)?;
    if !SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Err(LinkError::Scheme);
    }
    let file = rest.find(FILE).ok_or(LinkError::NoFile)?;
    let plain = rest.replace(FILE, "").replace(LINE, "");
    if !plain.bytes().all(|sign| sign.is_ascii_graphic() && !b"{}<>\"\\^`|".contains(&sign)) {
        return Err(LinkError::Sign);
    }
    if scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http") {
        let server = rest.strip_prefix("//").ok_or(LinkError::Host)?;
        // Counted with the two signs that were taken off.
        let path = server.find(['/', '?', '#']).filter(|&at| at > 0).map(|at| at + 2).ok_or(LinkError::Host)?;
        let first = rest.find(LINE).map_or(file, |line| line.min(file));
        if first <= path {
            return Err(LinkError::Host);
        }
    }
    Ok(())
}

/// The link to a line of a file by a template that [`check`] passed.
pub fn expand(template: &str, file: &str, line: &str) -> Result<String, LinkError> {
    if template.is_empty() {
        return Err(LinkError::NoTemplate);
    }
    check(template)?;
    let path = absolute(file)?;
    let digits = !line.is_empty() && line.len() <= 10 && line.bytes().all(|sign| sign.is_ascii_digit());
    let line = if digits && line.bytes().any(|sign| sign != b'0') { line } else { "1" };
    // `vscode://file/{file}` is as right as `vscode://file{file}`.
    let doubled = ["/", FILE].concat();
    let template = if path.starts_with('/') { template.replace(&doubled, FILE) } else { template.to_owned() };
    Ok(template.replace(LINE, line).replace(FILE, &path))
}

/// An absolute path, percent-encoded and with `/` between its parts; before the letter of a drive too.
fn absolute(file: &str) -> Result<String, LinkError> {
    if matches!(file, "" | "??" | "none") {
        return Err(LinkError::Nameless);
    }
    let is_drive = |head: &[u8]| matches!(head, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    let on_drive = is_drive(file.as_bytes());
    let climbs = file.split(['/', '\\']).any(|part| part == "..");
    if climbs || file.len() > LONGEST_PATH || !(on_drive || file.starts_with('/')) {
        return Err(LinkError::Relative);
    }
    let mut path = String::with_capacity(file.len() + 1);
    if on_drive {
        path.push('/');
    }
    for (at, sign) in file.bytes().enumerate() {
        match sign {
            b'\\' if on_drive => path.push('/'),
            b':' if on_drive && at == 1 => path.push(':'),
            b'/' | b'-' | b'.' | b'_' | b'~' => path.push(char::from(sign)),
            _ if sign.is_ascii_alphanumeric() => path.push(char::from(sign)),
            _ => {
                path.push('%');
                for digit in [sign >> 4, sign & 15] {
                    path.push(char::from_digit(digit.into(), 16).map_or('0', |digit| digit.to_ascii_uppercase()));
                }
            }
        }
    }
    // Two at the beginning would name a server.
    let parts = path.trim_start_matches('/');
    Ok(["/", parts].concat())
}

/// A frame's place as it is written: `train.py:233`, without the folder that is left out, without a line where there is none.
pub fn place(file: &str, line: &str, folder: &str) -> String {
    if matches!(file, "" | "??" | "none") {
        return String::new();
    }
    let short = without(file, folder).unwrap_or(file);
    if matches!(line, "" | "0") { short.to_owned() } else { [short, ":", line].concat() }
}

/// What of a path follows a folder: `None` where it is not in it.
pub fn without<'a>(file: &'a str, folder: &str) -> Option<&'a str> {
    let folder = folder.trim_end_matches(['/', '\\']);
    let rest = file.strip_prefix(folder).filter(|_| !folder.is_empty())?;
    rest.strip_prefix(['/', '\\']).filter(|rest| !rest.is_empty())
}
