//! A frame as one line of text for searching: `file:line function`.

use history::snapshot::{Frame, Snapshot};
use std::fmt::Write;

/// Maximum length of a line in bytes. Only corrupt files have longer ones, which would take minutes to search.
pub const MAX_LINE_LEN: usize = 4096;

/// Replaces `line` by the frame's text: full path, line and function, or only the function if the frame has no file.
pub fn write(line: &mut String, snapshot: &Snapshot, frame: &Frame) {
    line.clear();
    let file = cut(snapshot.strings.bytes(frame.filename));
    // PyTorch writes these for C++ frames without debug information.
    if !matches!(file, b"" | b"??" | b"none") {
        line.push_str(&String::from_utf8_lossy(file));
        if frame.line != 0 {
            // Writing to a String never fails.
            let _ = write!(line, ":{}", frame.line);
        }
        line.push(' ');
    }
    line.push_str(&String::from_utf8_lossy(cut(snapshot.strings.bytes(frame.name))));
}

fn cut(text: &[u8]) -> &[u8] {
    text.get(..MAX_LINE_LEN / 2).unwrap_or(text)
}
