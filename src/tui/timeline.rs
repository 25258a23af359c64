//! Drawing of the timeline: the page's scene, rasterized on the CPU, with axes, annotations and markers.

use crate::app::App;
use crate::cells::{self, Depth};
use crate::panes::Focus;
use crate::text::{Tone, cut, put, right, width};
use engine::protocol::Highlight;
use picture::outline::{Rect as Edges, outline as strokes};
use picture::render::placement::Placement;
use picture::render::{Drawing, Lane, Look, OverlayRect};
use picture::timeline::{OutlineRect, Quad, View, outline};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ui::figure::Figure;
use ui::lane_labels::lane_labels;
use ui::lanes::ShownLane;
use ui::overlay::Overlay;

/// Pixels of the canvas per CSS pixel. The page spaces ticks in CSS pixels, so this brings them closer together.
pub(crate) const SCALE: f64 = 0.125;

/// Colours of overlays: the cursor, the range and marks.
const CURSOR: [u8; 4] = [0x2f, 0xb8, 0xff, 0xd0];
const RANGE: [u8; 4] = [0x2f, 0xb8, 0xff, 0x50];
const MARK: [u8; 4] = [0x8a, 0x93, 0xa3, 0x90];

/// Returns the size of a pane in pixels.
pub(crate) fn pixels(app: &App, pane: Rect) -> [u32; 2] {
    let [wide, high] = app.blocks.of_cell();
    [u32::from(pane.width) * wide, u32::from(pane.height) * high]
}

pub(crate) fn draw(app: &App, buffer: &mut Buffer) {
    let state = &app.state;
    let (Some(view), Some(canvas)) = (state.view, state.canvas) else { return };
    let [wide, high] = app.blocks.of_cell().map(f64::from);
    let (pane, depth) = (app.places.picture, app.screen.depth);
    let figure = Figure::on_canvas(state, &view, canvas);
    let over = Overlay::of(state);
    picture(app, buffer, &figure, &over);
    let column = |x: f64| {
        let at = (x / wide).floor();
        (at >= 0.0 && at < f64::from(pane.width)).then(|| pane.x + at as u16)
    };
    let row = |y: f64| {
        let at = ((f64::from(canvas.height_px) - 0.5 - y) / high).floor().clamp(0.0, f64::from(pane.height.max(1) - 1));
        pane.y + at as u16
    };
    if depth == Depth::None
        && let Some((x, _)) = over.pin
        && let Some(x) = column(x)
    {
        for y in pane.y..pane.bottom() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.set_char('|');
            }
        }
    }
    bytes(app, buffer, &figure, &row);
    axis(app, buffer, &figure, &over, &column);
    slices(app, buffer, &figure, wide);
    // Labels from the top: OOMs, then the others. A label that would overlap moves down or is dropped.
    let mut taken: Vec<(u16, u16, u16)> = Vec::new();
    let mut beside = |buffer: &mut Buffer, x: u16, y: u16, text: &str, style: Style| {
        let long = u16::try_from(width(text)).unwrap_or(u16::MAX).min(pane.width);
        let from = if x + long + 1 < pane.right() { x + 1 } else { x.saturating_sub(long).max(pane.x) };
        let is_free = |y: u16| taken.iter().all(|&(of, left, end)| of != y || end <= from || from + long <= left);
        if let Some(y) = (y..pane.bottom()).find(|y| is_free(*y)) {
            taken.push((y, from, from + long));
            put(buffer, Rect { x: from, y, width: long, height: 1 }, text, style);
        }
    };
    let alarm = Tone::Alarm.style().bg(Color::Reset);
    for (x, text) in &figure.around.out_of_memory {
        if let Some(x) = column(*x) {
            beside(buffer, x, pane.y, &["OOM: ", text.strip_prefix("out of memory: ").unwrap_or(text)].concat(), alarm);
        }
    }
    for label in lane_labels(state) {
        let y = pane.y + (label.top_and_height[0] * SCALE / high).round() as u16;
        let tone = if label.is_focused { Tone::Strong } else { Tone::Plain };
        beside(
            buffer,
            pane.x,
            y.min(pane.bottom().saturating_sub(1)),
            &[&label.name, " · ", &label.note].concat(),
            tone.style(),
        );
    }
    if let Some(peak) = figure.peak.as_ref().filter(|peak| peak.x.is_finite())
        && let Some(x) = column(peak.x)
    {
        let y = row(peak.y);
        // The peak of a lane is part of the lane's label.
        let text = ["▼ ", &peak.label].concat();
        beside(buffer, x.saturating_sub(1), y.saturating_sub(1).max(pane.y), text.trim_end(), alarm);
    }
    for flag in &over.flags {
        if let Some(x) = column(flag.at.x) {
            beside(buffer, x, pane.y, &["⚑", &flag.number, " ", &flag.text].concat(), Tone::Accent.style());
        }
    }
    if let Some((y, text)) = &over.capacity {
        beside(buffer, pane.x, row(*y), text, Tone::Strong.style());
    }
    // The keyboard crosshair. Enter selects the allocation below it.
    if let (Some(_), Some(at)) = (state.tools.cursor.keys, state.cursor_on_canvas())
        && let Some(x) = column(at.x)
        && let Some(cell) = buffer.cell_mut((x, row(at.y)))
    {
        cell.set_char('┼').set_style(Style::new().fg(Color::White).bg(Color::Black).add_modifier(Modifier::BOLD));
    }
}

