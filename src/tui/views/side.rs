//! The side pane: the selection with its stack, the cursor, the legend, and facts about the file.

use super::rows::lines;
use crate::app::App;
use crate::cells::{self, Depth};
use crate::panes::Focus;
use crate::text::{Line, Tone, cut, fill, left, put, right, width, wrapped};
use picture::timeline::paint::SHADES;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ui::details::{self, FrameKind, FrameView, Run};
use ui::side::Side;
use ui::summary::{Fact, facts};
use ui::{find, legend, moment, range};

/// Minimum width of the labels of facts.
const LABEL: usize = 15;

pub(crate) fn draw(app: &App, buffer: &mut Buffer) {
    let pane = app.places.side;
    if pane.is_empty() {
        return;
    }
    let head = Rect { height: 1, ..pane };
    let line = Style::new().add_modifier(Modifier::UNDERLINED);
    fill(buffer, head, line);
    for (side, place, name) in tab_places(pane) {
        let is_seen = side == app.state.side;
        let mut style = if is_seen { line.add_modifier(Modifier::REVERSED) } else { line };
        if is_seen && app.focus == Focus::Side {
            style = style.add_modifier(Modifier::BOLD);
        }
        put(buffer, place, name, style);
    }
    let body = Rect { y: pane.y + 1, height: pane.height.saturating_sub(1), ..pane };
    // Leave an empty column between the panes.
    let body = if pane.x > 0 { Rect { x: body.x + 1, width: body.width.saturating_sub(1), ..body } } else { body };
    let all = content(app, usize::from(body.width));
    let most = all.len().saturating_sub(usize::from(body.height));
    lines(buffer, body, &all, app.scrolled.side.min(most));
}

/// Returns the position and name of each tab of the pane.
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

/// Returns the lines of the visible tab.
pub(crate) fn content(app: &App, cells: usize) -> Vec<Line> {
    match app.state.side {
        Side::Selection => selection(app, cells),
        Side::Legend => legend(app, cells),
        Side::File => file(app, cells),
    }
}

fn fact(fact: (&str, &str), cells: usize) -> Vec<Line> {
    let (label, value) = fact;
    let head = left(label, LABEL.max(width(label) + 1));
    let room = cells.saturating_sub(width(&head));
    let values = wrapped(value, room.max(8));
    let line = |(at, value): (usize, String)| {
        let head = if at == 0 { head.clone() } else { " ".repeat(width(&head)) };
        Line::of(head, Tone::Soft).and(value, Tone::Plain)
    };
    values.into_iter().enumerate().map(line).collect()
}

fn own(of: &Fact, cells: usize) -> Vec<Line> {
    fact((&of.label, &of.value), cells)
}

/// Returns the lines about the selected allocation with its stack, the cursor and the range.
pub(crate) fn selection(app: &App, cells: usize) -> Vec<Line> {
    let state = &app.state;
    let mut all = Vec::new();
    if let Some(details) = state.selection.as_deref() {
        let view = details::view(details);
        all.push(
            Line::of(view.title.clone(), Tone::Strong)
                .and(view.site.iter().fold(String::new(), |_, site| ["  ", site].concat()), Tone::Accent),
        );
        all.extend(view.caution.iter().flat_map(|text| wrapped(text, cells)).map(|text| Line::of(text, Tone::Alarm)));
        all.extend(view.key.iter().flat_map(|it| own(it, cells)));
        let same = find::same_stack(state);
        all.extend(
            Some(same).filter(|text| !text.is_empty()).iter().flat_map(|text| fact(("Same stack", text), cells)),
        );
        all.push(Line::default());
        all.push(Line::of(view.stack_title.clone(), Tone::Strong));
        for run in view.runs() {
            match run {
                Run::Own(frame) => all.extend(frame_lines(app, frame, cells)),
                Run::Internal(frames) => {
                    let text = base::units::counted(frames.len() as u64, "internal frame");
                    all.push(Line::of(["  ", &text].concat(), Tone::Soft));
                }
            }
        }
        if !view.forward.is_empty() {
            all.push(Line::of("Forward", Tone::Strong));
            all.extend(view.forward.iter().map(|text| Line::of(["  ", text.trim_end()].concat(), Tone::Soft)));
        }
        all.push(Line::default());
        all.extend(view.facts.iter().flat_map(|it| own(it, cells)));
        all.push(Line::default());
    } else {
        let text = "Nothing is selected. Enter selects the allocation at the cursor; / searches; a list's rows select.";
        all.extend(wrapped(text, cells).into_iter().map(|text| Line::of(text, Tone::Soft)));
        all.push(Line::default());
    }
    let at = moment::view(state);
    all.push(Line::of(at.title, Tone::Strong));
    for (label, value) in &at.lines {
        all.extend(fact((label, value), cells));
    }
    if let Some(view) = range::view(state) {
        all.push(Line::default());
        all.push(Line::of(if view.is_extended { "Range (x ends it)" } else { "Range" }, Tone::Strong));
        for (label, value) in &view.lines {
            all.extend(fact((label, value), cells));
        }
    }
    all
}

