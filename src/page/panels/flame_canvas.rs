//! Canvas of the flame graph. It draws boxes, names and outlines after a change, and handles pointer events.

use crate::app::{App, Listeners, Part};
use crate::device::{select_renderer, watch_size};
use crate::dom::{self, position_in, set_style};
use crate::elements::elements;
use crate::labels::{context_2d, contrast_colour};
use crate::theme::Theme;
use picture::render::flames::{
    self, CHANGE_STEPS, FADED_FILL, FIRST_CHANGE, FIRST_FILL, FIRST_NEUTRAL, HATCHED, INDEX_MASK, MARK_SHIFT,
};
use picture::render::{Drawing, Flame, OverlayRect, PictureTheme, Tile};
use protocol::NodeKind;
use ui::features::State;
use ui::features::flame::FlameAction;
use ui::features::flame::picture::{FlameFill, FlamePicture, FlameStroke, FlameTile, picture};
use ui::shell::action::Action;
use ui::text::tab::Tab;
use web_sys::Event;

elements! {
    HtmlCanvasElement: flame_labels;
    HtmlElement: flame_plot, flame_scroll, flame_space;
}

/// State of the canvas, including the picture that was drawn last.
#[derive(Default)]
pub(super) struct Panel {
    shown: Option<(FlamePicture, Theme, u32)>,
    /// Total height of all rows, in CSS pixels.
    height: i32,
    frames: u64,
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        watch_size(app, &elements.flame_plot, |canvas| Action::feature(FlameAction::Resized(canvas)))
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        let plot = &elements.flame_plot;
        on.action(plot, "pointermove", |app, elements, event| {
            Some(FlameAction::PointerAt(position(app, elements, event)).into())
        });
        on.action(plot, "pointerleave", |_, _, _| Some(FlameAction::PointerAt(None).into()));
        on.action(plot, "click", |app, elements, event| {
            Some(FlameAction::Clicked(position(app, elements, event)?).into())
        });
        on.action(plot, "dblclick", |app, elements, event| {
            Some(FlameAction::DoubleClicked(position(app, elements, event)?).into())
        });
        on.action(&elements.flame_scroll, "scroll", |_, elements, _| {
            Some(FlameAction::Scrolled(elements.flame_scroll.scroll_top().into()).into())
        });
    }

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        let (theme, mut painter) = (app.theme.borrow(), app.painter.borrow_mut());
        if state.views.visible() != Some(Tab::Flame) {
            // WebKit may show a canvas that was hidden as empty until something is drawn on it.
            self.shown = None;
            return;
        }
        self.scroll(elements, state);
        let Some(picture) = picture(&state.flame, state) else { return };
        let now = (picture, Theme::clone(&theme), painter.surface_count());
        if self.shown.as_ref() == Some(&now) {
            return;
        }
        let (picture, theme, _) = &now;
        let thick = state.flame.canvas.map_or(1, |canvas| canvas.scale.round().max(1.0) as i32);
        let flame = Flame {
            tiles: picture.tiles.iter().map(|it| to_tile(it, picture.size_px[1])).collect(),
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
        match painter.draw_flame(&drawing) {
            None => return,
            Some(false) => return select_renderer(app),
            Some(true) => {}
        }
        draw_names(elements, picture, &flame, theme);
        self.frames += 1;
        let [_, canvas] = painter.canvases();
        dom::set_attribute(&canvas, "data-frames", &self.frames.to_string());
        if let Some(page) = state.flame.page() {
            dom::set_attribute(&canvas, "data-boxes", &page.boxes.len().to_string());
            dom::set_attribute(&canvas, "data-total", &page.total.bytes.to_string());
            let [at_a, at_b] = page.ends.map(|end| end.bytes.to_string());
            dom::set_attribute(&canvas, "data-ends", &[&at_a, " ", &at_b].concat());
        }
        self.shown = Some(now);
    }
}

