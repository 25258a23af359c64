//! The canvas of the flame graph: boxes, names and outlines, drawn when something of it changed; and what the pointer does over it.

use super::App;
use super::dom::{self, Elements, listen};
use super::input::clicked;
use super::labels::bare_context;
use super::painter::Painter;
use super::theme::Theme;
use engine::protocol::{Merge, NodeKind};
use gloo::events::EventListener;
use picture::render::flames::{self, FADED_FILL, FIRST_FILL, FIRST_NEUTRAL, HATCHED, INDEX, MARK_SHIFT};
use picture::render::{Drawing, Flame, Look, OverlayRect, Tile};
use std::rc::Rc;
use ui::flame::FlameAction;
use ui::flame::picture::{FlameFill, FlamePicture, FlameStroke, FlameTile, picture};
use ui::views::Tab;
use ui::{Action, State};
use wasm_bindgen::JsCast;
use web_sys::{Event, MouseEvent};

/// What is drawn now.
#[derive(Default)]
pub(super) struct Graph {
    shown: Option<(FlamePicture, Theme, u32)>,
    /// CSS pixels of all rows.
    height: i32,
    frames: u64,
}

impl Graph {
    /// Draws the state, if the picture changed. `true` when the device failed: choose another.
    pub(super) fn show(&mut self, elements: &Elements, state: &State, theme: &Theme, painter: &mut Painter) -> bool {
        if state.views.seen() != Some(Tab::Flame) {
            // WebKit may show an empty canvas that was hidden, until something is drawn on it.
            self.shown = None;
            return false;
        }
        self.scroll(elements, state);
        let Some(picture) = picture(&state.flame, state) else { return false };
        let now = (picture, theme.clone(), painter.surfaces());
        if self.shown.as_ref() == Some(&now) {
            return false;
        }
        let (picture, theme, _) = &now;
        let thick = state.flame.canvas.map_or(1, |canvas| canvas.scale.round().max(1.0) as i32);
        let flame = Flame {
            tiles: picture.tiles.iter().map(|it| tile(it, picture.size_px[1])).collect(),
            colours: flames::colours(&theme.look),
        };
        let overlay = outlines(picture, &theme.look, thick);
        let drawing = Drawing {
            size_px: picture.size_px,
            background: theme.look.background,
            lanes: &[],
            flame: Some(&flame),
            overlay: &overlay,
        };
        match painter.draw_flame(elements, &drawing) {
            None => return false,
            Some(false) => return true,
            Some(true) => {}
        }
        write(elements, picture, &flame, theme);
        self.frames += 1;
        let [_, canvas] = painter.canvases(elements);
        dom::set_attribute(&canvas, "data-frames", &self.frames.to_string());
        if let Some(page) = state.flame.page() {
            dom::set_attribute(&canvas, "data-boxes", &page.boxes.len().to_string());
            dom::set_attribute(&canvas, "data-total", &page.total.bytes.to_string());
        }
        self.shown = Some(now);
        false
    }

    /// Lets the browser's scroll bar say where the state is.
    fn scroll(&mut self, elements: &Elements, state: &State) {
        let scale = state.flame.canvas.map_or(1.0, |canvas| canvas.scale);
        let height = (state.flame.content_px() as f64 / scale).floor() as i32;
        if height != self.height {
            self.height = height;
            let _ = elements.flame_space.style().set_property("height", &(height.to_string() + "px"));
        }
        let top = state.flame.scrolled_css();
        if (elements.flame_scroll.scroll_top() - top).abs() > 1 {
            elements.flame_scroll.set_scroll_top(top);
        }
    }
}

fn tile(it: &FlameTile, height_px: u32) -> Tile {
    let fill = match it.fill {
        FlameFill::Slot(slot) => FIRST_FILL + slot,
        FlameFill::Kind(kind) => {
            FIRST_NEUTRAL
                + match kind {
                    NodeKind::User => 0,
                    NodeKind::Library => 1,
                    NodeKind::Native => 2,
                    NodeKind::Note => 3,
                }
        }
    };
    let faded = if it.is_faded { FADED_FILL } else { 0 };
    let hatched = if it.is_hatched { HATCHED } else { 0 };
    let paint = (fill + faded) & INDEX | hatched | it.found_px.min(0xffff) << MARK_SHIFT;
    let edge = |px: i32| px.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
    let [top, bottom] = it.y.map(|y| height_px as i32 - y);
    Tile { x: it.x.map(edge), y: [edge(bottom), edge(top)], paint }
}

