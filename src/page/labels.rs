//! Labels and axes around the timeline, drawn on a 2D canvas above it.

use super::dom::flag_options;
use super::pen;
use super::theme::Theme;
use js_sys::Reflect;
use picture::render::PictureTheme;
use std::cell::Cell;
use ui::plot::figure::Figure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// Font size of labels, in CSS pixels.
pub(super) const FONT: f64 = 11.0;
/// Opacity of invisible text: low enough that every pixel stays transparent, but not 0, so that the browser does draw
/// the text.
const INVISIBLE_ALPHA: f64 = 0.001;

/// Draws the figure's axes and labels. `stage` is the size of the canvas in device pixels.
pub(super) fn draw(canvas: &HtmlCanvasElement, figure: &Figure, theme: &Theme, look: &PictureTheme, stage: (u32, u32)) {
    if (canvas.width(), canvas.height()) != stage {
        canvas.set_width(stage.0);
        canvas.set_height(stage.1);
    }
    let Some(context) = context_2d(canvas) else { return };
    context.clear_rect(0.0, 0.0, f64::from(stage.0), f64::from(stage.1));
    // The plot is at the top of the stage or below a row of labels, and at its right edge unless there is an axis.
    let left = f64::from(stage.0) - figure.plot_px[0] - figure.right_axis_px;
    pen::draw_shapes(&context, &figure.shapes([left, figure.label_row_px]), theme, look);
}

/// Draws invisible text, so that later text appears quickly. The first text on a canvas blocks the page for 30 to 150
/// ms, while the browser connects to its GPU process and loads the font.
pub(super) fn prepare(canvas: &HtmlCanvasElement, theme: &Theme, scale: f64) {
    if let Some(context) = label_context(canvas, theme, scale) {
        context.set_global_alpha(INVISIBLE_ALPHA);
        let _ = context.fill_text("0123456789 KMGiB", 0.0, FONT * scale);
    }
}

/// Returns the 2D context of a canvas, set up with the font of labels.
pub(super) fn label_context(canvas: &HtmlCanvasElement, theme: &Theme, scale: f64) -> Option<CanvasRenderingContext2d> {
    let context = context_2d(canvas)?;
    context.set_font(&format!("{}px {}", FONT * scale, theme.font));
    Some(context)
}

thread_local! {
    /// Options of 2D contexts of canvases that are kept in main memory.
    static IN_MEMORY: JsValue = flag_options("willReadFrequently");
    /// True if new 2D contexts are kept in main memory. WebKitGTK, which has no WebGPU, would use OpenGL for them, and
    /// a software OpenGL delays the first picture by up to a second.
    static USES_MEMORY: Cell<bool> = Cell::new(!has_webgpu());
}

/// Keeps canvases whose 2D context is created later in main memory, where the CPU renderer draws. A GPU in software
/// takes five times as long to draw and show them.
pub(super) fn keep_in_memory() {
    USES_MEMORY.set(true);
}

/// Returns the 2D context of a canvas. `None` if the browser does not provide one.
pub(super) fn context_2d(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    let options = if USES_MEMORY.get() { IN_MEMORY.with(JsValue::clone) } else { JsValue::UNDEFINED };
    canvas.get_context_with_context_options("2d", &options).ok()??.dyn_into().ok()
}

/// Returns whether the browser has the WebGPU API, with or without a GPU.
fn has_webgpu() -> bool {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into());
    navigator.and_then(|navigator| Reflect::has(&navigator, &"gpu".into())).unwrap_or(false)
}

/// Returns black or white, whichever has more contrast to a colour. Both have equal contrast to a luminance of about
/// 0.2. Squared channels approximate linear light well enough.
pub(super) fn contrast_colour([red, green, blue, _]: [u8; 4]) -> &'static str {
    let square = |channel: u8| u32::from(channel) * u32::from(channel);
    let luminance = (2126 * square(red) + 7152 * square(green) + 722 * square(blue)) / 10_000;
    if luminance > 255 * 255 / 5 { "#10141b" } else { "#ffffff" }
}