impl Panel {
    /// Synchronizes the scroll bar with the state.
    fn scroll(&mut self, elements: &Elements, state: &State) {
        let scale = state.flame.canvas.map_or(1.0, |canvas| canvas.scale);
        let height = (state.flame.content_px() as f64 / scale).floor() as i32;
        if height != self.height {
            self.height = height;
            set_style(&elements.flame_space, "height", &(height.to_string() + "px"));
        }
        let top = state.flame.scrolled_css();
        if (elements.flame_scroll.scroll_top() - top).abs() > 1 {
            elements.flame_scroll.set_scroll_top(top);
        }
    }
}

fn to_tile(it: &FlameTile, height_px: u32) -> Tile {
    let fill = match it.fill {
        FlameFill::Slot(slot) => FIRST_FILL + slot,
        FlameFill::Change(0) => FIRST_NEUTRAL + 3,
        FlameFill::Change(step) => {
            let shrank = if step < 0 { CHANGE_STEPS } else { 0 };
            FIRST_CHANGE + shrank + u32::from(step.unsigned_abs()).clamp(1, CHANGE_STEPS) - 1
        }
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
    let has_faded = !matches!(it.fill, FlameFill::Change(1.. | ..=-1));
    let faded = if it.is_faded && has_faded { FADED_FILL } else { 0 };
    let hatched = if it.is_hatched { HATCHED } else { 0 };
    let paint = (fill + faded) & INDEX_MASK | hatched | it.matched_px.min(0xffff) << MARK_SHIFT;
    let edge = |px: i32| px.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
    let [top, bottom] = it.y.map(|y| height_px as i32 - y);
    Tile { x: it.x.map(edge), y: [edge(bottom), edge(top)], paint }
}

fn outlines(picture: &FlamePicture, look: &PictureTheme, thick: i32) -> Vec<OverlayRect> {
    let of = |outline: &ui::features::flame::picture::FlameOutline| {
        let (thick, rgba) = match outline.stroke {
            FlameStroke::Hovered => (thick, look.hover),
            FlameStroke::Revealed => (thick, look.selection),
            FlameStroke::Selected => (2 * thick, look.selection),
        };
        let [top, bottom] = outline.y.map(|y| picture.size_px[1] as i32 - y);
        // The outline does not cover the seam between boxes.
        let seam = i32::from(outline.x[1] - outline.x[0] >= flames::MIN_SEAMED_PX);
        OverlayRect::outline([outline.x[0], outline.x[1] - seam], [bottom + 1, top], thick, rgba)
    };
    picture.outlines.iter().flat_map(of).collect()
}

fn draw_names(elements: &Elements, picture: &FlamePicture, flame: &Flame, theme: &Theme) {
    let canvas = &elements.flame_labels;
    let [width, height] = picture.size_px;
    if (canvas.width(), canvas.height()) != (width, height) {
        canvas.set_width(width);
        canvas.set_height(height);
    }
    let Some(context) = context_2d(canvas) else { return };
    context.clear_rect(0.0, 0.0, width.into(), height.into());
    context.set_text_baseline("middle");
    for weight in ["", "600 "] {
        context.set_font(&[weight, &picture.text_px.to_string(), "px ", &theme.font].concat());
        for text in picture.texts.iter().filter(|text| text.is_bold != weight.is_empty()) {
            let colour = flame.tiles.get(text.tile).and_then(|it| flame.colours.get((it.paint & INDEX_MASK) as usize));
            context.set_fill_style_str(contrast_colour(colour.copied().unwrap_or(theme.look.background)));
            // Cannot fail for a string.
            let _ = context.fill_text_with_max_width(&text.text, text.origin[0], text.origin[1], text.max_width_px);
        }
    }
}

/// Returns the position of a mouse event on the canvas, in device pixels.
fn position(app: &App, elements: &Elements, event: &Event) -> Option<[f64; 2]> {
    let scale = app.state.borrow().flame.canvas?.scale;
    position_in(&elements.flame_plot, event, scale)
}
