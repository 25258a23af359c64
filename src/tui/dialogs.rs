//! Draws dialogs over the panes: help, command palette and link.

use crate::app::App;
use crate::bindings::{
    BindingScope, KeyCommand, TERMINAL_BINDINGS, TerminalBinding as Bound, TerminalCommand, keys_here, works_here,
};
use crate::field::FieldPurpose;
use crate::text::{Line, Tone, align_left, align_right, pane_row, truncate, width, wrap, write_line};
use crate::views::rows::{lines, scroll_to_show};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ui::features::palette::PaletteTarget;
use ui::shell::help::{SYNTAX_TITLE, groups};
use ui::shell::{commands, palette_entries};
use ui::state::binding::KeyScope;
use ui::state::stage::Help;
use ui::text::tab::Tab;

/// Target of a palette entry: a target of the page, or a command of the terminal interface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TuiTarget {
    Page(PaletteTarget),
    Terminal(TerminalCommand),
}

/// An entry of the command palette.
pub(crate) struct Entry {
    pub(crate) target: TuiTarget,
    pub(crate) name: String,
    kind: &'static str,
    keys: String,
}

fn keys_text(keys: &[&'static str]) -> String {
    keys.iter().map(|key| key_text(key)).collect::<Vec<_>>().join("  ")
}

/// Formats a key for display, such as `q`, `Q`, `Ctrl+E` or `Shift+←`.
fn key_text(key: &str) -> String {
    let (held, key) = match key.rfind('+') {
        Some(at) if at > 0 && at + 1 < key.len() => key.split_at(at + 1),
        _ => ("", key),
    };
    let is_letter = key.len() == 1 && key.bytes().all(|letter| letter.is_ascii_alphabetic());
    let name = match key {
        "ArrowLeft" => "←",
        "ArrowRight" => "→",
        "ArrowUp" => "↑",
        "ArrowDown" => "↓",
        "PageUp" => "PgUp",
        "PageDown" => "PgDn",
        "Escape" => "Esc",
        key => key,
    };
    match held {
        "Shift+" if is_letter => name.to_uppercase(),
        "" => name.to_owned(),
        held if is_letter => [held, &name.to_uppercase()].concat(),
        held => [held, name].concat(),
    }
}

/// Returns the palette entries that match the typed text, best match first.
pub(crate) fn palette_entries(app: &App) -> Vec<Entry> {
    let state = &app.state;
    let page = palette_entries::view(state).entries.into_iter().filter_map(|entry| {
        let keys = match entry.target {
            PaletteTarget::Command(place) => {
                let command = commands::all().nth(place).filter(|command| works_here(*command))?;
                keys_text(&keys_here(command))
            }
            _ => String::new(),
        };
        Some(Entry { target: TuiTarget::Page(entry.target), name: entry.name, kind: entry.kind, keys })
    });
    let words: Vec<String> = state.palette.text.split_whitespace().map(str::to_lowercase).collect();
    let matches = |text: &str| words.iter().all(|word| text.to_lowercase().contains(word.as_str()));
    let terminal_entries = TERMINAL_BINDINGS.iter().filter_map(|line| match line.does {
        KeyCommand::Terminal(command) if is_everywhere(line) && matches(line.label) => Some(Entry {
            target: TuiTarget::Terminal(command),
            name: line.label.to_owned(),
            kind: "Terminal",
            keys: keys_text(line.keys),
        }),
        _ => None,
    });
    page.chain(terminal_entries).collect()
}

fn is_everywhere(line: &Bound) -> bool {
    matches!(line.at, BindingScope::Page(KeyScope::Page | KeyScope::Timeline))
}

/// Returns the target of the selected palette entry, or `None` if no entry matches.
pub(crate) fn selected_target(app: &App) -> Option<TuiTarget> {
    let entries = palette_entries(app);
    let index = app.selected_entry.min(entries.len().saturating_sub(1));
    entries.get(index).map(|entry| entry.target)
}

pub(crate) fn draw(app: &App, buffer: &mut Buffer) {
    let all = app.layout.all;
    let area = Rect { y: all.y + 1, height: all.height.saturating_sub(2), ..all };
    if app.field.as_ref().is_some_and(|field| field.purpose == FieldPurpose::Palette) {
        palette(app, buffer, area);
    } else if app.state.help == Help::Open {
        help(app, buffer, area);
    } else if let Some(link) = &app.link {
        let cells = usize::from(area.width.saturating_sub(4));
        let text: Vec<Line> =
            link.iter().flat_map(|text| wrap(text, cells)).map(|text| Line::new(text, Tone::Plain)).collect();
        let height = u16::try_from(text.len()).unwrap_or(area.height).saturating_add(2).min(area.height);
        let pane =
            draw_frame(buffer, Rect { height, ..area }, " Link and commands · y copies the first command, Esc closes ");
        lines(buffer, pane, &text, 0);
    }
}

/// Clears a pane and draws a frame around it. Returns the area inside the frame.
fn draw_frame(buffer: &mut Buffer, pane: Rect, title: &str) -> Rect {
    for at in pane.positions() {
        if let Some(cell) = buffer.cell_mut(at) {
            cell.reset();
        }
    }
    if let Some(row) = pane_row(pane, 0) {
        let title = [" ", title, &"─".repeat(usize::from(pane.width))].concat();
        write_line(
            buffer,
            row,
            &Line::new(title.chars().take(usize::from(pane.width)).collect::<String>(), Tone::Accent),
        );
    }
    if let Some(row) = pane_row(pane, usize::from(pane.height.saturating_sub(1))) {
        write_line(buffer, row, &Line::new("─".repeat(usize::from(pane.width)), Tone::Accent));
    }
    Rect { x: pane.x + 2, y: pane.y + 1, width: pane.width.saturating_sub(4), height: pane.height.saturating_sub(2) }
}

/// Width of the palette's column that shows the kind of each entry, in cells.
const KIND_WIDTH: usize = 13;

fn palette(app: &App, buffer: &mut Buffer, area: Rect) {
    let entries = palette_entries(app);
    let height = area.height.min(16);
    let pane = draw_frame(buffer, Rect { y: area.bottom().saturating_sub(height), height, ..area }, " Commands ");
    let active = app.selected_entry.min(entries.len().saturating_sub(1));
    let wide = entries.iter().map(|entry| width(&entry.keys)).max().unwrap_or(0).min(18);
    let text: Vec<Line> = entries
        .iter()
        .enumerate()
        .map(|(at, entry)| {
            let available = usize::from(pane.width).saturating_sub(wide + KIND_WIDTH + 4);
            let name = align_left(&entry.name, available);
            let kind = align_right(&truncate(entry.kind, KIND_WIDTH), KIND_WIDTH);
            let line = Line::new(name, Tone::Plain).with([&kind, "  "].concat(), Tone::Soft);
            let line = line.with(align_left(&entry.keys, wide), Tone::Accent);
            line.active_if(at == active)
        })
        .collect();
    if text.is_empty() {
        return lines(buffer, pane, &[Line::new("No matches.", Tone::Soft)], 0);
    }
    let top = scroll_to_show(0, [active, active], usize::from(pane.height), text.len());
    lines(buffer, pane, &text, top);
}

/// Returns the lines of the help: keys of the terminal interface, then keys of the page that also work in the terminal.
pub(crate) fn help_lines(app: &App, cells: usize) -> Vec<Line> {
    let words: Vec<String> = app.state.help_filter.split_whitespace().map(str::to_lowercase).collect();
    let mut all: Vec<(&str, Vec<(String, &str)>)> = Vec::new();
    let panes = [
        ("In the terminal", BindingScope::Page(KeyScope::Page)),
        ("Timeline, in the terminal", BindingScope::Page(KeyScope::Timeline)),
        ("Insights, in the terminal", BindingScope::Page(KeyScope::Tab(Tab::Insights))),
        ("Call tree, in the terminal", BindingScope::Page(KeyScope::Tab(Tab::CallTree))),
        ("Side pane", BindingScope::Side),
    ];
    for (title, at) in panes {
        let rows = TERMINAL_BINDINGS.iter().filter(|line| line.at == at).map(|line| (keys_text(line.keys), line.label));
        all.push((title, rows.collect()));
    }
    for group in groups("") {
        let row = |row: ui::shell::help::Row| {
            if group.title == SYNTAX_TITLE {
                return Some((row.keys.join("  "), row.text));
            }
            let command = commands::all().find(|command| command.title == row.text && works_here(*command))?;
            Some((keys_text(&keys_here(command)), row.text)).filter(|(keys, _)| !keys.is_empty())
        };
        all.push((group.title, group.rows.into_iter().filter_map(row).collect()));
    }
    let mut text = Vec::new();
    for (title, rows) in all {
        let matches = |keys: &str, label: &str| {
            let text = [title, " ", keys, " ", label].concat().to_lowercase();
            words.iter().all(|word| text.contains(word.as_str()))
        };
        let rows: Vec<_> = rows.into_iter().filter(|(keys, label)| matches(keys, label)).collect();
        if rows.is_empty() {
            continue;
        }
        text.push(Line::new(title, Tone::Heading));
        for (keys, label) in rows {
            let wide = if cells < 70 { 20 } else { 30 };
            text.push(Line::new(align_left(&keys, wide), Tone::Accent).with(["  ", label].concat(), Tone::Plain));
        }
        text.push(Line::default());
    }
    if text.is_empty() {
        text.push(Line::new("No matches.", Tone::Soft));
    }
    text
}

fn help(app: &App, buffer: &mut Buffer, area: Rect) {
    let pane = draw_frame(buffer, area, " Keys · ↑↓ scroll, / filters, Esc closes ");
    let text = help_lines(app, usize::from(pane.width));
    let max_scroll = text.len().saturating_sub(usize::from(pane.height));
    lines(buffer, pane, &text, app.scrolled.help.min(max_scroll));
}
