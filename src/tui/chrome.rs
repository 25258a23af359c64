//! Draws the lines around the timeline and the views: header, minimap, cursor line and tabs.

use crate::app::App;
use crate::cells::BARS;
use crate::panes::Focus;
use crate::text::{Line, Tone, fill, truncate, width, write_line, write_text};
use base::units::Bytes;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ui::features::insights::view::alarms;
use ui::plot::comparing::view::bar;
use ui::scope::{find, range};
use ui::state::range::ViewScope;
use ui::state::stage::Stage;
use ui::text::summary::{Headline, device_name, file_title, headlines};
use ui::text::tab::{Tab, TabGroup};

/// Draws the header: file, device and headline numbers.
pub(crate) fn header(app: &App, buffer: &mut Buffer) {
    let (state, pane) = (&app.state, app.layout.header);
    fill(buffer, pane, Style::new().add_modifier(Modifier::REVERSED));
    let style = Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD);
    let Some((file, device)) = state.drawn_file().zip(state.drawn_device()) else {
        write_text(buffer, pane, " memscape", style);
        return;
    };
    let so_far = ui::session::partial::header_figures(state);
    let mut all = match so_far.as_slice() {
        [] => headline_texts(app),
        numbers => numbers.iter().map(|(label, value)| [label, " ", value].concat()).collect(),
    };
    // On a narrow screen, drop the number that the side pane shows as well.
    if pane.width < 100 && all.len() > 3 {
        all.retain(|text| !text.starts_with("End "));
    }
    let numbers = all.join("  ");
    let count = file.devices.len();
    let position = if count > 1 { format!(" ({} of {count})", state.device_index + 1) } else { String::new() };
    let device = [&device_name(device), position.as_str()].concat();
    let available = usize::from(pane.width).saturating_sub(width(&numbers) + width(&device) + 6);
    let title = truncate(&file_title(file), available.max(8));
    write_text(buffer, pane, &[" ", &title, " · ", &device].concat(), style);
    let wide = u16::try_from(width(&numbers)).unwrap_or(pane.width).min(pane.width);
    let area = Rect { x: pane.right().saturating_sub(wide + 1), width: wide, ..pane };
    if usize::from(pane.width) > width(&numbers) + 12 {
        write_text(buffer, area, &numbers, style);
    }
}

/// Returns the headline numbers (such as the peak) of the displayed device.
pub(crate) fn shown_headlines(app: &App) -> Vec<Headline> {
    let state = &app.state;
    let failed = state.surroundings.marks.latest().and_then(|marks| Some(marks.out_of_memory.last()?.requested));
    state.device().map(|device| headlines(device, failed)).unwrap_or_default()
}

fn headline_texts(app: &App) -> Vec<String> {
    shown_headlines(app).iter().map(|it| [it.label, " ", &it.value].concat()).collect()
}

