//! Renders Markdown as plain text for the terminal: `memscape help TOPIC`.

use super::terminal::{text_width, wrap};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Space between the columns of a table.
const GAP: &str = "  ";
/// Indentation of code blocks.
const CODE_INDENT: &str = "    ";
/// Minimum width that a column of a table is narrowed to.
const MIN_COLUMN: usize = 8;

/// Renders Markdown as text with lines of at most `width` columns. Code blocks are not wrapped. A link to another page
/// of the manual is followed by the command that prints the page. Of a picture only its description is kept.
pub(crate) fn to_text(markdown: &str, width: usize) -> String {
    let mut text = Text { width, ..Text::default() };
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        text.push(event);
    }
    text.out
}

/// Text rendered so far, and the state of open elements.
#[derive(Default)]
struct Text {
    width: usize,
    out: String,
    /// Text of the open paragraph, heading, list item or table cell.
    inline: String,
    /// Target of the open link.
    link: String,
    /// Number of open lists.
    lists: usize,
    /// True until the first line of the open list item is written.
    starts_item: bool,
    is_code: bool,
    /// Rows of the open table.
    rows: Vec<Vec<String>>,
}

impl Text {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) if self.is_code => {
                for line in text.lines() {
                    self.out += &[if line.is_empty() { "" } else { CODE_INDENT }, line, "\n"].concat();
                }
            }
            Event::Text(text) => self.inline += &text,
            Event::Code(text) => self.inline += &["`", &text, "`"].concat(),
            Event::SoftBreak | Event::HardBreak => self.inline.push(' '),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } | Tag::Table(_) => self.blank_line(),
            Tag::Paragraph if self.lists == 0 => self.blank_line(),
            Tag::CodeBlock(_) => {
                self.blank_line();
                self.is_code = true;
            }
            Tag::List(_) => {
                if self.lists == 0 {
                    self.blank_line();
                }
                self.end_block();
                self.lists += 1;
            }
            Tag::Item => self.starts_item = true,
            Tag::Link { dest_url, .. } => self.link = dest_url.into_string(),
            Tag::Image { .. } => self.inline += "[Picture: ",
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let line = if level == HeadingLevel::H1 { "=" } else { "-" };
                self.inline = [&*self.inline, "\n", &line.repeat(text_width(&self.inline))].concat();
                self.out += &[&*std::mem::take(&mut self.inline), "\n"].concat();
            }
            TagEnd::Paragraph | TagEnd::Item => self.end_block(),
            TagEnd::CodeBlock => self.is_code = false,
            TagEnd::List(_) => self.lists -= 1,
            TagEnd::Link => self.end_link(),
            TagEnd::Image => self.inline.push(']'),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                self.rows.last_mut().into_iter().for_each(|row| row.push(cell.clone()));
            }
            TagEnd::Table => {
                let rows = std::mem::take(&mut self.rows);
                self.out += &table(&rows, self.width);
            }
            _ => {}
        }
    }

    /// Writes an empty line, unless nothing is written yet.
    fn blank_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    /// Writes the open paragraph or list item, wrapped and indented.
    fn end_block(&mut self) {
        let text = std::mem::take(&mut self.inline);
        if text.is_empty() {
            return;
        }
        let indent = "  ".repeat(self.lists);
        let first = match self.lists.checked_sub(1) {
            Some(outer) if std::mem::take(&mut self.starts_item) => ["  ".repeat(outer), "- ".to_owned()].concat(),
            _ => indent.clone(),
        };
        for (at, line) in wrap(&text, self.width.saturating_sub(indent.len())).iter().enumerate() {
            self.out += &[if at == 0 { &first } else { &indent }, &**line, "\n"].concat();
        }
    }

    /// Appends the target of a link to its text.
    fn end_link(&mut self) {
        let link = std::mem::take(&mut self.link);
        let (path, _) = link.split_once('#').unwrap_or((&link, ""));
        if link.contains("://") {
            self.inline += &[" <", &link, ">"].concat();
        } else if let Some(topic) = path.strip_suffix(".md").filter(|topic| *topic != "index") {
            self.inline += &[" (memscape help ", topic, ")"].concat();
        }
    }
}

/// Renders the rows of a table, whose first row is the head. Wide columns are narrowed and their cells wrapped.
fn table(rows: &[Vec<String>], width: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| text_width(cell)).max();
    let mut widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
    let gaps = columns.saturating_sub(1) * GAP.len();
    while widths.iter().sum::<usize>() + gaps > width
        && let Some(largest) = widths.iter_mut().max().filter(|largest| **largest > MIN_COLUMN)
    {
        *largest -= 1;
    }
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        let is_head = at == 0;
        if is_head && row.iter().all(String::is_empty) {
            continue;
        }
        let cells: Vec<Vec<String>> = row.iter().zip(&widths).map(|(cell, &width)| wrap(cell, width)).collect();
        for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let parts = cells.iter().zip(&widths).map(|(cell, &width)| {
                let part = cell.get(line).map_or("", String::as_str);
                [part, &" ".repeat(width.saturating_sub(text_width(part)))].concat()
            });
            text += &[parts.collect::<Vec<_>>().join(GAP).trim_end(), "\n"].concat();
        }
        if is_head {
            let lines: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
            text += &[&*lines.join(GAP), "\n"].concat();
        }
    }
    text
}

#[cfg(test)]
#[path = "../../tests/units/cli/markdown_text.rs"]
mod tests;
