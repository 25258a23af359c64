//! Formats reports as Markdown, for GitHub issues. Names from a snapshot are escaped or put into code spans, so that
//! they cannot act as markup.

use crate::text::cell_text::{exact, is_numeric, left_out_text, short, threshold_text, total_row};
use protocol::category::category_label;
use protocol::{Cell, Report, Sheet, SheetRow, Tone};

/// Maximum number of stacks per table.
const MAX_STACKS: usize = 3;
/// Maximum number of frames per stack. Outer frames are omitted.
const MAX_FRAMES: usize = 24;

/// Formats a report as Markdown. `subject` is the file and device that it describes: `run.pickle · GPU 0`.
pub fn markdown(report: &Report, subject: &str) -> String {
    let mut text = String::from("## ");
    text.push_str(report.topic.title());
    text.push_str(": ");
    write_escaped(&mut text, subject);
    text.push_str("\n\n");
    for statement in &report.statements {
        text.push_str(match statement.tone {
            Tone::Fact => "- ",
            Tone::Good => "- ✓ ",
            Tone::Alarm => "- **!** ",
        });
        write_escaped(&mut text, &statement.text);
        text.push('\n');
        if !statement.fix.is_empty() {
            text.push_str("  - Fix: ");
            write_escaped(&mut text, &statement.fix);
            text.push('\n');
        }
    }
    report.sheets.iter().for_each(|sheet| write_sheet(&mut text, sheet));
    text
}

fn write_sheet(text: &mut String, sheet: &Sheet) {
    text.push_str("\n### ");
    write_escaped(text, &sheet.title);
    text.push_str("\n\n");
    let threshold = sheet.threshold.as_ref().map(threshold_text);
    for note in [Some(&sheet.note), threshold.as_ref()].into_iter().flatten().filter(|note| !note.is_empty()) {
        write_escaped(text, note);
        text.push_str("\n\n");
    }
    if sheet.rows.is_empty() && sheet.left_out == 0 {
        text.push_str("None.\n");
        return;
    }
    for column in &sheet.columns {
        text.push_str("| ");
        write_escaped(text, &column.label);
        text.push(' ');
    }
    text.push_str("|\n");
    for column in 0..sheet.columns.len() {
        text.push_str(if is_numeric(sheet, column) { "| --: " } else { "| --- " });
    }
    text.push_str("|\n");
    sheet.rows.iter().for_each(|row| write_row(text, sheet, row));
    total_row(sheet).iter().for_each(|row| write_row(text, sheet, row));
    if let Some(words) = left_out_text(sheet) {
        text.push('\n');
        text.push_str(&words);
        text.push('\n');
    }
    let mut listed: Vec<&SheetRow> = Vec::new();
    for row in sheet.rows.iter().filter(|row| !row.stack.is_empty()) {
        if listed.len() < MAX_STACKS && listed.iter().all(|known| known.stack != row.stack) {
            listed.push(row);
        }
    }
    if !listed.is_empty() {
        text.push_str("\n<details><summary>Stacks of the first rows (largest allocation of each)</summary>\n");
        listed.into_iter().for_each(|row| write_stack(text, row));
        text.push_str("\n</details>\n");
    }
}

fn write_row(text: &mut String, sheet: &Sheet, row: &SheetRow) {
    for column in 0..sheet.columns.len() {
        text.push_str("| ");
        if column == 0 {
            // Markdown keeps an em space as indentation.
            (0..row.depth.min(64)).for_each(|_| text.push('\u{2003}'));
        }
        match row.cells.get(column) {
            None | Some(Cell::Empty) => {}
            Some(Cell::Text(name)) if sheet.columns.get(column).is_some_and(|it| it.key == "category") => {
                write_code(text, category_label(name));
            }
            Some(Cell::Text(name)) => write_code(text, name),
            Some(cell @ (Cell::Bytes(_) | Cell::Change(_))) => {
                let (exact, short) = (exact(cell), short(cell));
                text.push_str(&exact);
                if short != exact {
                    text.push_str(" (");
                    text.push_str(&short);
                    text.push(')');
                }
            }
            Some(cell) => write_escaped(text, &exact(cell)),
        }
        text.push(' ');
    }
    text.push_str("|\n");
}

/// Writes a row's stack as a code block. The fence is longer than any run of backticks in the frames.
fn write_stack(text: &mut String, row: &SheetRow) {
    // Python frames are preferred, because dozens of C++ frames may precede them.
    let is_python = |frame: &&String| frame.contains(".py:");
    let has_python = row.stack.iter().any(|frame| is_python(&frame));
    let listed = || row.stack.iter().filter(|frame| !has_python || is_python(frame));
    let frames: Vec<&String> = listed().take(MAX_FRAMES).collect();
    let fence = "`".repeat(frames.iter().map(|frame| longest_run(frame)).max().unwrap_or(0).max(2) + 1);
    text.push('\n');
    // The last text cell is the call site, if the sheet has one. The row's bytes would read as those of this stack.
    if let Some(Cell::Text(name)) = row.cells.iter().rfind(|cell| matches!(cell, Cell::Text(name) if !name.is_empty()))
    {
        write_code(text, name);
        text.push_str(":\n\n");
    }
    text.push_str(&fence);
    text.push('\n');
    for frame in &frames {
        text.extend(frame.chars().map(visible));
        text.push('\n');
    }
    if listed().nth(MAX_FRAMES).is_some() {
        text.push_str("…\n");
    }
    text.push_str(&fence);
    text.push('\n');
}

/// Writes a code span for a table cell. A `|` is escaped, because GitHub ends the cell at a `|` even inside code. A
/// name that starts or ends with a backtick or a space is padded with spaces.
fn write_code(text: &mut String, name: &str) {
    if name.is_empty() {
        return;
    }
    let fence = "`".repeat(longest_run(name) + 1);
    let space = if name.starts_with(['`', ' ']) || name.ends_with(['`', ' ']) { " " } else { "" };
    text.push_str(&fence);
    text.push_str(space);
    for character in name.chars().map(visible) {
        if character == '|' {
            text.push('\\');
        }
        text.push(character);
    }
    text.push_str(space);
    text.push_str(&fence);
}

/// Returns a name as a code span for a table cell or a heading.
pub fn code_span(name: &str) -> String {
    let mut text = String::new();
    write_code(&mut text, name);
    text
}

/// Returns text with escapes, so that it cannot contain markup.
pub fn escaped(words: &str) -> String {
    let mut text = String::new();
    write_escaped(&mut text, words);
    text
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// Replaces control characters and line separators by U+FFFD.
fn visible(character: char) -> char {
    if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') { '\u{fffd}' } else { character }
}

/// Writes text with escapes, so that it cannot contain markup, links, mentions or references to issues.
fn write_escaped(text: &mut String, words: &str) {
    let mut previous = '\n';
    for character in words.chars().map(visible) {
        let begins_link = character == '.' && matches!(previous, 'w' | 'W') || character == '/' && previous == ':';
        if begins_link
            || matches!(character, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '!' | '&' | '#' | '$')
        {
            text.push('\\');
        }
        text.push(character);
        if matches!(character, '@' | '#') {
            // Zero-width space. GitHub resolves mentions and references after it has removed backslash escapes.
            text.push('\u{200b}');
        }
        previous = character;
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/markdown.rs"]
mod tests;