fn frame_lines(app: &App, frame: &FrameView, cells: usize) -> Vec<Line> {
    let [file, line] = &frame.source;
    let place = app.state.settings.place(file, line);
    let is_own = frame.kind == FrameKind::User;
    let (mark, tone) = if is_own { ("▸ ", Tone::Strong) } else { ("  ", Tone::Soft) };
    let name = Line::of(mark, Tone::Accent).and(cut(&frame.name, cells.saturating_sub(2)), tone);
    let room = cells.saturating_sub(2 + width(&frame.name) + 2);
    let mut lines = if width(&place) <= room {
        vec![name.and(["  ", &place].concat(), Tone::Soft)]
    } else {
        vec![name, Line::of(["    ", &cut(&place, cells.saturating_sub(4))].concat(), Tone::Soft)]
    };
    lines.extend(frame.notes.iter().map(|note| Line::of(["    ", note].concat(), Tone::Soft)));
    lines
}

/// Returns the entries of the legend.
pub(crate) fn legend_lines(app: &App) -> Vec<legend::Line> {
    let state = &app.state;
    let (plot, colouring) = (state.looks.plot, state.coloured_by());
    let entries = state.around.legend_of(colouring).cloned();
    let covered = state.view.as_ref().and_then(|view| state.covered(view));
    let entries = entries.as_deref().map_or(&[][..], Vec::as_slice);
    legend::lines(plot, colouring, entries, &state.around.faded, covered.as_ref())
}

fn legend(app: &App, cells: usize) -> Vec<Line> {
    let state = &app.state;
    let entries = legend_lines(app);
    let title = legend::heading(state.looks.plot, state.coloured_by());
    let mut all = vec![
        Line::of(left(&title, cells.saturating_sub(22)), Tone::Strong)
            .and(right("cursor", 11) + &right("peak", 11), Tone::Soft),
    ];
    let ordered = state.coloured_by().is_ordered();
    let palette = if ordered { &app.look.ordered } else { &app.look.palette };
    for (at, line) in entries.iter().enumerate() {
        let rgba = palette.get((line.slot * SHADES) as usize).copied().unwrap_or_default();
        let swatch = match (line.faded, app.screen.depth) {
            (true, _) => ("░░ ".to_owned(), Tone::Soft.style()),
            (false, Depth::None) => (format!("{}  ", cells::letter(line.slot)), Tone::Strong.style()),
            (false, depth) => ("██ ".to_owned(), Style::new().fg(cells::colour(rgba, depth))),
        };
        let numbers: String = line.columns.iter().map(|text| right(text, 11)).collect();
        let room = cells.saturating_sub(3 + width(&numbers));
        let is_active = app.focus == Focus::Side && at == app.entry;
        let text = Line::default()
            .styled(swatch.0, swatch.1)
            .and(left(&line.label, room), Tone::Plain)
            .and(numbers, Tone::Soft);
        all.push(text.active_if(is_active));
    }
    if entries.is_empty() {
        all.push(Line::of("…", Tone::Soft));
    }
    if let Some(line) = entries.get(app.entry).filter(|_| app.focus == Focus::Side) {
        all.push(Line::default());
        all.extend(line.exact.lines().flat_map(|text| wrapped(text, cells)).map(|text| Line::of(text, Tone::Soft)));
    }
    all
}

fn file(app: &App, cells: usize) -> Vec<Line> {
    let state = &app.state;
    let Some((file, device)) = state.file().zip(state.device()) else { return Vec::new() };
    let mut all = Vec::new();
    for headline in crate::around::shown_headlines(app) {
        all.extend(wrapped(&headline.note, cells).into_iter().map(|text| Line::of(text, Tone::Plain)));
    }
    for group in facts(file, device) {
        all.push(Line::default());
        all.push(Line::of(group.title, Tone::Strong));
        all.extend(group.lines.iter().flat_map(|it| own(it, cells)));
    }
    if !file.warnings.is_empty() {
        all.push(Line::default());
        all.push(Line::of("Warnings", Tone::Strong));
        let text = file.warnings.iter().flat_map(|warning| wrapped(&warning.message, cells));
        all.extend(text.map(|text| Line::of(text, Tone::Alarm)));
    }
    all
}
