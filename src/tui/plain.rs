//! Plain mode: prints the screen as lines of text and reads keys as words, for screen readers and scripts.

use crate::app::App;
use crate::layout::PaneAreas;
use crate::panes::Focus;
use crate::status_line::status_text;
use crate::{chrome, views};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use std::io::{self, BufRead, Write};
use ui::state::stage::Help;

/// Width of the printed view in characters.
const COLUMNS: u16 = 160;
/// Height of the printed view in rows.
const ROWS: u16 = 40;
/// Height of the printed side pane in rows.
const SIDE_ROWS: u16 = 60;

/// Prints the screen, then reads lines of input. A line contains names of keys (`T`, `Down`, `Enter`, `Ctrl+e`),
/// `/text` to search, or `:command` to run a command of the palette. After each line, the screen is printed again. Ends
/// with `q` or at the end of the input.
///
/// # Errors
/// Returns the I/O error of `input` or `output`.
pub fn plain(app: &mut App, input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    app.is_plain = true;
    wait_until_idle(app);
    print(app, output)?;
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        run_line(app, line.trim_end_matches(['\n', '\r']));
        line.clear();
        wait_until_idle(app);
        if app.orders.contains(&crate::panes::Order::Quit) {
            break;
        }
        app.orders.clear();
        print(app, output)?;
    }
    output.flush()
}

/// Works until all requests are answered and all ranks are scanned.
pub(crate) fn wait_until_idle(app: &mut App) {
    loop {
        let is_side = app.focus == Focus::Side;
        let rect = |x: u16, y: u16, width: u16, height: u16| Rect { x, y, width, height };
        app.set_layout(PaneAreas {
            all: rect(0, 0, COLUMNS, 4 + ROWS + SIDE_ROWS),
            header: rect(0, 0, COLUMNS, 1),
            reading: rect(0, 1, COLUMNS, 1),
            tabs: rect(0, 2, COLUMNS, 1),
            view: rect(0, 3, COLUMNS, if is_side { 0 } else { ROWS }),
            side: rect(0, 3, COLUMNS, if is_side { SIDE_ROWS } else { 0 }),
            // Not printed, but its size determines the visible window.
            picture: rect(0, 200, COLUMNS, 20),
            ..PaneAreas::default()
        });
        let is_done = !app.work(&mut || true) && !app.take_needs_redraw();
        if is_done && !app.is_surveying() {
            return;
        }
        if is_done {
            // Files are read on another thread.
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

fn run_line(app: &mut App, line: &str) {
    app.message.clear();
    if let Some(text) = line.strip_prefix('/') {
        app.act(ui::shell::action::Action::FindTyped(text.to_owned()));
        return app.command(ui::shell::commands::FIND_NEXT);
    }
    if let Some(text) = line.strip_prefix(':').filter(|text| !text.is_empty()) {
        return app.run_palette(text);
    }
    for word in line.split_whitespace() {
        app.run_key(&key_from_word(word));
    }
}

/// Converts a word of input to the name of a key in the tables of key bindings.
fn key_from_word(word: &str) -> String {
    let (held, key) = match word.rfind('+') {
        Some(at) if at > 0 && at + 1 < word.len() => word.split_at(at + 1),
        _ => ("", word),
    };
    let known = match key.to_lowercase().as_str() {
        "left" => "ArrowLeft",
        "right" => "ArrowRight",
        "up" => "ArrowUp",
        "down" => "ArrowDown",
        "esc" | "escape" => "Escape",
        "enter" => "Enter",
        "space" => "Space",
        "tab" => "Tab",
        "home" => "Home",
        "end" => "End",
        "pageup" => "PageUp",
        "pagedown" => "PageDown",
        "delete" => "Delete",
        "backspace" => "Backspace",
        _ => "",
    };
    if !known.is_empty() {
        return [held, known].concat();
    }
    let is_upper = key.chars().count() == 1 && key.chars().all(char::is_uppercase) && !held.contains("Shift+");
    let shift = if is_upper { "Shift+" } else { "" };
    let key = if key.chars().count() == 1 { key.to_lowercase() } else { key.to_owned() };
    [held, shift, &key].concat()
}

fn print(app: &App, output: &mut dyn Write) -> io::Result<()> {
    screen_text(app).iter().try_for_each(|line| writeln!(output, "{line}"))?;
    output.flush()
}

/// Returns the screen as lines of text. Active lines start with `>`.
pub(crate) fn screen_text(app: &App) -> Vec<String> {
    if let Some(failure) = app.failure() {
        return vec![failure.to_owned()];
    }
    if app.state.help == Help::Open {
        return crate::dialogs::help_lines(app, usize::from(COLUMNS)).iter().map(plain_line).collect();
    }
    if let Some(link) = &app.link {
        return link.clone();
    }
    let mut lines = vec!["— memscape —".to_owned()];
    let area = app.layout.all;
    let mut buffer = Buffer::empty(area);
    chrome::header(app, &mut buffer);
    chrome::cursor_line(app, &mut buffer);
    chrome::tabs(app, &mut buffer);
    views::draw(app, &mut buffer);
    views::side::draw(app, &mut buffer);
    let body = if app.focus == Focus::Side { app.layout.side } else { app.layout.view };
    for y in area.top()..body.bottom() {
        let row = (area.left()..area.right()).filter_map(|x| buffer.cell((x, y)));
        let text: String = row.clone().map(|cell| cell.symbol()).collect();
        let is_active = y >= body.y && row.clone().any(|cell| cell.modifier.contains(Modifier::REVERSED));
        let text = text.trim_end();
        // Skip repeated blank lines.
        if text.is_empty() && lines.last().is_some_and(String::is_empty) {
            continue;
        }
        lines.push(if is_active { ["> ", text].concat() } else { text.to_owned() });
        if y == 0 {
            lines.extend(chrome::shown_headlines(app).into_iter().map(|headline| headline.note));
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let (status, _) = status_text(app);
    lines.extend(Some(status).filter(|status| !status.is_empty()));
    lines
}

fn plain_line(line: &crate::text::Line) -> String {
    line.pieces.iter().map(|(text, _)| text.as_str()).collect::<String>().trim_end().to_owned()
}
