//! Export of pictures as PNG or SVG. In a PNG, the CPU renderer draws the rectangles and a 2D canvas draws the text.

use super::app::App;
use super::dom::{self, append};
use super::theme::Theme;
use super::{labels, painter, pen};
use gloo::timers::callback::Timeout;
use js_sys::{Array, Promise};
use picture::render::{CpuRenderer, Drawing, Lane, OverlayRect, PictureTheme};
use picture::svg::{self, Inks};
use picture::timeline::View;
use ui::features::export::ExportAction;
use ui::shell::action::Action;
use ui::state::picture_file::{Format, Picture};
use wasm_bindgen::{Clamped, JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, BlobPropertyBag, CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement, ImageData, Url, Window,
};

/// Height, in pixels, of the strips that are drawn one after another. It limits how long the page is unresponsive, and
/// the memory that the CPU renderer needs.
const STRIP_PX: u32 = 256;
/// Width, in pixels, of the area that is read back to check whether the browser alters canvas pixels.
const PROBE_PX: f64 = 16.0;
/// Maximum difference, out of 255, between a colour channel and the value that is read back from the canvas.
const MAX_CHANNEL_ERROR: u8 = 2;
/// Time, in milliseconds, after which the URL of a download is revoked. It is long, because some browsers ask the user
/// before they download.
const URL_LIFETIME_MS: u32 = 120_000;

/// Renders the picture and lets the browser save it.
pub(super) fn save(app: &'static App, picture: Box<Picture>) {
    app.busy.spawn(async move {
        let theme = app.theme.borrow().clone();
        let look = painter::scene_look(&theme.look, picture.plot_settings, &picture.faded);
        let blob = match picture.format {
            Format::Svg => to_svg(&picture, &theme, &look),
            Format::Png1 | Format::Png2 | Format::Png4 => to_png(app, &picture, &theme, &look).await,
        };
        let saved = blob.and_then(|blob| download(app, &blob, &picture.file_name)).map(|()| picture.file_name.clone());
        app.dispatch(Action::feature(ExportAction::PictureSaved(saved.map_err(|error| dom::error_message(&error)))));
    });
}

fn to_svg(picture: &Picture, theme: &Theme, look: &PictureTheme) -> Result<Blob, JsValue> {
    let inks =
        Inks { soft: &theme.text, strong: &theme.strong, line: &theme.line, peak: &theme.peak, accent: &theme.accent };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = svg::write(&mut text, &picture.drawing(), look, &inks);
    let kind = BlobPropertyBag::new();
    kind.set_type("image/svg+xml");
    Blob::new_with_str_sequence_and_options(&Array::of1(&text.into()), &kind)
}

async fn to_png(app: &App, picture: &Picture, theme: &Theme, look: &PictureTheme) -> Result<Blob, JsValue> {
    let sheet = &picture.sheet;
    let canvas: HtmlCanvasElement = app.dom.document.create_element("canvas")?.dyn_into()?;
    canvas.set_width(sheet.size[0]);
    canvas.set_height(sheet.size[1]);
    let context = labels::context_2d(&canvas).ok_or("no canvas")?;
    context.set_fill_style_str(&pen::css(look.background));
    context.fill_rect(0.0, 0.0, f64::from(sheet.size[0]), f64::from(sheet.size[1]));
    if !reads_back(&context, look.background)? {
        return Err(js_sys::Error::new("this browser changes the pixels it reads back. Save as SVG instead").into());
    }
    let mut twin = CpuRenderer::new();
    twin.upload(0, &picture.scene);
    let height = picture.view.height_px;
    let mut top = 0;
    while top < height {
        let rows = STRIP_PX.min(height - top);
        let up = height - top - rows;
        let view = View { bottom_px: picture.view.bottom_px + i64::from(up), height_px: rows, ..picture.view };
        let overlay: Vec<OverlayRect> = picture
            .outline
            .iter()
            .map(|rect| OverlayRect { x: rect.x, y: rect.y.map(|y| y - up as i32), rgba: look.selection })
            .collect();
        let lane = Lane::single(&view, look);
        let image = twin.draw(&Drawing {
            size_px: [view.width_px, rows],
            background: look.background,
            lanes: &[lane],
            flame: None,
            overlay: &overlay,
        });
        let data = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&image.pixels), image.width, image.height)?;
        context.put_image_data(&data, f64::from(sheet.origin[0]), f64::from(sheet.origin[1] + top))?;
        top += rows;
        yield_to_browser(&app.dom.window).await;
    }
    pen::draw_shapes(&context, &sheet.shapes, theme, look);
    let blob = Promise::new(&mut |resolve, reject| {
        if let Err(error) = canvas.to_blob(&resolve) {
            let _ = reject.call1(&JsValue::UNDEFINED, &error);
        }
    });
    // A canvas that is too large for the browser yields no bytes.
    JsFuture::from(blob).await?.dyn_into().map_err(|_| js_sys::Error::new("the browser has not enough memory").into())
}

/// Returns whether a canvas filled with this colour is read back almost unchanged. Firefox with
/// `privacy.resistFingerprinting` returns coloured stripes instead. Invisible changes of the lowest bits are accepted.
fn reads_back(context: &CanvasRenderingContext2d, [red, green, blue, _]: [u8; 4]) -> Result<bool, JsValue> {
    let read = context.get_image_data(0.0, 0.0, PROBE_PX, 1.0)?.data();
    let drawn = [red, green, blue, u8::MAX];
    Ok(read.iter().zip(drawn.iter().cycle()).all(|(read, drawn)| read.abs_diff(*drawn) <= MAX_CHANNEL_ERROR))
}

/// Yields to the browser's event loop.
async fn yield_to_browser(window: &Window) {
    let passed = Promise::new(&mut |resolve, _| {
        let _ = window.set_timeout_with_callback(&resolve);
    });
    let _ = JsFuture::from(passed).await;
}

/// Lets the browser save text as a file.
pub(super) fn save_text(app: &App, name: &str, text: &str) -> Result<(), JsValue> {
    download(app, &Blob::new_with_str_sequence(&Array::of1(&text.into()))?, name)
}

/// Lets the browser save a blob as a file with this name.
pub(super) fn download(app: &App, blob: &Blob, name: &str) -> Result<(), JsValue> {
    let address = Url::create_object_url_with_blob(blob)?;
    let link: HtmlElement = app.dom.new_element("a", "", "").dyn_into()?;
    dom::set_attribute(&link, "href", &address);
    dom::set_attribute(&link, "download", name);
    link.set_hidden(true);
    append(&app.dom.body, &link);
    link.click();
    link.remove();
    Timeout::new(URL_LIFETIME_MS, move || drop(Url::revoke_object_url(&address))).forget();
    Ok(())
}