fn outlines(picture: &FlamePicture, look: &Look, thick: i32) -> Vec<OverlayRect> {
    let of = |outline: &ui::flame::picture::FlameOutline| {
        let (thick, rgba) = match outline.stroke {
            FlameStroke::Hovered => (thick, look.hover),
            FlameStroke::Revealed => (thick, look.selection),
            FlameStroke::Selected => (2 * thick, look.selection),
        };
        let [top, bottom] = outline.y.map(|y| picture.size_px[1] as i32 - y);
        // The seam stays outside.
        let seam = i32::from(outline.x[1] - outline.x[0] >= flames::SEAMED_PX);
        OverlayRect::outline([outline.x[0], outline.x[1] - seam], [bottom + 1, top], thick, rgba)
    };
    picture.outlines.iter().flat_map(of).collect()
}

/// Dark or light, whichever stands out more from a colour. What is as bright as a fifth of white has the same contrast to both; squares
/// come near enough to linear light.
pub(super) fn ink([red, green, blue, _]: [u8; 4]) -> &'static str {
    let square = |channel: u8| u32::from(channel) * u32::from(channel);
    let luminance = (2126 * square(red) + 7152 * square(green) + 722 * square(blue)) / 10_000;
    if luminance > 255 * 255 / 5 { "#10141b" } else { "#ffffff" }
}

fn write(elements: &Elements, picture: &FlamePicture, flame: &Flame, theme: &Theme) {
    let canvas = &elements.flame_labels;
    let [width, height] = picture.size_px;
    if (canvas.width(), canvas.height()) != (width, height) {
        canvas.set_width(width);
        canvas.set_height(height);
    }
    let Some(context) = bare_context(canvas) else { return };
    context.clear_rect(0.0, 0.0, width.into(), height.into());
    context.set_text_baseline("middle");
    for weight in ["", "600 "] {
        context.set_font(&[weight, &picture.text_px.to_string(), "px ", &theme.font].concat());
        for text in picture.texts.iter().filter(|text| text.is_bold != weight.is_empty()) {
            let colour = flame.tiles.get(text.tile).and_then(|it| flame.colours.get((it.paint & INDEX) as usize));
            context.set_fill_style_str(ink(colour.copied().unwrap_or(theme.look.background)));
            // It fails for no text.
            let _ = context.fill_text_with_max_width(&text.text, text.at[0], text.at[1], text.room_px);
        }
    }
}

/// Pointer and scroll bar → actions.
pub(super) fn listeners(app: &Rc<App>) -> Vec<EventListener> {
    let elements = &app.elements;
    let on = |target: &web_sys::EventTarget, event: &'static str, then: fn(&Rc<App>, &Event)| {
        let app = app.clone();
        listen(target, event, move |event| then(&app, event))
    };
    let plot = &elements.flame_plot;
    vec![
        on(plot, "pointermove", |app, event| dispatch(app, FlameAction::PointerAt(place(app, event)))),
        on(plot, "pointerleave", |app, _| dispatch(app, FlameAction::PointerAt(None))),
        on(plot, "click", |app, event| {
            if let Some(at) = place(app, event) {
                dispatch(app, FlameAction::Clicked(at));
            }
        }),
        on(plot, "dblclick", |app, event| {
            if let Some(at) = place(app, event) {
                dispatch(app, FlameAction::DoubleClicked(at));
            }
        }),
        on(&elements.flame_scroll, "scroll", |app, _| {
            dispatch(app, FlameAction::Scrolled(app.elements.flame_scroll.scroll_top().into()));
        }),
        on(&elements.flame_merge, "change", |app, _| {
            dispatch(
                app,
                FlameAction::Merged(match app.elements.flame_merge.selected_index() {
                    1 => Merge::Function,
                    2 => Merge::File,
                    _ => Merge::Line,
                }),
            );
        }),
        on(&elements.flame_crumbs, "click", |app, event| {
            if let Some(node) = clicked(event, "data-node") {
                dispatch(app, FlameAction::Chosen(node as u32));
            }
        }),
    ]
}

fn dispatch(app: &Rc<App>, action: FlameAction) {
    app.dispatch(Action::of(action));
}

/// Where a mouse event is on the canvas, in its device pixels.
fn place(app: &App, event: &Event) -> Option<[f64; 2]> {
    let event = event.dyn_ref::<MouseEvent>()?;
    let scale = app.state.borrow().flame.canvas?.scale;
    let area = app.elements.flame_plot.get_bounding_client_rect();
    // The middle of the CSS pixel.
    let on = |at: i32, from: f64| (f64::from(at) + 0.5 - from) * scale;
    Some([on(event.client_x(), area.left()), on(event.client_y(), area.top())])
}
