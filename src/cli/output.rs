//! Writes to standard output and standard error, which may be closed pipes.

use super::capture::{self, CaptureWriter, is_captured};
use super::terminal::{REPLACEMENT, SafeWriter, is_bidi_control, is_terminal, is_unsafe};
use base::units::group_digits;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, ErrorKind, Write};

/// Returns standard output, or the capture buffer if output is captured.
pub(crate) fn standard_output() -> Box<dyn Write + Send> {
    match (is_captured(), is_terminal()) {
        (true, _) => Box::new(CaptureWriter),
        (_, true) => Box::new(SafeWriter::new(io::stdout())),
        _ => Box::new(io::stdout()),
    }
}

/// Prints text, with unsafe characters other than line feeds and tabs replaced. A closed pipe (`| head`) is not an
/// error.
///
/// # Errors
/// Returns the message of the I/O error.
pub(crate) fn print(text: &str) -> Result<(), String> {
    let mut out = standard_output();
    let is_replaced = |letter: char| is_unsafe(letter) && !matches!(letter, '\n' | '\t');
    ignore_broken_pipe(out.write_all(text.replace(is_replaced, REPLACEMENT).as_bytes()).and_then(|()| out.flush()))
}

/// Converts the result of writing to standard output, so that a closed pipe is not an error.
///
/// # Errors
/// Returns the message of the I/O error.
pub(crate) fn ignore_broken_pipe(result: io::Result<()>) -> Result<(), String> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) if error.raw_os_error().is_some() => Err(format!("standard output: {error}")),
        result => result.map_err(|error| error.to_string()),
    }
}

/// Prints a line to standard error. I/O errors are ignored.
pub(crate) fn print_stderr(line: &str) {
    if capture::capture_message(|| printable(line)) {
        return;
    }
    let _ = writeln!(io::stderr(), "memscape: {}", printable(line));
}

/// Replaces unsafe characters. Names in files may contain escape sequences that a terminal would interpret.
pub(crate) fn printable(text: &str) -> String {
    text.replace(is_unsafe, REPLACEMENT)
}

/// Returns the line that follows a truncated list, or an empty string if the list is complete.
pub(crate) fn more_rows_line(left_out: u32) -> String {
    if left_out == 0 { String::new() } else { format!("  and {} more (see --top)\n", group_digits(left_out.into())) }
}

/// Adds the fields of `more` to a JSON object.
pub(crate) fn with_fields(mut object: Value, more: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (object.as_object_mut(), more) {
        fields.extend(more);
    }
    object
}

/// Serializes a value as indented JSON, and escapes control characters that terminals interpret.
pub(crate) fn to_pretty_json(value: &impl Serialize) -> String {
    escape_json(&(serde_json::to_string_pretty(value).unwrap_or_default() + "\n"))
}

/// Escapes U+007F to U+009F and bidirectional controls in JSON. JSON allows them unescaped, but terminals interpret
/// them.
pub(crate) fn escape_json(json: &str) -> String {
    let is_escaped = |letter: char| matches!(letter, '\u{7f}'..='\u{9f}') || is_bidi_control(letter);
    if !json.contains(is_escaped) {
        return json.to_owned();
    }
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_escaped(letter) {
            text += &format!("\\u{:04x}", u32::from(letter));
        } else {
            text.push(letter);
        }
    }
    text
}

/// Prints clap's message about invalid arguments to standard error, or the help text to standard output.
///
/// # Errors
/// Returns the message of the I/O error if standard output cannot be written.
pub(crate) fn print_clap(error: &clap::Error) -> Result<(), String> {
    let text = error.render().to_string();
    let is_replaced = |letter: char| is_unsafe(letter) && letter != '\n';
    if text.contains(is_replaced) {
        // The text quotes an argument that may come from a file. Print it without colours.
        let _ = write!(io::stderr(), "{}", text.replace(is_replaced, REPLACEMENT));
        return Ok(());
    }
    let printed = error.print().and_then(|()| io::stdout().flush());
    // Standard error may be closed.
    if error.use_stderr() { Ok(()) } else { ignore_broken_pipe(printed) }
}
