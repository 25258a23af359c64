//! Screenshots: saved for review, and read back to compare pictures.

use crate::chromium::{Adapter, Chromium};
use crate::page::Page;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::path::Path;
use std::sync::LazyLock;

/// Minimum number of colours on a timeline with drawn blocks.
pub(crate) const MIN_COLOURS: u64 = 4;

/// Script that keeps all canvases of a page in main memory, as the page does for the CPU renderer. A GPU draws the
/// edges of letters differently.
pub(crate) const CANVASES_IN_MEMORY: &str = "{ const get = HTMLCanvasElement.prototype.getContext; \
    HTMLCanvasElement.prototype.getContext = function (kind, options) { \
        return get.call(this, kind, kind === '2d' ? { ...options, willReadFrequently: true } : options); }; }";

/// Summary of the pixels of an element on a screenshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Number of distinct colours.
    pub(crate) colours: u64,
    /// Checksum of all pixels.
    checksum: u64,
}

impl Picture {
    /// Takes a screenshot and summarizes the part that the element covers.
    #[track_caller]
    pub(crate) fn capture(page: &Page, selector: &str) -> Picture {
        let read = READER.evaluate(&format!(
            "(async () => {{
                const pixels = new Uint32Array({});
                let checksum = 0;
                for (const pixel of pixels) checksum = (Math.imul(checksum, 31) + pixel) >>> 0;
                return [new Set(pixels).size, checksum];
            }})()",
            pixels_script(page, selector, &page.screenshot()),
        ));
        let number = |at: usize| read[at].as_u64().expect("a pair of integers");
        Picture { colours: number(0), checksum: number(1) }
    }
}

// A tab without the page's content security policy, which decodes PNGs.
static READER: LazyLock<Page> = LazyLock::new(|| Page::blank(Chromium::shared(Adapter::Missing)));

/// Script that returns the pixels of the part of a screenshot that an element covers.
#[track_caller]
fn pixels_script(page: &Page, selector: &str, screenshot: &str) -> String {
    let corners = page.bounding_box(selector);
    format!(
        "await (async () => {{
            const image = await createImageBitmap(await (await fetch('data:image/png;base64,{screenshot}')).blob());
            const [width, height] = [Math.floor({}), Math.floor({})];
            const canvas = new OffscreenCanvas(width, height).getContext('2d');
            canvas.drawImage(image, -{}, -{});
            return canvas.getImageData(0, 0, width, height).data.buffer;
        }})()",
        corners.width, corners.height, corners.left, corners.top,
    )
}

/// Largest difference of a colour channel, of 255, between two screenshots of an element. A browser may blend edges
/// slightly differently after its GPU process restarts; missing or moved parts differ by more.
#[track_caller]
pub(crate) fn largest_difference(page: &Page, selector: &str, screenshots: [&str; 2]) -> u64 {
    let [one, other] = screenshots.map(|screenshot| pixels_script(page, selector, screenshot));
    let script = format!(
        "(async () => {{
            const [one, other] = [new Uint8Array({one}), new Uint8Array({other})];
            return one.reduce((most, value, at) => Math.max(most, Math.abs(value - other[at])), 0);
        }})()"
    );
    READER.evaluate(&script).as_u64().expect("an integer")
}

/// Picture of the timeline once it no longer changes, since answers of the worker arrive later.
#[track_caller]
pub(crate) fn settled_timeline(page: &Page) -> Picture {
    settled_picture(page, || Picture::capture(page, "canvas#timeline"))
}

/// Picture returned by `look` once it no longer changes and the timeline is drawn.
#[track_caller]
pub(crate) fn settled_picture(page: &Page, look: impl Fn() -> Picture) -> Picture {
    let frames = || page.attribute("canvas#timeline", "data-frames").filter(|frames| frames != "0");
    page.wait_until("the timeline is drawn", || frames().is_some());
    page.wait_until_settled("the picture", || (look(), frames())).0
}

/// Saves a screenshot as `target/screenshots/NAME.png`.
pub(crate) fn save_screenshot(page: &Page, name: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("screenshots");
    std::fs::create_dir_all(&folder).expect("target can be written");
    let png = BASE64_STANDARD.decode(page.screenshot()).expect("the screenshot is base64");
    std::fs::write(folder.join(format!("{name}.png")), png).expect("target can be written");
}

/// Copies a file into the folder of the screenshots.
pub(crate) fn save_file(path: &Path, name: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("screenshots");
    std::fs::create_dir_all(&folder).expect("target can be written");
    std::fs::copy(path, folder.join(name)).expect("target can be written");
}

/// Saves a screenshot like [`keep`], once the timeline is drawn.
#[track_caller]
pub(crate) fn save_drawn_screenshot(page: &Page, name: &str) {
    page.wait_until("the timeline is drawn", || Picture::capture(page, "canvas#timeline").colours >= MIN_COLOURS);
    save_screenshot(page, name);
}