/// Draws the scene and the overlays.
fn picture(app: &App, buffer: &mut Buffer, figure: &Figure, over: &Overlay) {
    let state = &app.state;
    let Some(canvas) = state.canvas else { return };
    let lanes: Vec<(ShownLane<'_>, Look)> = state
        .shown_lanes()
        .filter(|lane| lane.geometry.scene.is_some())
        .map(|lane| {
            let look = look(app, &lane);
            (lane, look)
        })
        .collect();
    let drawn: Vec<Lane<'_>> = lanes
        .iter()
        .map(|(lane, look)| Lane { scene: lane.place as u32, view: lane.view, look, bottom_px: lane.bottom_px })
        .collect();
    let overlay = overlay(app, figure, over, canvas.height_px as i32);
    let background = app.look.background;
    let size_px = [canvas.width_px, canvas.height_px];
    let drawing = Drawing { size_px, background, lanes: &drawn, flame: None, overlay: &overlay };
    let image = app.twin.draw(&drawing);
    cells::draw(buffer, app.places.picture, &image, background, app.blocks, app.screen.depth);
}

/// Returns the colours of a lane, as in the page.
fn look(app: &App, lane: &ShownLane<'_>) -> Look {
    let (looks, faded) = (lane.geometry.looks, &app.state.around.faded);
    let look = app.look.clone();
    let look = if looks.colouring.is_ordered() { look.in_order() } else { look };
    let look = look.with_faded(|slot| faded.contains(&slot));
    if matches!(looks.highlight, Highlight::Stack(_)) { look.stepping_back() } else { look }
}

/// Returns the overlays that are drawn as pixels: the range, the cursor, marks, and the outline of the selection.
fn overlay(app: &App, figure: &Figure, over: &Overlay, height: i32) -> Vec<OverlayRect> {
    let mut rects = Vec::new();
    let upright = |x: f64, rgba| OverlayRect { x: [x.floor() as i32, x.floor() as i32 + 1], y: [0, height], rgba };
    if let Some([from, to]) = over.range {
        let x = [from.clamp(-1.0, 1e6).floor() as i32, to.clamp(0.0, 1e6).ceil() as i32];
        rects.push(OverlayRect { x, y: [0, height], rgba: RANGE });
    }
    let peak = [app.look.peak[0], app.look.peak[1], app.look.peak[2], 0xc0];
    rects.extend(figure.around.snapshots.iter().map(|x| upright(*x, MARK)));
    rects.extend(figure.around.out_of_memory.iter().map(|(x, _)| upright(*x, peak)));
    rects.extend(over.pin.iter().map(|(x, _)| upright(*x, CURSOR)));
    rects.extend(outlines(app));
    rects
}

/// Returns the outline of the selected allocation.
fn outlines(app: &App) -> Vec<OverlayRect> {
    let state = &app.state;
    let of = || {
        let (of, lane) = (state.outlined()?, state.focused_lane()?);
        let scene = lane.geometry.scene.as_ref()?;
        let quad = |rect: &OutlineRect| Quad { x: rect.x.map(|x| x as i16), y: rect.y.map(|y| y as i16), paint: 0 };
        let exact = state.around.outline.about(&of).map(|rects| rects.iter().map(quad).collect());
        let quads: Vec<Quad> = exact.unwrap_or_else(|| outline(scene, of.allocation).collect());
        let lowered = View { bottom_px: lane.view.bottom_px.saturating_sub(lane.bottom_px.into()), ..*lane.view };
        let placement = Placement::new(&scene.view, &lowered);
        let parts: Vec<Edges> = quads
            .iter()
            .map(|quad| Edges { x: quad.x.map(|x| placement.column(x)), y: quad.y.map(|y| placement.row(y)) })
            .collect();
        let [bottom, top] = [lane.bottom_px, lane.bottom_px + lane.view.height_px].map(|row| row as i32);
        let rgba = app.look.selection;
        let cut = |stroke: Edges| OverlayRect { x: stroke.x, y: stroke.y.map(|y| y.clamp(bottom, top)), rgba };
        Some(strokes(&parts, 1).into_iter().map(cut).filter(|rect| rect.y[0] < rect.y[1]).collect())
    };
    of().unwrap_or_default()
}

/// Draws the labels of the vertical axis.
fn bytes(app: &App, buffer: &mut Buffer, figure: &Figure, row: &dyn Fn(f64) -> u16) {
    let gutter = app.places.gutter;
    let style = if app.focus == Focus::Timeline { Tone::Plain.style() } else { Tone::Soft.style() };
    for tick in &figure.bytes {
        let y = row(tick.at_px as f64);
        let text = right(
            &cut(&tick.label, usize::from(gutter.width).saturating_sub(1)),
            usize::from(gutter.width).saturating_sub(1),
        );
        put(buffer, Rect { y, height: 1, ..gutter }, &[&text, "┤"].concat(), style);
    }
}

/// Draws the horizontal axis with the label of the cursor.
fn axis(app: &App, buffer: &mut Buffer, figure: &Figure, over: &Overlay, column: &dyn Fn(f64) -> Option<u16>) {
    let pane = app.places.axis;
    let name = if figure.axis == picture::timeline::Axis::Time { "time " } else { "event " };
    let gutter = Rect { x: app.places.gutter.x, width: app.places.gutter.width, ..pane };
    put(buffer, gutter, &right(name, usize::from(gutter.width)), Tone::Soft.style());
    let at = |x: u16, text: &str| {
        let long = u16::try_from(width(text)).unwrap_or(0);
        let from = x.saturating_sub(long / 2).clamp(pane.x, pane.right().saturating_sub(long).max(pane.x));
        Rect { x: from, width: long.min(pane.width), ..pane }
    };
    let pin = over.pin.as_ref().and_then(|(x, text)| Some((column(*x)?, ["▲ ", text].concat())));
    let pinned = pin.as_ref().map(|(x, text)| at(*x, text));
    for tick in &figure.ticks {
        let Some(x) = column(tick.at_px as f64) else { continue };
        let place = at(x, &tick.label);
        if pinned.is_none_or(|pinned| place.right() < pinned.x || pinned.right() < place.x) {
            put(buffer, place, &tick.label, Tone::Soft.style());
        }
    }
    if let (Some((_, text)), Some(place)) = (&pin, pinned) {
        put(buffer, place, text, Tone::Accent.style());
    }
    if let Some([from, to]) = figure.life {
        let ends = [from, to].map(|x| column(x.clamp(0.0, (figure.plot[0] - 1.0).max(0.0))));
        if let [Some(from), Some(to)] = ends {
            // The lifetime of the selection.
            let life = Rect { x: from, width: to - from + 1, ..pane };
            buffer.set_style(life, Style::new().add_modifier(Modifier::UNDERLINED));
        }
    }
}

/// Draws the annotations below the axis.
fn slices(app: &App, buffer: &mut Buffer, figure: &Figure, wide: f64) {
    let pane = app.places.slices;
    for slice in &figure.around.slices {
        let Some(row) = u16::try_from(slice.lane).ok().filter(|row| *row < pane.height) else { continue };
        let [from, to] = slice.x.map(|x| (x / wide).floor().clamp(0.0, f64::from(pane.width)) as u16);
        let place = Rect { x: pane.x + from, y: pane.y + row, width: (to - from).max(1), height: 1 }.intersection(pane);
        let room = usize::from(place.width.saturating_sub(1));
        let rest = slice.name.get(slice.shared..).filter(|rest| !rest.is_empty()).unwrap_or(&slice.name);
        let name = if width(&slice.name) <= room { &slice.name } else { rest };
        let name = if width(name) <= room || room > 5 { cut(name, room) } else { String::new() };
        put(buffer, place, &["▏", &name].concat(), Tone::Accent.style());
    }
}
