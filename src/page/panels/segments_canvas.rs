//! Canvas of the Segments tab. It draws bars, sizes and outlines after a change, and handles pointer events.

use crate::app::{App, Listeners, Part};
use crate::device::watch_size;
use crate::dom::{self, position_in, set_style};
use crate::elements::elements;
use crate::labels::{context_2d, contrast_colour};
use crate::painter::base_look;
use crate::theme::Theme;
use picture::render::cpu::draw_bars;
use picture::render::layers::{self, PlacedRect};
use picture::render::{Bars, OverlayRect, PictureTheme};
use picture::timeline::scene::FADED;
use protocol::PieceKind;
use ui::features::State;
use ui::features::segments::SegmentsAction;
use ui::features::segments::picture::{SegmentsPicture, SegmentsStroke, picture};
use ui::shell::action::Action;
use ui::shell::commands;
use ui::text::tab::Tab;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{Event, ImageData, WheelEvent};

elements! {
    HtmlCanvasElement: segments_canvas;
    HtmlElement: segments_plot, segments_scroll, segments_space;
}

/// Minimum width, in CSS pixels, of a segment that is drawn with lines at its sides. They would cover half of a
/// narrower segment.
const MIN_SEGMENT_PX: i32 = 8;
/// Minimum width, in CSS pixels, of a block that is drawn with a line at its left. The line would hide a narrower
/// block.
const MIN_BLOCK_PX: i32 = 3;

/// State of the canvas, including the picture that was drawn last.
#[derive(Default)]
pub(super) struct Panel {
    shown: Option<(SegmentsPicture, Theme)>,
    frames: u64,
    jumps: u32,
    height: i32,
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        watch_size(app, &elements.segments_plot, |canvas| Action::feature(SegmentsAction::Resized(canvas)))
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        let plot = &elements.segments_plot;
        on.action(plot, "pointermove", |app, elements, event| {
            Some(SegmentsAction::PointerAt(position(app, elements, event)).into())
        });
        on.action(plot, "pointerleave", |_, _, _| Some(SegmentsAction::PointerAt(None).into()));
        on.action(plot, "click", |app, elements, event| {
            Some(SegmentsAction::Clicked(position(app, elements, event)?).into())
        });
        on.event(plot, "wheel", |app, _, event| {
            if let Some(wheel) = event.dyn_ref::<WheelEvent>().filter(|wheel| wheel.ctrl_key()) {
                event.prevent_default();
                let step =
                    if wheel.delta_y() < 0.0 { commands::segments::ZOOM_IN } else { commands::segments::ZOOM_OUT };
                app.dispatch(Action::Command(step));
            }
        });
    }

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        if state.views.visible() != Some(Tab::Segments) {
            // As for the flame graph, WebKit may show the canvas as empty.
            self.shown = None;
            return;
        }
        self.scroll(elements, state);
        let Some(picture) = picture(&state.segments, state) else { return };
        let now = (picture, app.theme.borrow().clone());
        if self.shown.as_ref() == Some(&now) {
            return;
        }
        let (picture, theme) = &now;
        let look = base_look(&theme.look, picture.is_ordered, &picture.faded);
        let thick = state.segments.canvas.map_or(1, |canvas| canvas.scale.round().max(1.0) as i32);
        if draw(elements, picture, theme, &look, thick).is_some() {
            self.frames += 1;
            dom::set_attribute(&elements.segments_canvas, "data-frames", &self.frames.to_string());
            self.shown = Some(now);
        }
    }
}

impl Panel {
    /// Synchronizes the scroll bar with the state.
    fn scroll(&mut self, elements: &Elements, state: &State) {
        let scroll = &state.segments.scroll;
        let height = scroll.all_px() as i32;
        if height != self.height {
            self.height = height;
            set_style(&elements.segments_space, "height", &[&height.to_string(), "px"].concat());
        }
        let (jumps, px) = scroll.jump();
        if jumps != self.jumps {
            self.jumps = jumps;
            elements.segments_scroll.set_scroll_top(px as i32);
        }
    }
}

