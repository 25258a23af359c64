//! The 2-D canvas above the picture: the figure around it.

use super::dom::option;
use super::pen;
use super::theme::Theme;
use js_sys::Reflect;
use picture::render::Look;
use ui::figure::Figure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// CSS pixels.
pub(super) const FONT: f64 = 11.0;
/// So faint that every pixel rounds to nothing, and yet it is drawn.
const UNSEEN: f64 = 0.001;

/// Draws the figure.
pub(super) fn draw(canvas: &HtmlCanvasElement, figure: &Figure, theme: &Theme, look: &Look, stage: (u32, u32)) {
    if (canvas.width(), canvas.height()) != stage {
        canvas.set_width(stage.0);
        canvas.set_height(stage.1);
    }
    let Some(context) = bare_context(canvas) else { return };
    context.clear_rect(0.0, 0.0, f64::from(stage.0), f64::from(stage.1));
    // The plot is at the stage's top, and at its right but for an axis there.
    let left = f64::from(stage.0) - figure.plot[0] - figure.right;
    pen::draw(&context, &figure.shapes([left, 0.0]), theme, look);
}

/// Writes a text that nobody sees. The first one on a canvas keeps the page for 30 to 150 ms, for the browser's link to the GPU
/// process and for the font: better now, while nothing is open, than when the first picture is due.
pub(super) fn prepare(canvas: &HtmlCanvasElement, theme: &Theme, scale: f64) {
    if let Some(context) = context(canvas, theme, scale) {
        context.set_global_alpha(UNSEEN);
        let _ = context.fill_text("0123456789 KMGiB", 0.0, FONT * scale);
    }
}

/// The context of a canvas, with the font of labels.
pub(super) fn context(canvas: &HtmlCanvasElement, theme: &Theme, scale: f64) -> Option<CanvasRenderingContext2d> {
    let context = bare_context(canvas)?;
    context.set_font(&format!("{}px {}", FONT * scale, theme.font));
    Some(context)
}

thread_local! {
    /// Options of all contexts. Without WebGPU, canvases are in memory, where the CPU draws the picture anyway: WebKitGTK draws others by
    /// OpenGL, and where that is software, the first picture came up to a second later. Where there is a GPU nevertheless, labels and
    /// outlines are drawn without it.
    static OPTIONS: JsValue = if has_webgpu() { JsValue::UNDEFINED } else { option("willReadFrequently") };
}

/// The context of a canvas.
pub(super) fn bare_context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    OPTIONS.with(|options| canvas.get_context_with_context_options("2d", options)).ok()??.dyn_into().ok()
}

/// Whether the browser knows of WebGPU, with or without a GPU.
fn has_webgpu() -> bool {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into());
    navigator.and_then(|navigator| Reflect::has(&navigator, &"gpu".into())).unwrap_or(false)
}

/// Dark or light, whichever stands out more from a colour. What is as bright as a fifth of white has the same contrast to both; squares
/// come near enough to linear light.
pub(super) fn ink([red, green, blue, _]: [u8; 4]) -> &'static str {
    let square = |channel: u8| u32::from(channel) * u32::from(channel);
    let luminance = (2126 * square(red) + 7152 * square(green) + 722 * square(blue)) / 10_000;
    if luminance > 255 * 255 / 5 { "#10141b" } else { "#ffffff" }
}
