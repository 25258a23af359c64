//! Draws the timeline: the page's scene, rasterized on the CPU, with axes, annotations and markers.

use crate::app::App;
use crate::cells::{self, Depth};
use crate::panes::Focus;
use crate::text::{Tone, align_right, truncate, width, write_text};
use picture::outline::{Rect as Edges, outline as strokes};
use picture::render::placement::Placement;
use picture::render::{Drawing, Lane, OverlayRect, PictureTheme};
use picture::timeline::{OutlineRect, Quad, View, outline};
use protocol::Highlight;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ui::plot::figure::{Figure, PAUSED};
use ui::plot::lane_labels::lane_labels;
use ui::plot::overlay::Overlay;
use ui::state::lanes::ShownLane;

/// Canvas pixels per CSS pixel. The page spaces axis ticks in CSS pixels, so this value determines how many ticks fit.
pub(crate) const SCALE: f64 = 0.125;

/// Colour of the cursor, as RGBA.
const CURSOR: [u8; 4] = [0x2f, 0xb8, 0xff, 0xd0];
/// Colour of the selected range, as RGBA.
const RANGE: [u8; 4] = [0x2f, 0xb8, 0xff, 0x50];
/// Colour of the recorder's samples and of paused memory, as RGBA.
const SAMPLED: [u8; 4] = [0xe8, 0xec, 0xf2, 0xe0];
/// Distance between the stripes over paused memory, in pixels.
const STRIPE: usize = 3;
/// Colour of the user's marks, as RGBA.
const MARK: [u8; 4] = [0x8a, 0x93, 0xa3, 0x90];

/// Returns the size of a pane in canvas pixels, which depends on the characters used for drawing.
pub(crate) fn pixels(app: &App, pane: Rect) -> [u32; 2] {
    let [wide, high] = app.blocks.pixels_per_cell();
    [u32::from(pane.width) * wide, u32::from(pane.height) * high]
}

pub(crate) fn draw(app: &App, buffer: &mut Buffer) {
    let state = &app.state;
    let (Some(view), Some(canvas)) = (state.view(), state.canvas) else { return };
    let [wide, high] = app.blocks.pixels_per_cell().map(f64::from);
    let (pane, depth) = (app.layout.picture, app.screen.depth);
    let figure = Figure::on_canvas(state, &view, canvas);
    let overlays = Overlay::from_state(state);
    draw_scene(app, buffer, &figure, &overlays);
    let column = |x: f64| {
        let at = (x / wide).floor();
        (at >= 0.0 && at < f64::from(pane.width)).then(|| pane.x + at as u16)
    };
    let row = |y: f64| {
        let at = ((f64::from(canvas.height_px) - 0.5 - y) / high).floor().clamp(0.0, f64::from(pane.height.max(1) - 1));
        pane.y + at as u16
    };
    if depth == Depth::None
        && let Some((x, _)) = overlays.cursor
        && let Some(x) = column(x)
    {
        for y in pane.y..pane.bottom() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.set_char('|');
            }
        }
    }
    draw_bytes_axis(app, buffer, &figure, &row);
    draw_axis(app, buffer, &figure, &overlays, &column);
    draw_annotations(app, buffer, &figure, wide);
    // Labels from the top: OOMs, then the others. A label that would overlap moves down or is dropped.
    let mut taken: Vec<(u16, u16, u16)> = Vec::new();
    let mut draw_label = |buffer: &mut Buffer, x: u16, y: u16, text: &str, style: Style| {
        let long = u16::try_from(width(text)).unwrap_or(u16::MAX).min(pane.width);
        let from = if x + long + 1 < pane.right() { x + 1 } else { x.saturating_sub(long).max(pane.x) };
        let is_free =
            |y: u16| taken.iter().all(|&(label_y, left, end)| label_y != y || end <= from || from + long <= left);
        if let Some(y) = (y..pane.bottom()).find(|y| is_free(*y)) {
            taken.push((y, from, from + long));
            write_text(buffer, Rect { x: from, y, width: long, height: 1 }, text, style);
        }
    };
    let alarm = Tone::Alarm.style().bg(Color::Reset);
    for (x, text) in &figure.marks.out_of_memory {
        if let Some(x) = column(*x) {
            draw_label(
                buffer,
                x,
                pane.y,
                &["OOM: ", text.strip_prefix("out of memory: ").unwrap_or(text)].concat(),
                alarm,
            );
        }
    }
    for label in lane_labels(state) {
        let y = pane.y + (label.top_and_height[0] * SCALE / high).round() as u16;
        let tone = if label.is_focused { Tone::Strong } else { Tone::Plain };
        draw_label(
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
        draw_label(buffer, x.saturating_sub(1), y.saturating_sub(1).max(pane.y), text.trim_end(), alarm);
    }
    for curve in figure.curves.iter().filter(|curve| curve.line.is_sampled()) {
        if let Some([_, y]) = curve.points.last() {
            draw_label(buffer, pane.x, row(*y).saturating_sub(1).max(pane.y), curve.line.label(), Tone::Strong.style());
        }
    }
    let widest = figure.paused.iter().max_by(|a, b| (a.x[1] - a.x[0]).total_cmp(&(b.x[1] - b.x[0])));
    if let Some(band) = widest
        && let Some(x) = column(band.x[0].max(0.0))
    {
        draw_label(buffer, x, row(band.y[0].midpoint(band.y[1])), PAUSED, Tone::Strong.style());
    }
    for flag in &overlays.markers {
        if let Some(x) = column(flag.at.x) {
            draw_label(buffer, x, pane.y, &["⚑", &flag.number, " ", &flag.text].concat(), Tone::Accent.style());
        }
    }
    if let Some(note) = ui::plot::legend::reserved_note(state) {
        draw_label(buffer, pane.right(), pane.y, &["reserved: ", &note].concat(), Tone::Soft.style());
    }
    if let Some((y, text)) = &overlays.capacity {
        draw_label(buffer, pane.x, row(*y), text, Tone::Strong.style());
    }
    // The keyboard crosshair. Enter selects the allocation below it.
    if let (Some(_), Some(at)) = (state.tools.crosshair.by_keys, ui::plot::lane_focus::crosshair_on_canvas(state))
        && let Some(x) = column(at.x)
        && let Some(cell) = buffer.cell_mut((x, row(at.y)))
    {
        cell.set_char('┼').set_style(Style::new().fg(Color::White).bg(Color::Black).add_modifier(Modifier::BOLD));
    }
}