fn draw(elements: &Elements, picture: &SegmentsPicture, theme: &Theme, look: &PictureTheme, thick: i32) -> Option<()> {
    let [width, height] = picture.size_px;
    let up = |y: [i32; 2]| [height as i32 - y[1], height as i32 - y[0]];
    let mut drawn = Bars {
        size_px: picture.size_px,
        background: look.background,
        colours: layers::colours(look),
        ..Bars::default()
    };
    let rect = |x, y, rgba| OverlayRect { x, y, rgba };
    // Free memory is what users look for, so it stays visible even if a segment is two pixels wide.
    let half = |place: usize| look.reserved_edge[place].midpoint(look.background[place]);
    let free = [half(0), half(1), half(2), u8::MAX];
    for frame in &picture.frames {
        let (x, [bottom, top]) = (frame.x, up(frame.y));
        drawn.below.push(rect(x, [bottom, top], free));
        let edge = look.reserved_edge;
        drawn.above.push(rect(x, [bottom - thick, bottom], edge));
        drawn.above.push(rect(x, [top, top + thick], edge));
        let sides = [[x[0] - thick, x[0]], [x[1], x[1] + thick]];
        let is_sided = x[1] - x[0] >= MIN_SEGMENT_PX * thick;
        for (side, _) in sides.into_iter().zip(frame.has_edge_lines).filter(|(_, has_line)| *has_line && is_sided) {
            drawn.above.push(rect(side, [bottom - thick, top + thick], edge));
        }
    }
    for tile in &picture.tiles {
        let (x, y) = (tile.x, up(tile.y));
        let paint = u32::from(tile.paint);
        let colour = match tile.kind {
            PieceKind::Free => continue,
            PieceKind::Rounding => paint + FADED,
            PieceKind::Live | PieceKind::AwaitingFree => paint,
        };
        let is_block = tile.kind != PieceKind::Rounding;
        let is_wide = x[1] - x[0] >= MIN_BLOCK_PX * thick;
        let striped = tile.kind == PieceKind::AwaitingFree;
        drawn.blocks.push(PlacedRect { x, y, colour, top_line: striped, left_line: is_block && is_wide, striped });
        if !is_block {
            // Drawn at half the height, so that it differs in shape as well as in colour.
            drawn.above.push(rect(x, [y[0], (y[0] + y[1]) / 2], look.peak));
        }
    }
    for ([x, y], stroke) in &picture.outlines {
        let (thick, rgba) = match stroke {
            SegmentsStroke::Hovered => (thick, look.hover),
            SegmentsStroke::Selected => (2 * thick, look.selection),
            SegmentsStroke::Active => (thick, look.selection),
        };
        // Drawn around the block, so that the narrowest block stays visible.
        let [bottom, top] = up(*y);
        let around = [[x[0] - thick, x[1] + thick], [bottom - thick, top + thick]];
        drawn.above.extend(OverlayRect::outline(around[0], around[1], thick, rgba));
    }
    let image = draw_bars(&drawn);
    let canvas = &elements.segments_canvas;
    if (canvas.width(), canvas.height()) != (width, height) {
        canvas.set_width(width);
        canvas.set_height(height);
    }
    let context = context_2d(canvas)?;
    let data = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&image.pixels), width, height).ok()?;
    context.put_image_data(&data, 0.0, 0.0).ok()?;
    context.set_text_baseline("middle");
    context.set_font(&[&picture.text_px.to_string(), "px ", &theme.font].concat());
    for text in &picture.texts {
        let tile = picture.tiles.get(text.tile)?;
        let is_plain = matches!(tile.kind, PieceKind::Live);
        let ground = if is_plain { drawn.colours.get(usize::from(tile.paint)).copied() } else { None };
        context.set_fill_style_str(match ground {
            Some(ground) => contrast_colour(ground),
            None => &theme.text,
        });
        // Cannot fail for a string.
        let _ = context.fill_text(&text.text, text.origin[0], text.origin[1]);
    }
    Some(())
}

/// Returns the position of a mouse event on the canvas, in device pixels.
fn position(app: &App, elements: &Elements, event: &Event) -> Option<[f64; 2]> {
    let scale = app.state.borrow().segments.canvas?.scale;
    position_in(&elements.segments_plot, event, scale)
}
