//! Draws the side pane: the selection with its stack, the cursor, the legend, and properties of the file.

use super::rows::lines;
use crate::app::App;
use crate::cells::{self, Depth};
use crate::panes::Focus;
use crate::text::{Line, Tone, align_left, align_right, fill, truncate, width, wrap, write_text};
use picture::timeline::paint::SHADES;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ui::plot::{legend, moment};
use ui::scope::details::{FrameKind, FrameView, Run};
use ui::scope::{details, find, range};
use ui::text::names::shorten;
use ui::text::side::Side;
use ui::text::summary::{Fact, facts};

/// Minimum width of labels in cells.
const LABEL_WIDTH: usize = 15;

pub(crate) fn draw(app: &App, buffer: &mut Buffer) {
    let pane = app.layout.side;
    if pane.is_empty() {
        return;
    }
    let head = Rect { height: 1, ..pane };
    let line = Style::new().add_modifier(Modifier::UNDERLINED);
    fill(buffer, head, line);
    for (side, place, name) in tab_places(pane) {
        let is_current = side == app.state.side;
        let mut style = if is_current { line.add_modifier(Modifier::REVERSED) } else { line };
        if is_current && app.focus == Focus::Side {
            style = style.add_modifier(Modifier::BOLD);
        }
        write_text(buffer, place, name, style);
    }
    let body = Rect { y: pane.y + 1, height: pane.height.saturating_sub(1), ..pane };
    // Leave an empty column between the panes.
    let body = if pane.x > 0 { Rect { x: body.x + 1, width: body.width.saturating_sub(1), ..body } } else { body };
    let all = tab_lines(app, usize::from(body.width));
    let max_scroll = all.len().saturating_sub(usize::from(body.height));
    lines(buffer, body, &all, app.scrolled.side.min(max_scroll));
}

/// Returns the area and the name of each tab of the side pane.
pub(crate) fn tab_places(pane: Rect) -> Vec<(Side, Rect, &'static str)> {
    let mut x = pane.x;
    let names = [(Side::Selection, " Selection "), (Side::Legend, " Legend "), (Side::File, " File ")];
    let place = |(side, name): (Side, &'static str)| {
        let wide = u16::try_from(width(name)).unwrap_or(0);
        let place = Rect { x, width: wide, height: 1, ..pane }.intersection(pane);
        x += wide;
        (side, place, name)
    };
    names.into_iter().map(place).collect()
}

/// Returns the lines of the visible tab of the side pane.
pub(crate) fn tab_lines(app: &App, cells: usize) -> Vec<Line> {
    match app.state.side {
        Side::Selection => selection(app, cells),
        Side::Legend => legend(app, cells),
        Side::File => file(app, cells),
    }
}

fn wrapped_fact(fact: (&str, &str), cells: usize) -> Vec<Line> {
    let (label, value) = fact;
    let head = align_left(label, LABEL_WIDTH.max(width(label) + 1));
    let available = cells.saturating_sub(width(&head));
    let values = wrap(value, available.max(8));
    let line = |(at, value): (usize, String)| {
        let head = if at == 0 { head.clone() } else { " ".repeat(width(&head)) };
        Line::new(head, Tone::Soft).with(value, Tone::Plain)
    };
    values.into_iter().enumerate().map(line).collect()
}

fn fact_lines(fact: &Fact, cells: usize) -> Vec<Line> {
    wrapped_fact((&fact.label, &fact.value), cells)
}

/// Returns lines that describe the selected allocation with its stack, the cursor and the range.
pub(crate) fn selection(app: &App, cells: usize) -> Vec<Line> {
    let state = &app.state;
    let mut all = Vec::new();
    if let Some(details) = state.selection.as_deref() {
        let view = details::view(details);
        all.push(
            Line::new(view.title.clone(), Tone::Strong)
                .with(view.call_site.iter().fold(String::new(), |_, site| ["  ", site].concat()), Tone::Accent),
        );
        all.extend(view.warning.iter().flat_map(|text| wrap(text, cells)).map(|text| Line::new(text, Tone::Alarm)));
        all.extend(view.summary.iter().flat_map(|it| fact_lines(it, cells)));
        let same = find::same_stack_text(state);
        all.extend(
            Some(same)
                .filter(|text| !text.is_empty())
                .iter()
                .flat_map(|text| wrapped_fact(("Same stack", text), cells)),
        );
        all.push(Line::default());
        all.push(Line::new(view.stack_title.clone(), Tone::Strong));
        for run in view.runs() {
            match run {
                Run::Shown(frame) => all.extend(frame_lines(app, frame, cells)),
                Run::Internal(frames) => {
                    let text = base::units::pluralize(frames.len() as u64, "internal frame");
                    all.push(Line::new(["  ", &text].concat(), Tone::Soft));
                }
            }
        }
        if !view.forward.is_empty() {
            all.push(Line::new("Forward", Tone::Strong));
            all.extend(view.forward.iter().map(|text| Line::new(["  ", text.trim_end()].concat(), Tone::Soft)));
        }
        all.push(Line::default());
        all.extend(view.facts.iter().flat_map(|it| fact_lines(it, cells)));
        all.push(Line::default());
    } else {
        let text = "Nothing is selected. Enter selects the allocation at the cursor; / searches; a list's rows select.";
        all.extend(wrap(text, cells).into_iter().map(|text| Line::new(text, Tone::Soft)));
        all.push(Line::default());
    }
    let at = moment::view(state);
    all.push(Line::new(at.title, Tone::Strong));
    for (label, value) in &at.lines {
        all.extend(wrapped_fact((label, value), cells));
    }
    if let Some(view) = range::view(state) {
        all.push(Line::default());
        all.push(Line::new(if view.is_extended { "Range (x ends it)" } else { "Range" }, Tone::Strong));
        for (label, value) in &view.lines {
            all.extend(wrapped_fact((label, value), cells));
        }
    }
    all
}