/// Draws the minimap: live bytes of the whole trace, the visible window, the cursor and the range.
pub(crate) fn minimap(app: &App, buffer: &mut Buffer) {
    let (state, pane) = (&app.state, app.layout.minimap);
    let (Some(overview), Some(window)) = (ui::plot::plots::overview(state), ui::plot::navigate::window(state)) else {
        return;
    };
    let max_bytes = overview.total.iter().chain(&overview.reserved).copied().max().unwrap_or(0).max(1);
    let [own_left, own_right] = ui::plot::navigate::device_axis(state).unwrap_or([0.0, 1.0]);
    let count = overview.total.len();
    let pin = ui::scope::cursor::x_px(state).and_then(|(x, _)| ui::plot::navigate::axis_fraction(state, x));
    let range = ui::scope::range::px(state).and_then(|[from, to]| {
        Some([ui::plot::navigate::axis_fraction(state, from)?, ui::plot::navigate::axis_fraction(state, to)?])
    });
    let steps = u64::from(pane.height) * 8;
    for column in pane.columns() {
        let part = |x: u16| f64::from(x - pane.x) / f64::from(pane.width.max(1));
        let [from, to] = [part(column.x), part(column.x + 1)];
        let at = |part: f64| {
            ((part - own_left) / (own_right - own_left).max(1e-9) * count as f64).clamp(0.0, count as f64) as usize
        };
        let (first, last) = (at(from), at(to).max(at(from) + 1));
        let total = overview.total.get(first..last.min(count)).into_iter().flatten().copied().max().unwrap_or(0);
        let height = (u128::from(total) * u128::from(steps) / u128::from(max_bytes)) as u64;
        let height = if total > 0 { height.max(1) } else { 0 };
        let inside = to > window[0] && from < window[1];
        let holds = |x_part: f64| (from..to).contains(&x_part) || (x_part >= 1.0 && to >= 1.0);
        for (above, row) in column.rows().enumerate() {
            let below = u64::from(pane.height) - 1 - above as u64;
            let eighths = height.saturating_sub(below * 8).min(8) as usize;
            let Some(cell) = buffer.cell_mut((row.x, row.y)) else { continue };
            let mut style = if inside { Tone::Plain.style() } else { Tone::Soft.style() };
            if range.is_some_and(|[a, b]| to > a && from < b) {
                style = Tone::Accent.style();
            }
            if pin.is_some_and(holds) {
                style = Tone::Accent.style().add_modifier(Modifier::REVERSED);
            }
            cell.set_char(BARS.get(eighths).copied().unwrap_or(' ')).set_style(style);
        }
    }
    let gutter = Rect { x: app.layout.gutter.x, width: app.layout.gutter.width, y: pane.y, height: 1 };
    write_text(buffer, gutter, "   trace ", Tone::Soft.style());
}

/// Draws the state of memory at the cursor on the left, and the status of the search on the right.
pub(crate) fn cursor_line(app: &App, buffer: &mut Buffer) {
    let (state, pane) = (&app.state, app.layout.reading);
    write_line(buffer, pane, &cursor_line_text(app));
    let found = find::status(state);
    if !found.text.is_empty() {
        let text = if app.is_exact && !found.exact.is_empty() { &found.exact } else { &found.text };
        let text = [" /", &state.find.text, ": ", text, " "].concat();
        let available = usize::from(pane.width) / 2;
        let text = truncate(&text, available);
        let wide = u16::try_from(width(&text)).unwrap_or(0).min(pane.width);
        let place = Rect { x: pane.right() - wide, width: wide, ..pane };
        let tone = if found.is_error { Tone::Alarm } else { Tone::Accent };
        write_text(buffer, place, &text, tone.style());
    }
}

pub(crate) fn cursor_line_text(app: &App) -> Line {
    let state = &app.state;
    if let Some(bar) = bar(state) {
        let text = if app.is_exact && !bar.cursor_exact.is_empty() { &bar.cursor_exact } else { &bar.cursor };
        let parts = [bar.loading.as_str(), text].into_iter().filter(|part| !part.is_empty());
        let text = parts.collect::<Vec<_>>().join(" · ");
        if !text.is_empty() {
            return Line::new(text, Tone::Plain);
        }
    }
    let moment = ui::plot::moment::view(state);
    let mut parts = Vec::new();
    for (label, value) in &moment.lines {
        let is_known = value != "–" && (*label != "Awaiting free" || !value.starts_with("0 "));
        if is_known {
            let value = value.strip_suffix(" requested").unwrap_or(value);
            // In `1.20 GiB · 1,288,490,189 B`, the second part is the exact number.
            let value = match value.rsplit_once(" · ") {
                Some((short, exact)) if exact.ends_with(" B") => {
                    if app.is_exact {
                        exact
                    } else {
                        short
                    }
                }
                Some((first, _)) => first,
                None => value,
            };
            parts.push([&label.to_lowercase(), " ", value].concat());
        }
    }
    Line::new([moment.title, ": "].concat(), Tone::Accent).with(parts.join(" · "), Tone::Plain)
}

/// Tabs of the terminal, with their shortcut letters.
pub(crate) const TABS: [(Tab, &str, char); 6] = [
    (Tab::Insights, "Insights", 'W'),
    (Tab::CallTree, "Call tree", 'T'),
    (Tab::Flame, "Flame graph", 'F'),
    (Tab::Allocations, "Allocations", 'L'),
    (Tab::Segments, "Segments", 'M'),
    (Tab::Events, "Events", 'A'),
];