fn draw_scene(app: &App, buffer: &mut Buffer, figure: &Figure, overlays: &Overlay) {
    let state = &app.state;
    let Some(canvas) = state.canvas else { return };
    let lanes: Vec<(ShownLane<'_>, PictureTheme)> = state
        .shown_lanes()
        .filter(|lane| lane.geometry.scene.is_some())
        .map(|lane| {
            let look = lane_look(app, &lane);
            (lane, look)
        })
        .collect();
    let drawn: Vec<Lane<'_>> = lanes
        .iter()
        .map(|(lane, look)| Lane { scene: lane.index as u32, view: lane.view, look, bottom_px: lane.bottom_px })
        .collect();
    let overlay = overlay(app, figure, overlays, canvas.height_px as i32);
    let background = app.look.background;
    let size_px = [canvas.width_px, canvas.height_px];
    let drawing = Drawing { size_px, background, lanes: &drawn, flame: None, overlay: &overlay };
    let image = app.rasterizer.draw(&drawing);
    cells::draw(buffer, app.layout.picture, &image, background, app.blocks, app.screen.depth);
}

/// Returns the theme of a lane, with the same colours as in the page.
fn lane_look(app: &App, lane: &ShownLane<'_>) -> PictureTheme {
    let (plot_settings, faded) = (lane.geometry.plot_settings, &app.state.surroundings.faded);
    let look = app.look.clone();
    let look = if plot_settings.colouring.is_ordered() { look.with_ordered_palette() } else { look };
    let look = look.with_faded(|slot| faded.contains(&slot));
    if matches!(plot_settings.highlight, Highlight::Stack(_)) { look.with_less_fading() } else { look }
}

/// Returns the overlays that are drawn as pixels: range, cursor, marks, and outline of the selection.
fn overlay(app: &App, figure: &Figure, overlays: &Overlay, height: i32) -> Vec<OverlayRect> {
    let mut rects = Vec::new();
    let upright = |x: f64, rgba| OverlayRect { x: [x.floor() as i32, x.floor() as i32 + 1], y: [0, height], rgba };
    if let Some([from, to]) = overlays.range {
        let x = [from.clamp(-1.0, 1e6).floor() as i32, to.clamp(0.0, 1e6).ceil() as i32];
        rects.push(OverlayRect { x, y: [0, height], rgba: RANGE });
    }
    let peak = [app.look.peak[0], app.look.peak[1], app.look.peak[2], 0xc0];
    rects.extend(figure.marks.snapshots.iter().map(|x| upright(*x, MARK)));
    rects.extend(figure.marks.out_of_memory.iter().map(|(x, _)| upright(*x, peak)));
    rects.extend(observed(figure));
    rects.extend(overlays.cursor.iter().map(|(x, _)| upright(*x, CURSOR)));
    rects.extend(outlines(app));
    rects
}

/// Returns the lines of the recorder's samples, and stripes over paused memory. The scene has the other quantities.
fn observed(figure: &Figure) -> impl Iterator<Item = OverlayRect> + '_ {
    let wide = figure.plot_px[0];
    let inside = move |x: [f64; 2]| x.map(|x| x.clamp(0.0, wide).round() as i32);
    let curves = figure.curves.iter().filter(|curve| curve.line.is_sampled());
    let lines = curves.flat_map(|curve| curve.points.chunks_exact(2)).filter_map(move |piece| {
        let &[[from, height], [to, _]] = piece else { return None };
        let y = height.floor() as i32;
        Some(OverlayRect { x: inside([from, to]), y: [y, y + 1], rgba: SAMPLED })
    });
    let stripes = figure.paused.iter().flat_map(move |band| {
        let ([from, to], y) = (inside(band.x), band.y.map(|y| y.round() as i32));
        (from..to).step_by(STRIPE).map(move |x| OverlayRect { x: [x, x + 1], y, rgba: SAMPLED })
    });
    lines.chain(stripes)
}

