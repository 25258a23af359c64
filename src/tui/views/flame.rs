//! Draws the flame graph.

use super::rows::{body, draw_empty, foot_row};
use crate::app::App;
use crate::cells::{self, Depth};
use crate::text::{Line, Tone, pane_row, truncate, write_line, write_row, write_text};
use picture::timeline::paint::SHADES;
use protocol::NodeKind;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ui::features::flame::picture::{FlameFill, FlamePicture, FlameStroke, FlameTile, MAX_CHANGE, picture};
use ui::features::flame::words::{crumbs, empty_message, matches, status};
use ui::state::drawing::Canvas;

/// Height of a row of the flame graph in canvas pixels.
pub(crate) const ROW_PX: i32 = 3;
/// Canvas pixels per CSS pixel. With this value, one character of a label is one cell wide.
const SCALE: f64 = 0.1515;

/// Returns the size of the page's canvas for an area of cells.
pub(crate) fn canvas(area: Rect) -> Canvas {
    Canvas {
        width_px: u32::from(area.width).max(1),
        height_px: (u32::from(area.height) * ROW_PX as u32).max(1),
        scale: SCALE,
    }
}

pub(crate) fn draw(app: &App, buffer: &mut Buffer, pane: Rect) {
    let state = &app.state;
    let text = empty_message(&state.flame, state);
    let crumbs = state.flame.page().map(|page| crumbs(page)).unwrap_or_default();
    let path = crumbs.iter().map(|crumb| crumb.text.as_str()).collect::<Vec<_>>().join(" › ");
    let found = matches(&state.flame, state);
    let head = [path, found].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    let head = if head.is_empty() { "Width: bytes; a row below is called by the one above".to_owned() } else { head };
    pane_row(pane, 0).iter().for_each(|row| write_row(buffer, *row, &Line::new(head.clone(), Tone::Soft)));
    let area = body(pane);
    if !text.is_empty() {
        draw_empty(buffer, area, text);
    } else if let Some(picture) = picture(&state.flame, state) {
        draw_boxes(app, buffer, area, &picture);
    }
    if let Some(foot) = foot_row(pane) {
        write_line(buffer, foot, &Line::new(status(&state.flame, state), Tone::Soft));
    }
}

/// Returns the cells that a box covers, or `None` if it is not visible.
fn cell_area(area: Rect, x: [i32; 2], y: [i32; 2]) -> Option<Rect> {
    let row = u16::try_from((y[0] + y[1]) / 2 / ROW_PX).ok().filter(|row| *row < area.height)?;
    let [from, to] = x.map(|x| x.clamp(0, i32::from(area.width)) as u16);
    (from < to).then(|| Rect { x: area.x + from, y: area.y + row, width: to - from, height: 1 })
}

fn draw_boxes(app: &App, buffer: &mut Buffer, area: Rect, picture: &FlamePicture) {
    for tile in &picture.tiles {
        let Some(place) = cell_area(area, tile.x, tile.y) else { continue };
        let style = style(app, tile);
        buffer.set_style(place, style);
        // Mark the start of each box, so that neighbours of the same colour can be distinguished.
        let blank = if tile.is_hatched { "░" } else { " " };
        write_text(buffer, place, &blank.repeat(usize::from(place.width)), style);
        write_text(buffer, Rect { width: 1, ..place }, if tile.is_hatched { "░" } else { "▏" }, style);
        if tile.matched_px > 0 {
            let found = Rect { width: u16::try_from(tile.matched_px).unwrap_or(place.width).min(place.width), ..place };
            buffer.set_style(found, Style::new().add_modifier(Modifier::UNDERLINED));
        }
    }
    for text in &picture.texts {
        let Some(tile) = picture.tiles.get(text.tile) else { continue };
        let Some(place) = cell_area(area, tile.x, tile.y).filter(|place| place.width > 2) else { continue };
        let mut style = style(app, tile);
        if text.is_bold {
            style = style.add_modifier(Modifier::BOLD);
        }
        let area_of_label = Rect { x: place.x + 1, width: place.width - 1, ..place };
        write_text(buffer, area_of_label, &truncate(&text.text, usize::from(area_of_label.width)), style);
    }
    for outline in &picture.outlines {
        let Some(place) = cell_area(area, outline.x, outline.y) else { continue };
        let style = Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD);
        if outline.stroke != FlameStroke::Hovered {
            buffer.set_style(place, style);
        }
    }
}

fn style(app: &App, tile: &FlameTile) -> Style {
    let (look, depth) = (&app.look, app.screen.depth);
    if depth == Depth::None {
        return Style::new();
    }
    let fill = match tile.fill {
        FlameFill::Slot(slot) => look.palette.get((slot * SHADES) as usize).copied().unwrap_or(look.reserved_edge),
        FlameFill::Kind(kind) => {
            let at = match kind {
                NodeKind::User => 0,
                NodeKind::Library => 1,
                NodeKind::Native => 2,
                _ => 3,
            };
            look.flame_neutral.get(at).copied().unwrap_or(look.reserved_fill)
        }
        FlameFill::Change(0) => look.reserved_fill,
        FlameFill::Change(step) => {
            let change = look.flame_change.get(usize::from(step < 0)).copied().unwrap_or(look.peak);
            let part = u32::from(step.unsigned_abs()) * 255 / MAX_CHANGE as u32;
            let mix = |at: usize| {
                let (of, ground) = (u32::from(change[at]), u32::from(look.background[at]));
                ((of * part + ground * (255 - part)) / 255) as u8
            };
            [mix(0), mix(1), mix(2), 255]
        }
    };
    let style = Style::new().bg(cells::colour(fill, depth)).fg(ink(fill));
    if tile.is_faded { style.add_modifier(Modifier::DIM) } else { style }
}

/// Returns black or white, whichever contrasts more with a background colour.
pub(crate) fn ink([red, green, blue, _]: [u8; 4]) -> Color {
    let square = |channel: u8| u32::from(channel) * u32::from(channel);
    let luminance = (2126 * square(red) + 7152 * square(green) + 722 * square(blue)) / 10_000;
    if luminance > 255 * 255 / 5 { Color::Black } else { Color::White }
}
