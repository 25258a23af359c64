//! Converts a tool call to command line arguments. Values are always passed after `=` or `--`, so they are never parsed
//! as options.

use super::files::AllowedFiles;
use super::tools::{MAX_ROWS, MAX_TEXTS, ParameterKind, RANKS, Tool};
use serde_json::{Map, Value};

/// Maximum length of a text argument in bytes.
const MAX_TEXT_BYTES: usize = 4_000;
/// Default number of rows. Ten rows give an overview and keep the response short.
const DEFAULT_ROWS: u64 = 10;

/// Parsed tool call: the file or folder, and the arguments of the command.
#[derive(Debug, PartialEq)]
pub(super) struct CommandLine {
    pub(super) path: String,
    pub(super) words: Vec<String>,
    /// Cursor position, for the link to the page.
    pub(super) at: Option<String>,
}

/// Converts the arguments of a tool call.
///
/// # Errors
/// Returns an error message if an argument is unknown, has the wrong type, or names a file outside the allowed folder.
pub(super) fn command_line(
    tool: &Tool,
    arguments: &Map<String, Value>,
    files: &AllowedFiles,
) -> Result<CommandLine, String> {
    let known = |name: &str| name == "file" || tool.parameters.iter().any(|parameter| parameter.name == name);
    if let Some(unknown) = arguments.keys().find(|name| !known(name)) {
        let names: Vec<&str> = ["file"].into_iter().chain(tool.parameters.iter().map(|it| it.name)).collect();
        let unknown: String = unknown.chars().take(100).collect();
        return Err(format!("{} has no argument {unknown}; it has {}", tool.name, names.join(", ")));
    }
    let file = arguments.get("file").map(|file| text("file", file)).transpose()?;
    let path = if tool.name == RANKS { files.folder(file)? } else { files.file(file)? };
    let (mut words, mut behind, mut at, mut has_rows) = (Vec::new(), Vec::new(), None, false);
    for parameter in tool.parameters {
        let name = parameter.name;
        has_rows |= parameter.kind == ParameterKind::Rows;
        let Some(value) = arguments.get(name).filter(|value| !value.is_null()) else { continue };
        match parameter.kind {
            ParameterKind::Text(flag) => {
                let value = text(name, value)?;
                if name == "at" {
                    at = Some(value.to_owned());
                }
                words.push(format!("{flag}={value}"));
            }
            ParameterKind::Number(flag) => words.push(format!("{flag}={}", number(name, value)?)),
            ParameterKind::Flag(flag) => {
                if value.as_bool().ok_or_else(|| format!("{name} is not a boolean"))? {
                    words.push(flag.to_owned());
                }
            }
            ParameterKind::Texts(flag) => {
                let values = value.as_array().ok_or_else(|| format!("{name} is not a list of texts"))?;
                if values.len() > MAX_TEXTS {
                    return Err(format!("{name} has more than {MAX_TEXTS} elements"));
                }
                for value in values {
                    words.push(format!("{flag}={}", text(name, value)?));
                }
            }
            ParameterKind::Positional | ParameterKind::Statement => behind.push(text(name, value)?.to_owned()),
            ParameterKind::File => behind.push(files.file(Some(text(name, value)?))?),
            ParameterKind::Rows => {
                let rows = number(name, value)?;
                let rows = u64::try_from(rows).ok().filter(|rows| (1..=MAX_ROWS).contains(rows));
                words.push(format!("--top={}", rows.ok_or_else(|| format!("{name} is not 1 to {MAX_ROWS}"))?));
            }
        }
    }
    if has_rows && !words.iter().any(|word| word.starts_with("--top=")) {
        words.push(format!("--top={DEFAULT_ROWS}"));
    }
    if let Some(missing) = tool.parameters.iter().find(|it| it.kind.is_required() && !arguments.contains_key(it.name)) {
        return Err(format!("{} is missing", missing.name));
    }
    if !behind.is_empty() {
        words.push("--".to_owned());
        words.append(&mut behind);
    }
    Ok(CommandLine { path, words, at })
}

fn text<'a>(name: &str, value: &'a Value) -> Result<&'a str, String> {
    let text = value.as_str().ok_or_else(|| format!("{name} is not a text"))?;
    match text.len() {
        0..=MAX_TEXT_BYTES if !text.contains('\0') => Ok(text),
        0..=MAX_TEXT_BYTES => Err(format!("{name} has a zero byte")),
        _ => Err(format!("{name} is longer than {MAX_TEXT_BYTES} bytes")),
    }
}

fn number(name: &str, value: &Value) -> Result<i64, String> {
    value.as_i64().ok_or_else(|| format!("{name} is not an integer"))
}

#[cfg(test)]
#[path = "../../../tests/units/cli/mcp/arguments.rs"]
mod tests;