/// Returns the area and the text of each tab.
pub(crate) fn tab_areas(app: &App) -> Vec<(Tab, Rect, String)> {
    let pane = app.layout.tabs;
    let is_narrow = pane.width < 100;
    let count = alarms(&app.state.insights).len();
    let mut x = pane.x;
    let mut places = Vec::new();
    for (tab, name, key) in TABS {
        let name = match tab {
            Tab::Flame if is_narrow => "Flame",
            Tab::Allocations if is_narrow => "Allocs",
            _ => name,
        };
        let badge = if tab.group() == TabGroup::Insights && count > 0 { format!(" ⚠{count}") } else { String::new() };
        let text = [" ", &key.to_string(), " ", name, &badge, " "].concat();
        let wide = u16::try_from(width(&text)).unwrap_or(0);
        let place = Rect { x, width: wide, ..pane }.intersection(pane);
        x = x.saturating_add(wide);
        places.push((tab, place, text));
    }
    places
}

/// Draws the tabs, and the scope of the views on the right.
pub(crate) fn tabs(app: &App, buffer: &mut Buffer) {
    let (state, pane) = (&app.state, app.layout.tabs);
    let line = Style::new().add_modifier(Modifier::UNDERLINED);
    fill(buffer, pane, line);
    let mut end = pane.x;
    for (tab, place, text) in tab_areas(app) {
        let is_visible = state.views.visible() == Some(tab);
        let mut style = if is_visible { line.add_modifier(Modifier::REVERSED) } else { line };
        if is_visible && app.focus == Focus::View {
            style = style.add_modifier(Modifier::BOLD);
        }
        write_text(buffer, place, &text, style);
        end = place.right();
    }
    let scope = match ui::scope::cursor::view_scope(state) {
        ViewScope::Cursor => "cursor",
        ViewScope::Range => "range",
        ViewScope::WholeTrace => "whole trace",
        ViewScope::Change => "A → B",
    };
    let rest = Rect { x: end + 1, width: pane.right().saturating_sub(end + 1), ..pane };
    let long = [scope, " · ", &range::title(state).replace('\u{a0}', " ")].concat();
    let text = if width(&long) <= usize::from(rest.width) { long } else { truncate(scope, usize::from(rest.width)) };
    write_text(buffer, rest, &text, line.patch(Tone::Accent.style()));
}

/// Draws the progress of loading a file, or the error if loading failed.
pub(crate) fn loading(app: &App, buffer: &mut Buffer, pane: Rect) {
    let (lines, fraction): (Vec<String>, Option<f64>) = match &app.state.stage {
        Stage::Loading(loading) => {
            let view = loading.view();
            (vec![view.name, view.text], view.fraction)
        }
        Stage::Failed(message) => (vec![message.clone()], None),
        _ => (vec!["Nothing is open. Ctrl+O opens a file, q quits.".to_owned()], None),
    };
    let wide = usize::from(pane.width.saturating_sub(4)).min(72);
    let mut lines: Vec<String> = lines.iter().flat_map(|line| crate::text::wrap(line, wide)).collect();
    if let Some(part) = fraction {
        let full = (part.clamp(0.0, 1.0) * wide as f64) as usize;
        lines.push(["█".repeat(full), "░".repeat(wide - full)].concat());
    }
    let top = pane.y + pane.height.saturating_sub(u16::try_from(lines.len()).unwrap_or(0)) / 3;
    for (at, line) in (0u16..).zip(&lines) {
        let x = pane.x + pane.width.saturating_sub(u16::try_from(wide).unwrap_or(0)) / 2;
        let row = Rect { x, y: top + at, width: pane.right().saturating_sub(x), height: 1 }.intersection(pane);
        write_text(buffer, row, line, Tone::Plain.style());
    }
}

/// Formats bytes, exactly or rounded according to the user's setting.
pub(crate) fn bytes(app: &App, bytes: u64) -> String {
    if app.is_exact { [&base::units::group_digits(bytes), " B"].concat() } else { Bytes(bytes).to_string() }
}
