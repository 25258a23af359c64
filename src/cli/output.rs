//! What is printed: standard output and error, which may be closed by whoever read them.

use super::caught::{self, Catching, is_caught};
use super::terminal::{Guarded, REPLACEMENT, is_terminal};
use base::units::{Moment, grouped};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, ErrorKind, Write};

/// Standard output, or the buffer of a caller in this program.
pub(crate) fn standard_output() -> Box<dyn Write + Send> {
    match (is_caught(), is_terminal()) {
        (true, _) => Box::new(Catching),
        (_, true) => Box::new(Guarded::new(io::stdout())),
        _ => Box::new(io::stdout()),
    }
}

/// Prints text, without control characters but line feeds and tabs. A closed pipe (`| head`) is no failure of ours.
///
/// # Errors
/// The system's, as one sentence.
pub(crate) fn print(text: &str) -> Result<(), String> {
    let mut out = standard_output();
    let is_unsafe = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    written(out.write_all(text.replace(is_unsafe, REPLACEMENT).as_bytes()).and_then(|()| out.flush()))
}

/// What a write to standard output came to.
///
/// # Errors
/// The system's, as one sentence.
pub(crate) fn written(result: io::Result<()>) -> Result<(), String> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) if error.raw_os_error().is_some() => Err(format!("standard output: {error}")),
        result => result.map_err(|error| error.to_string()),
    }
}

/// Prints a line to standard error, if anyone reads it.
pub(crate) fn say(line: &str) {
    if caught::say(|| printable(line)) {
        return;
    }
    let _ = writeln!(io::stderr(), "memscape: {}", printable(line));
}

/// Names from a file may hold escape sequences, which a terminal would obey.
pub(crate) fn printable(text: &str) -> String {
    text.replace(char::is_control, REPLACEMENT)
}

/// `after event 3,216`.
pub(crate) fn after(moment: u32) -> String {
    match Moment(moment).event() {
        Some(event) => format!("after event {}", grouped(event.0.into())),
        None => "before the first event".to_owned(),
    }
}

/// The line below rows that are not all; empty where they are.
pub(crate) fn more(left_out: u32) -> String {
    if left_out == 0 { String::new() } else { format!("  and {} more (see --top)\n", grouped(left_out.into())) }
}

/// A JSON object with these fields as well.
pub(crate) fn with(mut object: Value, more: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (object.as_object_mut(), more) {
        fields.extend(more);
    }
    object
}

/// JSON for people as well.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    escaped(&(serde_json::to_string_pretty(value).unwrap_or_default() + "\n"))
}

/// JSON with the control characters that JSON does not escape by itself, U+007F to U+009F, escaped: a terminal obeys them as well.
pub(crate) fn escaped(json: &str) -> String {
    if !json.contains(|letter: char| letter.is_control() && !letter.is_ascii_control() || letter == '\u{7f}') {
        return json.to_owned();
    }
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '\u{7f}'..='\u{9f}' => text += &format!("\\u{:04x}", u32::from(letter)),
            letter => text.push(letter),
        }
    }
    text
}

/// Prints an error of the arguments, or help.
pub(crate) fn print_clap(error: &clap::Error) {
    let text = error.render().to_string();
    if text.contains(|letter: char| letter.is_control() && letter != '\n') {
        // It quotes an argument, which may come from a file: in plain text, so that nothing but its lines is left.
        let _ =
            write!(io::stderr(), "{}", text.replace(|letter: char| letter.is_control() && letter != '\n', REPLACEMENT));
    } else {
        // Nobody may read it.
        let _ = error.print();
    }
}