fn frame_lines(app: &App, frame: &FrameView, cells: usize) -> Vec<Line> {
    let [file, line] = &frame.source;
    let place = app.state.settings.location(file, line);
    let is_own = frame.kind == FrameKind::User;
    let (mark, tone) = if is_own { ("▸ ", Tone::Strong) } else { ("  ", Tone::Soft) };
    let name = Line::new(mark, Tone::Accent).with(truncate(&frame.name, cells.saturating_sub(2)), tone);
    let available = cells.saturating_sub(2 + width(&frame.name) + 2);
    let mut lines = if width(&place) <= available {
        vec![name.with(["  ", &place].concat(), Tone::Soft)]
    } else {
        vec![name, Line::new(["    ", &truncate(&place, cells.saturating_sub(4))].concat(), Tone::Soft)]
    };
    lines.extend(frame.notes.iter().map(|note| Line::new(["    ", note].concat(), Tone::Soft)));
    lines
}

/// Returns the entries of the legend that are displayed.
pub(crate) fn legend_lines(app: &App) -> Vec<legend::Line> {
    let state = &app.state;
    let (plot, colouring) = (state.plot_settings.plot, ui::plot::legend::coloured_by(state));
    let entries = state.surroundings.legend_of(colouring).cloned();
    let covered = state.view().and_then(|view| ui::plot::legend::visible_pixels(state, &view));
    let entries = entries.as_deref().map_or(&[][..], Vec::as_slice);
    legend::lines(plot, colouring, entries, &state.surroundings.faded, covered.as_ref())
}

fn legend(app: &App, cells: usize) -> Vec<Line> {
    let state = &app.state;
    let entries = legend_lines(app);
    let title = legend::heading(state.plot_settings.plot, ui::plot::legend::coloured_by(state));
    let mut all = vec![
        Line::new(align_left(&title, cells.saturating_sub(22)), Tone::Strong)
            .with(align_right("cursor", 11) + &align_right("peak", 11), Tone::Soft),
    ];
    let ordered = ui::plot::legend::coloured_by(state).is_ordered();
    let palette = if ordered { &app.look.ordered } else { &app.look.palette };
    for (at, line) in entries.iter().enumerate() {
        let rgba = palette.get((line.slot * SHADES) as usize).copied().unwrap_or_default();
        let swatch = match (line.faded, app.screen.depth) {
            (true, _) => ("░░ ".to_owned(), Tone::Soft.style()),
            (false, Depth::None) => (format!("{}  ", cells::letter(line.slot)), Tone::Strong.style()),
            (false, depth) => ("██ ".to_owned(), Style::new().fg(cells::colour(rgba, depth))),
        };
        let numbers: String = line.columns.iter().map(|text| align_right(text, 11)).collect();
        let available = cells.saturating_sub(3 + width(&numbers));
        let is_active = app.focus == Focus::Side && at == app.selected_entry;
        let text = Line::default()
            .styled(swatch.0, swatch.1)
            .with(align_left(&shorten(&line.label, line.shared, available), available), Tone::Plain)
            .with(numbers, Tone::Soft);
        all.push(text.active_if(is_active));
    }
    if entries.is_empty() {
        all.push(Line::new("…", Tone::Soft));
    }
    if let Some(line) = entries.get(app.selected_entry).filter(|_| app.focus == Focus::Side) {
        all.push(Line::default());
        all.extend(line.exact.lines().flat_map(|text| wrap(text, cells)).map(|text| Line::new(text, Tone::Soft)));
    }
    all
}

fn file(app: &App, cells: usize) -> Vec<Line> {
    let state = &app.state;
    let Some((file, device)) = state.file().zip(state.device()) else { return Vec::new() };
    let mut all = Vec::new();
    for headline in crate::chrome::shown_headlines(app) {
        all.extend(wrap(&headline.note, cells).into_iter().map(|text| Line::new(text, Tone::Plain)));
    }
    for group in facts(file, device) {
        all.push(Line::default());
        all.push(Line::new(group.title, Tone::Strong));
        all.extend(group.lines.iter().flat_map(|it| fact_lines(it, cells)));
    }
    if !file.warnings.is_empty() {
        all.push(Line::default());
        all.push(Line::new("Warnings", Tone::Strong));
        let text = file.warnings.iter().flat_map(|warning| wrap(&warning.message, cells));
        all.extend(text.map(|text| Line::new(text, Tone::Alarm)));
    }
    all
}
