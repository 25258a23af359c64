//! Minimap of the whole trace, above the timeline. It shows the cursor, the selected range and the visible window. The
//! window can be moved and resized.

use crate::app::{App, Part};
use crate::dom::listen;
use crate::elements::elements;
use crate::labels::context_2d;
use crate::sizes::watch;
use crate::theme::Theme;
use protocol::Overview;
use std::cell::Cell;
use std::rc::Rc;
use ui::features::State;
use ui::shell::action::Action;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, PointerEvent};

elements! {
    HtmlCanvasElement: minimap;
}

/// Maximum distance, in CSS pixels, at which the pointer grabs an edge of the window.
const GRAB_PX: f64 = 7.0;
/// Minimum width, in CSS pixels, at which the window is drawn.
const MIN_WINDOW_PX: f64 = 3.0;

/// State of the minimap, including the picture that was drawn last.
#[derive(Default)]
pub(super) struct Panel {
    shown: Option<Picture>,
}

/// All inputs of the drawn picture.
#[derive(PartialEq)]
struct Picture {
    overview: Option<Rc<Overview>>,
    /// Part of the shared time axis that the shown device covers, as fractions from 0 to 1.
    device_axis: [f64; 2],
    window: [f64; 2],
    cursor_position: Option<f64>,
    range: Option<[f64; 2]>,
    size: (u32, u32),
    theme: Theme,
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        watch(&elements.minimap, &app.sizes.minimap, &app.frame)?;
        let grip = Rc::new(Cell::new(None::<Grip>));
        let on = |event: &'static str, then: fn(&App, &Cell<Option<Grip>>, &PointerEvent, &Elements)| {
            let grip = grip.clone();
            listen(&elements.minimap.clone(), event, move |event| {
                if let Some(event) = event.dyn_ref::<PointerEvent>() {
                    then(app, &grip, event, elements);
                }
            });
        };
        on("pointerdown", |app, grip, event, elements| {
            let window = ui::plot::navigate::window(&app.state.borrow());
            let Some((at, width, window)) =
                axis_position(elements, event).zip(window).map(|((at, width), window)| (at, width, window))
            else {
                return;
            };
            let _ = elements.minimap.set_pointer_capture(event.pointer_id());
            if event.shift_key() {
                return grip.set(Some(Grip::Range(at)));
            }
            let near = |edge: f64| (at - edge).abs() * width <= GRAB_PX;
            let inside = (window[0]..=window[1]).contains(&at);
            grip.set(Some(match (near(window[0]), near(window[1])) {
                (true, false) => Grip::Left,
                (false, true) => Grip::Right,
                _ if inside => Grip::Window { from: at, window },
                _ => {
                    // A click outside the window centres it there.
                    let half = (window[1] - window[0]) / 2.0;
                    let window = [at - half, at + half];
                    app.dispatch(Action::MinimapMoved(inside_axis(window)));
                    Grip::Window { from: at, window }
                }
            }));
        });
        on("pointermove", |app, grip, event, elements| {
            let Some((at, _)) = axis_position(elements, event) else { return };
            let Some(window) = ui::plot::navigate::window(&app.state.borrow()) else { return };
            match grip.get() {
                Some(Grip::Range(from)) => app.dispatch(Action::MinimapRangeDrawn([from, at])),
                Some(Grip::Left) => app.dispatch(Action::MinimapMoved([at.min(window[1]), window[1]])),
                Some(Grip::Right) => app.dispatch(Action::MinimapMoved([window[0], at.max(window[0])])),
                Some(Grip::Window { from, window }) => {
                    let moved = window.map(|edge| edge + at - from);
                    app.dispatch(Action::MinimapMoved(inside_axis(moved)));
                }
                None => {}
            }
        });
        on("pointerup", |_, grip, _, _| grip.set(None));
        Ok(())
    }

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        let canvas = &elements.minimap;
        let scale = state.canvas.map_or(1.0, |canvas| canvas.scale);
        let size = app.sizes.minimap.get().to_device(scale);
        let Some(window) = ui::plot::navigate::window(state).filter(|_| size.0 > 0 && size.1 > 0) else {
            // As for the flame graph, WebKit may show the canvas as empty.
            self.shown = None;
            return;
        };
        let overview = ui::plot::plots::overview(state).cloned();
        let device_axis = ui::plot::navigate::device_axis(state).unwrap_or([0.0, 1.0]);
        let cursor_position =
            ui::scope::cursor::x_px(state).and_then(|(x, _)| ui::plot::navigate::axis_fraction(state, x));
        let range = ui::scope::range::px(state).and_then(|[from, to]| {
            Some([ui::plot::navigate::axis_fraction(state, from)?, ui::plot::navigate::axis_fraction(state, to)?])
        });
        let now =
            Picture { overview, device_axis, window, cursor_position, range, size, theme: app.theme.borrow().clone() };
        if self.shown.as_ref() == Some(&now) {
            return;
        }
        if (canvas.width(), canvas.height()) != size {
            canvas.set_width(size.0);
            canvas.set_height(size.1);
        }
        let Some(context) = context_2d(canvas) else { return };
        draw(&context, &now, scale);
        self.shown = Some(now);
    }
}

