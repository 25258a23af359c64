//! Width, wrapping and drawing of text in terminal cells.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use ui::text::names::keep_units;

/// Role of a text, which determines its style. Styles use the terminal's own colours, which suit its background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Soft,
    Strong,
    /// For interactive elements and the cursor.
    Accent,
    /// For warnings, the peak and OOMs.
    Alarm,
    Good,
    Heading,
}

impl Tone {
    pub(crate) fn style(self) -> Style {
        let style = Style::new();
        match self {
            Tone::Plain => style,
            Tone::Soft => style.add_modifier(Modifier::DIM),
            Tone::Strong => style.add_modifier(Modifier::BOLD),
            Tone::Accent => style.fg(Color::Cyan),
            Tone::Alarm => style.fg(Color::Red).add_modifier(Modifier::BOLD),
            Tone::Good => style.fg(Color::Green),
            Tone::Heading => style.add_modifier(Modifier::BOLD).add_modifier(Modifier::UNDERLINED),
        }
    }
}

/// Returns the width of a text in cells.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { Span::raw(text).width() }
}

/// Truncates a text to a width in cells. A truncated text ends in `…`.
pub(crate) fn truncate(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    let (mut kept, mut used) = (String::new(), 0);
    for c in text.chars() {
        let wide = width(c.encode_utf8(&mut [0; 4]));
        if used + wide + 1 > cells {
            break;
        }
        used += wide;
        kept.push(c);
    }
    if cells > 0 {
        kept.push('…');
    }
    kept
}

/// Right-aligns a text by padding it to `cells` cells.
pub(crate) fn align_right(text: &str, cells: usize) -> String {
    [&" ".repeat(cells.saturating_sub(width(text))), text].concat()
}

/// Left-aligns a text by padding or truncating it to `cells` cells.
pub(crate) fn align_left(text: &str, cells: usize) -> String {
    let mut text = truncate(text, cells);
    let missing = cells.saturating_sub(width(&text));
    text.push_str(&" ".repeat(missing));
    text
}

/// Wraps a text into lines of at most `cells` cells, between words if possible. Numbers keep their units.
pub(crate) fn wrap(text: &str, cells: usize) -> Vec<String> {
    let cells = cells.max(1);
    let mut lines = Vec::new();
    for paragraph in keep_units(text).split('\n') {
        let mut line = String::new();
        let words = paragraph.split(' ').filter(|word| !word.is_empty());
        for word in words.flat_map(|word| word.split(if width(word) > cells { '\u{a0}' } else { ' ' })) {
            let joint = usize::from(!line.is_empty());
            if joint > 0 && width(&line) + joint + width(word) > cells {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            for c in word.chars() {
                if width(&line) + width(c.encode_utf8(&mut [0; 4])) > cells {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(c);
            }
        }
        lines.push(line);
    }
    lines.iter_mut().for_each(|line| *line = line.replace('\u{a0}', " "));
    lines
}

/// A line of text that consists of pieces with different styles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Line {
    pub(crate) pieces: Vec<(String, Style)>,
}

impl Line {
    pub(crate) fn new(text: impl Into<String>, tone: Tone) -> Line {
        Line::default().with(text, tone)
    }

    pub(crate) fn with(self, text: impl Into<String>, tone: Tone) -> Line {
        self.styled(text, tone.style())
    }

    pub(crate) fn styled(mut self, text: impl Into<String>, style: Style) -> Line {
        self.pieces.push((text.into(), style));
        self
    }

    /// Inverts the colours of the line if `is_active` is true.
    pub(crate) fn active_if(mut self, is_active: bool) -> Line {
        if is_active {
            for (_, style) in &mut self.pieces {
                *style = style.add_modifier(Modifier::REVERSED);
            }
        }
        self
    }
}

/// Writes a text into the first row of an area. Returns the number of cells used.
pub(crate) fn write_text(buffer: &mut Buffer, row: Rect, text: &str, style: Style) -> u16 {
    if row.is_empty() {
        return 0;
    }
    let (x, _) = buffer.set_stringn(row.x, row.y, text, usize::from(row.width), style);
    x.saturating_sub(row.x)
}

/// Writes a line into a row. A line that does not fit ends in `…`.
pub(crate) fn write_line(buffer: &mut Buffer, row: Rect, line: &Line) {
    let mut rest = row;
    let last = line.pieces.len().saturating_sub(1);
    for (at, (text, style)) in line.pieces.iter().enumerate() {
        let text = if at == last { truncate(text, usize::from(rest.width)) } else { text.clone() };
        let used = write_text(buffer, rest, &text, *style);
        (rest.x, rest.width) = (rest.x + used, rest.width - used);
    }
}

/// Writes a line into the row of a pane with the given index, if the pane has that row.
pub(crate) fn write_row(buffer: &mut Buffer, pane: Rect, index: usize, line: &Line) {
    if let Some(row) = pane_row(pane, index) {
        write_line(buffer, row, line);
    }
}

/// Sets the style of all cells in a row.
pub(crate) fn fill(buffer: &mut Buffer, row: Rect, style: Style) {
    buffer.set_style(row.intersection(*buffer.area()), style);
}

/// Returns the row of a pane with the given index, or `None` if the pane has fewer rows.
pub(crate) fn pane_row(pane: Rect, index: usize) -> Option<Rect> {
    let index = u16::try_from(index).ok().filter(|index| *index < pane.height)?;
    Some(Rect { y: pane.y + index, height: 1, ..pane })
}

#[cfg(test)]
#[path = "../../tests/units/tui/text.rs"]
mod tests;
