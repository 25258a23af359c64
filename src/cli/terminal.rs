//! Properties of the terminal that standard output is connected to: width, line wrapping, and removal of control
//! characters.

use super::capture::is_captured;
use clap::Args;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use ui::text::names::keeps_together;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Width that is assumed if the terminal does not report one.
const DEFAULT_WIDTH: usize = 80;
/// Minimum width that output is fitted to. Narrower tables would be unreadable.
const MIN_WIDTH: usize = 20;

/// Arguments for the layout of text output, shared by all commands.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LayoutArgs {
    /// Print full lines in a terminal too: without it, names are cut and lines wrapped to its width or COLUMNS, but not
    /// in pipes and files
    #[arg(long, global = true)]
    wide: bool,
}

/// Value of `--wide`. Set once at startup.
static IS_WIDE: OnceLock<bool> = OnceLock::new();

impl LayoutArgs {
    /// Applies the arguments to all later output.
    pub(crate) fn apply(self) {
        let _ = IS_WIDE.set(self.wide);
    }
}

/// Returns true if standard output is a terminal and is not captured.
pub(crate) fn is_terminal() -> bool {
    !is_captured() && io::stdout().is_terminal()
}

/// Returns the maximum width of printed lines in terminal columns, or `None` if there is no limit.
pub(crate) fn line_width() -> Option<usize> {
    if IS_WIDE.get().copied().unwrap_or(false) || !is_terminal() {
        return None;
    }
    let set =
        std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok()).filter(|&columns| columns > 0);
    let terminal_width =
        || crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns)).filter(|&columns| columns > 0);
    Some(set.or_else(terminal_width).unwrap_or(DEFAULT_WIDTH).max(MIN_WIDTH))
}

/// Returns whether a character may not reach a terminal: control characters, and bidirectional controls, which reorder
/// the rest of the line.
pub(crate) fn is_unsafe(letter: char) -> bool {
    letter.is_control() || is_bidi_control(letter)
}

pub(crate) fn is_bidi_control(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the width of a text in terminal columns. Bidirectional controls have no width, but their replacement has.
pub(crate) fn text_width(text: &str) -> usize {
    text.width() + text.chars().filter(|letter| is_bidi_control(*letter)).count()
}

/// Returns the length in bytes of the longest prefix of a text that fits into `width` columns.
pub(crate) fn fitting_prefix(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (at, letter) in text.char_indices() {
        used += if is_unsafe(letter) { 1 } else { letter.width().unwrap_or(0) };
        if used > width {
            return at;
        }
    }
    text.len()
}

/// Wraps a text into lines of at most `width` columns, after spaces or slashes where possible. Numbers keep
/// their units.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut rest) = (Vec::new(), text);
    while text_width(rest) > width {
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let fitting = fitting_prefix(rest, width).max(first);
        let head = rest.get(..fitting).unwrap_or_default();
        // A space at the end of the line may extend past the width.
        let reach = if rest.get(fitting..).unwrap_or_default().starts_with(' ') { fitting + 1 } else { fitting };
        let spaces = rest.get(..reach).unwrap_or_default().rmatch_indices(' ').map(|(at, _)| at);
        let spaces: Vec<usize> = spaces.filter(|&at| !rest.get(..at).unwrap_or_default().trim().is_empty()).collect();
        // A line ends between a number and its unit only if it has no other space.
        let space = spaces.iter().find(|&&at| !keeps_together(rest, at)).or(spaces.first()).copied();
        let slash = || head.rfind(['/', '\\']).map(|at| at + 1).filter(|&at| at * 2 > fitting);
        let end = space.or_else(slash).unwrap_or(fitting);
        lines.push(rest.get(..end).unwrap_or_default().trim_end().to_owned());
        rest = rest.get(end..).unwrap_or_default().trim_start_matches(' ');
    }
    lines.push(rest.to_owned());
    lines
}

/// Wraps long lines to the width of the terminal. Continuation lines are indented by two additional columns.
pub(crate) fn wrap_to_terminal(text: &str) -> String {
    wrap_to(text, line_width())
}

fn wrap_to(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if text_width(line) <= width {
            fitted += line;
        } else {
            let body = line.trim_start_matches(' ');
            let indent = (line.len() - body.len()).min(width / 2);
            let first = wrap(body, width - indent);
            let (head, rest) = first.split_first().map_or(("", ""), |(head, _)| {
                (head.as_str(), body.get(head.len()..).unwrap_or_default().trim_start_matches(' '))
            });
            fitted += &" ".repeat(indent);
            fitted += head;
            for line in wrap(rest, (width - indent).saturating_sub(2).max(1)) {
                fitted += &["\n", &" ".repeat(indent + 2), &line].concat();
            }
        }
        fitted += end;
    }
    fitted
}

/// A writer that replaces unsafe characters except line feeds and tabs (see [`is_unsafe`]). Names in files may contain
/// escape sequences that a terminal would interpret.
pub(crate) struct SafeWriter<W> {
    out: W,
    /// Bytes at the end of the last write that may start an unsafe character: beginnings of the UTF-8 encodings of
    /// U+0080 to U+00BF and of U+2000 to U+207F.
    prefix: &'static [u8],
}

/// Character that replaces unsafe characters.
pub(crate) const REPLACEMENT: &str = "\u{fffd}";

impl<W: Write> SafeWriter<W> {
    pub(crate) fn new(out: W) -> SafeWriter<W> {
        SafeWriter { out, prefix: b"" }
    }
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut safe = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            // A prefix that is not continued is not UTF-8, and is dropped.
            let prefix = std::mem::take(&mut self.prefix);
            match (prefix, byte) {
                (_, 0xc2) => self.prefix = b"\xc2",
                (_, 0xe2) => self.prefix = b"\xe2",
                (b"\xe2", 0x80) => self.prefix = b"\xe2\x80",
                (b"\xe2", 0x81) => self.prefix = b"\xe2\x81",
                (b"\xc2", 0x80..=0x9f) | (b"\xe2\x80", 0xaa..=0xae) | (b"\xe2\x81", 0xa6..=0xa9) => {
                    safe.extend(REPLACEMENT.bytes());
                }
                (_, 0x80..=0xbf) => safe.extend(prefix.iter().chain([&byte])),
                (_, b'\n' | b'\t') => safe.push(byte),
                (_, 0..=0x1f | 0x7f) => safe.extend(REPLACEMENT.bytes()),
                _ => safe.push(byte),
            }
        }
        self.out.write_all(&safe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
#[path = "../../tests/units/cli/terminal.rs"]
mod tests;