/// Returns rectangles that outline the selected allocation.
fn outlines(app: &App) -> Vec<OverlayRect> {
    let state = &app.state;
    let of = || {
        let (of, lane) = (ui::plot::surroundings::outline_key(state)?, state.focused_lane()?);
        let scene = lane.geometry.scene.as_ref()?;
        let quad = |rect: &OutlineRect| Quad { x: rect.x.map(|x| x as i16), y: rect.y.map(|y| y as i16), paint: 0 };
        let exact = state.surroundings.outline.answer_to(&of).map(|rects| rects.iter().map(quad).collect());
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
fn draw_bytes_axis(app: &App, buffer: &mut Buffer, figure: &Figure, row: &dyn Fn(f64) -> u16) {
    let gutter = app.layout.gutter;
    let style = if app.focus == Focus::Timeline { Tone::Plain.style() } else { Tone::Soft.style() };
    for tick in &figure.byte_ticks {
        let y = row(tick.at_px as f64);
        let text = align_right(
            &truncate(&tick.label, usize::from(gutter.width).saturating_sub(1)),
            usize::from(gutter.width).saturating_sub(1),
        );
        write_text(buffer, Rect { y, height: 1, ..gutter }, &[&text, "┤"].concat(), style);
    }
}

/// Draws the horizontal axis and the label of the cursor.
fn draw_axis(app: &App, buffer: &mut Buffer, figure: &Figure, overlays: &Overlay, column: &dyn Fn(f64) -> Option<u16>) {
    let pane = app.layout.axis;
    let name = if figure.axis == picture::timeline::Axis::Time { "time " } else { "event " };
    let gutter = Rect { x: app.layout.gutter.x, width: app.layout.gutter.width, ..pane };
    write_text(buffer, gutter, &align_right(name, usize::from(gutter.width)), Tone::Soft.style());
    let at = |x: u16, text: &str| {
        let long = u16::try_from(width(text)).unwrap_or(0);
        let from = x.saturating_sub(long / 2).clamp(pane.x, pane.right().saturating_sub(long).max(pane.x));
        Rect { x: from, width: long.min(pane.width), ..pane }
    };
    let pin = overlays.cursor.as_ref().and_then(|(x, text)| Some((column(*x)?, ["▲ ", text].concat())));
    let pinned = pin.as_ref().map(|(x, text)| at(*x, text));
    for tick in &figure.ticks {
        let Some(x) = column(tick.at_px as f64) else { continue };
        let place = at(x, &tick.label);
        if pinned.is_none_or(|pinned| place.right() < pinned.x || pinned.right() < place.x) {
            write_text(buffer, place, &tick.label, Tone::Soft.style());
        }
    }
    if let (Some((_, text)), Some(place)) = (&pin, pinned) {
        write_text(buffer, place, text, Tone::Accent.style());
    }
    if let Some([from, to]) = figure.lifetime {
        let ends = [from, to].map(|x| column(x.clamp(0.0, (figure.plot_px[0] - 1.0).max(0.0))));
        if let [Some(from), Some(to)] = ends {
            // The lifetime of the selection.
            let life = Rect { x: from, width: to - from + 1, ..pane };
            buffer.set_style(life, Style::new().add_modifier(Modifier::UNDERLINED));
        }
    }
}

/// Draws annotations below the horizontal axis.
fn draw_annotations(app: &App, buffer: &mut Buffer, figure: &Figure, wide: f64) {
    let pane = app.layout.slices;
    for slice in &figure.marks.slices {
        let Some(row) = u16::try_from(slice.lane).ok().filter(|row| *row < pane.height) else { continue };
        let [from, to] = slice.x.map(|x| (x / wide).floor().clamp(0.0, f64::from(pane.width)) as u16);
        let place = Rect { x: pane.x + from, y: pane.y + row, width: (to - from).max(1), height: 1 }.intersection(pane);
        let available = usize::from(place.width.saturating_sub(1));
        let rest = slice.name.get(slice.shared_prefix..).filter(|rest| !rest.is_empty()).unwrap_or(&slice.name);
        let name = if width(&slice.name) <= available { &slice.name } else { rest };
        let name = if width(name) <= available || available > 5 { truncate(name, available) } else { String::new() };
        write_text(buffer, place, &["▏", &name].concat(), Tone::Accent.style());
    }
}
