//! A frame on one line, as a search sees it: `file:line function`.

use history::snapshot::{Frame, Snapshot};
use std::fmt::Write;

/// Bytes of a line. No real one is longer, and a megabyte in every frame of a file takes minutes to look through.
pub const LONGEST_LINE: usize = 4096;

/// Replaces `line` by the frame's: whole path, line and function; without a file, the function alone.
pub fn write(line: &mut String, snapshot: &Snapshot, frame: &Frame) {
    line.clear();
    let file = cut(snapshot.strings.bytes(frame.filename));
    // What torch writes for C++ frames without debug information.
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
    text.get(..LONGEST_LINE / 2).unwrap_or(text)
}
