//! Draws the segments and blocks at the cursor, below a list of call sites that keep segments from being released.

use super::rows::draw_empty;
use crate::app::App;
use crate::cells::{self, Depth};
use crate::text::{Line, Tone, truncate, wrap, write_row, write_text};
use protocol::PieceKind;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ui::features::segments;
use ui::features::segments::ROW_PX;
use ui::features::segments::card::status;
use ui::features::segments::picture::{SegmentsPicture, SegmentsStroke, picture};
use ui::features::segments::words::{
    empty_message, headings, kept_lines, outside_segments, pool_choices, request_placement, stream_choices, sums,
};
use ui::state::drawing::Canvas;

/// Canvas pixels per CSS pixel. With this value, one character of a label is one cell wide.
const SCALE: f64 = 0.1467;

/// Returns the lines above the segments: sums, call sites that keep segments, and sort order. They take at most a third
/// of the pane.
fn heading_lines(app: &App) -> Vec<Line> {
    let (state, pane) = (&app.state, app.layout.view);
    let Some(page) = state.segments.page() else { return Vec::new() };
    let cells = usize::from(pane.width);
    let [short, exact] = sums(page);
    let mut parts = vec![if app.is_exact { exact } else { short.replace('\u{a0}', " ") }];
    parts.extend(Some(outside_segments(page)).filter(|text| !text.is_empty()));
    let mut lines = vec![Line::new(parts.join(" · "), Tone::Strong)];
    let request = match &state.segments.request_error {
        Some(wrong) => vec![Line::new(wrong.clone(), Tone::Alarm)],
        None => request_placement(page).into_iter().map(|text| Line::new(text, Tone::Good)).collect(),
    };
    lines.extend(request);
    for line in kept_lines(page) {
        lines.push(Line::new("• ", Tone::Accent).with(line.text, Tone::Plain));
    }
    let chosen = state.segments.picker_indices();
    let name = |choices: Vec<String>, index: usize| choices.into_iter().nth(index).unwrap_or_default();
    let order = ["address", "size", "free bytes"].get(chosen[0]).copied().unwrap_or("address");
    let tools = [
        "by ",
        order,
        ", ",
        &name(pool_choices(&state.segments), chosen[1]),
        ", ",
        &name(stream_choices(&state.segments), chosen[2]),
    ];
    lines.push(Line::new(truncate(&tools.concat(), cells), Tone::Soft));
    lines.truncate(usize::from(pane.height / 3).max(1));
    lines
}

/// Returns the area that the segments are drawn in.
pub(crate) fn body(app: &App) -> Rect {
    let pane = app.layout.view;
    let above = u16::try_from(heading_lines(app).len()).unwrap_or(0).min(pane.height);
    let below = detail_rows(pane);
    Rect { y: pane.y + above, height: pane.height.saturating_sub(above + below), ..pane }
}

/// Returns the number of rows below the segments that describe the active block.
fn detail_rows(pane: Rect) -> u16 {
    match pane.height {
        ..5 => 0,
        5..14 => 1,
        _ => 2,
    }
}

/// Returns the size of the page's canvas for an area of cells.
pub(crate) fn canvas(area: Rect) -> Canvas {
    let height = f64::from(area.height) * ROW_PX * SCALE;
    Canvas { width_px: u32::from(area.width).max(4), height_px: (height.round() as u32).max(1), scale: SCALE }
}

pub(crate) fn draw(app: &App, buffer: &mut Buffer, pane: Rect) {
    let state = &app.state;
    for (at, line) in heading_lines(app).iter().enumerate() {
        write_row(buffer, pane, at, line);
    }
    let area = body(app);
    let text = empty_message(&state.segments, state);
    if !text.is_empty() {
        draw_empty(buffer, area, &text);
    }
    if let Some(picture) = picture(&state.segments, state) {
        draw_bars(app, buffer, area, &picture);
    }
    for heading in headings(&state.segments) {
        let at = (f64::from(heading.top) / segments::ROW_PX).round();
        if at >= 0.0 {
            let line = Line::new([&heading.name, "  "].concat(), Tone::Strong).with(heading.sums, Tone::Soft);
            write_row(buffer, area, at as usize, &line);
        }
    }
    let status_lines = wrap(&status(&state.segments), usize::from(pane.width));
    let rows = detail_rows(pane);
    let below = Rect { y: pane.bottom() - rows, height: rows, ..pane };
    for (at, text) in status_lines.into_iter().enumerate() {
        write_row(buffer, below, at, &Line::new(text, Tone::Soft));
    }
}

fn draw_bars(app: &App, buffer: &mut Buffer, area: Rect, picture: &SegmentsPicture) {
    let depth = app.screen.depth;
    let place = |x: [i32; 2], y: [i32; 2]| {
        let row = (f64::from(y[0] + y[1]) / 2.0 / (ROW_PX * SCALE)).floor();
        let row = (row >= 0.0 && row < f64::from(area.height)).then_some(row as u16)?;
        let [from, to] = x.map(|x| x.clamp(0, i32::from(area.width)) as u16);
        (from < to).then(|| Rect { x: area.x + from, y: area.y + row, width: to - from, height: 1 })
    };
    for frame in &picture.frames {
        // Draw free memory visibly, since it is the point of this view.
        if let Some(place) = place(frame.x, frame.y) {
            write_text(buffer, place, &"░".repeat(usize::from(place.width)), Tone::Soft.style());
        }
    }
    let palette = if picture.is_ordered { &app.look.ordered } else { &app.look.palette };
    for tile in &picture.tiles {
        let Some(place) = place(tile.x, tile.y).filter(|_| tile.kind != PieceKind::Free) else { continue };
        let rgba = palette.get(usize::from(tile.paint)).copied().unwrap_or(app.look.reserved_edge);
        let letter = match (tile.kind, depth) {
            (PieceKind::Rounding, _) => "▒",
            (PieceKind::AwaitingFree, _) => "▚",
            (_, Depth::None) => "#",
            _ => "█",
        };
        let style = Style::new().fg(cells::colour(rgba, depth));
        write_text(buffer, place, &letter.repeat(usize::from(place.width)), style);
    }
    for text in &picture.texts {
        let Some(tile) = picture.tiles.get(text.tile) else { continue };
        let Some(place) = place(tile.x, tile.y).filter(|place| place.width > 3) else { continue };
        let rgba = palette.get(usize::from(tile.paint)).copied().unwrap_or(app.look.reserved_edge);
        let style = if tile.kind == PieceKind::Free || depth == Depth::None {
            Tone::Plain.style()
        } else {
            Style::new().bg(cells::colour(rgba, depth)).fg(super::flame::ink(rgba))
        };
        write_text(
            buffer,
            Rect { x: place.x + 1, width: place.width - 1, ..place },
            &truncate(&text.text, usize::from(place.width - 1)),
            style,
        );
    }
    for (edges, stroke) in &picture.outlines {
        let Some(place) = place(edges[0], edges[1]) else { continue };
        let style = match stroke {
            SegmentsStroke::Hovered => continue,
            SegmentsStroke::Selected => Style::new().add_modifier(Modifier::UNDERLINED | Modifier::BOLD),
            SegmentsStroke::Active => Style::new().add_modifier(Modifier::REVERSED).fg(Color::Cyan),
        };
        buffer.set_style(place, style);
    }
}