fn draw(context: &CanvasRenderingContext2d, picture: &Picture, scale: f64) {
    let Picture { device_axis, window, theme, .. } = picture;
    let (width, height) = (f64::from(picture.size.0), f64::from(picture.size.1));
    context.clear_rect(0.0, 0.0, width, height);
    if let Some(overview) = &picture.overview {
        let highest = overview.total.iter().chain(&overview.reserved).copied().max().unwrap_or(0).max(1) as f64;
        for (heights, colour, alpha) in [(&overview.reserved, &theme.line, 1.0), (&overview.total, &theme.text, 0.75)] {
            context.set_fill_style_str(colour);
            context.set_global_alpha(alpha);
            context.begin_path();
            let [left, right] = device_axis.map(|edge| edge * width);
            context.move_to(left, height);
            let step = (right - left) / heights.len().max(1) as f64;
            for (at, &bytes) in heights.iter().enumerate() {
                let y = height - bytes as f64 / highest * (height - 2.0 * scale);
                context.line_to(left + at as f64 * step, y);
                context.line_to(left + (at + 1) as f64 * step, y);
            }
            context.line_to(right, height);
            context.close_path();
            context.fill();
        }
    }
    let (left, right) = drawn_window(*window, width, MIN_WINDOW_PX * scale);
    context.set_fill_style_str(&theme.ground);
    context.set_global_alpha(0.65);
    context.fill_rect(0.0, 0.0, left, height);
    context.fill_rect(right, 0.0, width - right, height);
    context.set_fill_style_str(&theme.accent);
    if let Some([from, to]) = picture.range.map(|range| range.map(|edge| edge * width)) {
        context.set_global_alpha(0.35);
        context.fill_rect(from, 0.0, (to - from).max(scale), height);
    }
    context.set_global_alpha(1.0);
    if let Some(pin) = picture.cursor_position.map(|pin| (pin * width).clamp(0.0, width)) {
        let side = 4.0 * scale;
        context.fill_rect((pin - scale / 2.0).round(), 0.0, scale.max(1.0), height);
        context.begin_path();
        context.move_to(pin - side, 0.0);
        context.line_to(pin + side, 0.0);
        context.line_to(pin, side);
        context.fill();
    }
    context.set_stroke_style_str(&theme.accent);
    context.set_line_width(1.5 * scale);
    context.stroke_rect(
        left + 0.75 * scale,
        0.75 * scale,
        (right - left - 1.5 * scale).max(scale),
        height - 1.5 * scale,
    );
}

/// Returns the left and right edge of the drawn window in pixels. It is at least `narrowest` pixels wide.
fn drawn_window(window: [f64; 2], width: f64, narrowest: f64) -> (f64, f64) {
    let (left, right) = (window[0] * width, window[1] * width);
    let missing = (narrowest - (right - left)).max(0.0) / 2.0;
    ((left - missing).max(0.0), (right + missing).min(width))
}

/// Part of the window that is being dragged. Positions are fractions of the axis.
#[derive(Clone, Copy)]
enum Grip {
    Left,
    Right,
    Window {
        from: f64,
        window: [f64; 2],
    },
    /// A new range is being drawn, which started here.
    Range(f64),
}

/// Shifts a window into the axis without changing its width.
fn inside_axis([left, right]: [f64; 2]) -> [f64; 2] {
    let shift = if left < 0.0 { -left } else { (1.0 - right).min(0.0) };
    [left + shift, right + shift]
}

/// Returns the pointer's position as a fraction of the axis, and the width of the axis in CSS pixels.
fn axis_position(elements: &Elements, event: &PointerEvent) -> Option<(f64, f64)> {
    let area = elements.minimap.get_bounding_client_rect();
    (area.width() > 0.0).then(|| ((f64::from(event.client_x()) - area.left()) / area.width(), area.width()))
}
