//! Export of the timeline as PNG and SVG: files are decoded and compared with the pixels of the page.

use crate::chromium::{Adapter, Chromium};
use crate::corpus;
use crate::fixtures::{self, halves};
use crate::opening::wait_for_halves;
use crate::page::Page;
use crate::screenshots::{self, save_drawn_screenshot, save_screenshot, settled_timeline};
use crate::site::Site;
use serde_json::Value;
use std::path::PathBuf;

/// Maximum difference of a colour channel, caused by rounding when canvases are blended.
const MAX_BLEND_DIFFERENCE: u64 = 4;

/// Opens the page in a colour scheme; downloads go to the folder of the fixtures.
fn open_with_scheme(scheme: &str, adapter: Adapter) -> Page {
    let page = Page::blank(Chromium::shared(adapter));
    page.save_downloads_in(&fixtures::folder());
    page.prefer_color_scheme(scheme);
    // With an adapter, WebGPU draws the page.
    page.navigate(&Site::shared().page_with_webgpu());
    page.wait_for_state("empty");
    page
}

fn open_halves(scheme: &str, adapter: Adapter) -> Page {
    let page = open_with_scheme(scheme, adapter);
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    // A pointer over the timeline would show a crosshair, which is not exported.
    page.move_to(1.0, 1.0);
    settled_timeline(&page);
    page
}

/// Returns whether the export dialog is open.
fn is_open(page: &Page) -> bool {
    page.evaluate("document.querySelector('#export').open") == true
}

/// Runs `how`, which saves a file, and waits for the file.
#[track_caller]
fn save_from_page(page: &Page, name: &str, how: impl FnOnce()) -> PathBuf {
    let path = fixtures::folder().join(name);
    let _ = std::fs::remove_file(&path);
    how();
    page.wait_until(&format!("{name} is saved"), || {
        std::fs::metadata(&path).is_ok_and(|file| file.len() > 0) && page.text("#status") == format!("Saved {name}.")
    });
    path
}

/// Runs `script` in a tab of the same origin without the page's content security policy. It can use `image(url)`, which
/// returns pixels, and `furthest`, which returns the largest difference of two images.
#[track_caller]
fn run_reader(script: &str) -> Value {
    let reader = Page::open(Chromium::shared(Adapter::Missing), &format!("{}/no/such/file", Site::shared().origin));
    reader.evaluate(&format!(
        "(async () => {{
            const image = async (address) => {{
                const image = new Image();
                image.src = address;
                await image.decode();
                const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext('2d');
                canvas.drawImage(image, 0, 0);
                const {{ data, width, height }} = canvas.getImageData(0, 0, image.naturalWidth, image.naturalHeight);
                return {{ data, width, height, at: (x, y) => data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4) }};
            }};
            const furthest = (one, other, [left, top], [otherLeft, otherTop], [width, height]) => {{
                let most = 0;
                for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {{
                    const a = one.at(left + x, top + y), b = other.at(otherLeft + x, otherTop + y);
                    for (let c = 0; c < 4; c++) most = Math.max(most, Math.abs(a[c] - b[c]));
                }}
                return most;
            }};
            {script}
        }})()"
    ))
}

/// Position and size of the plot in an exported image, and its position on the page, in CSS pixels.
struct PlotPosition {
    origin: [u64; 2],
    size: [u64; 2],
    page_origin: [u64; 2],
}

/// Returns the [`Place`]. The origin depends on the widths of the gutter and the header in `ui`.
fn plot_position(page: &Page) -> PlotPosition {
    let timeline = page.bounding_box("canvas#timeline");
    let whole = |px: f64| px.round() as u64;
    PlotPosition {
        origin: [78, 65],
        size: [whole(timeline.width), whole(timeline.height)],
        page_origin: [whole(timeline.left), whole(timeline.top)],
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn png_matches_pixels_of_page() {
    for (scheme, adapter) in [("light", Adapter::Software), ("dark", Adapter::Missing)] {
        let page = open_halves(scheme, adapter);
        let screen = page.screenshot();
        let name = "halves-device0-events-0-121.png";
        let path = save_from_page(&page, name, || {
            page.click("#export-open");
            page.wait_until("the dialog is open", || is_open(&page));
            save_screenshot(&page, &format!("export-dialog-{scheme}"));
            page.click("#export-png-1");
        });
        screenshots::save_file(&path, &format!("export-1x-{scheme}.png"));
        let PlotPosition { origin, size, page_origin } = plot_position(&page);
        // Excludes the round corners of the page's plot and the cursor's label at the top, whose width may differ.
        let inner = |[x, y]: [u64; 2]| [x + 9, y + 24];
        let (shown, at, part) = (inner(page_origin), inner(origin), [size[0] - 18, size[1] - 33]);
        let found = run_reader(&format!(
            "const [screen, file] = [await image('data:image/png;base64,{screen}'), await image('/open/{name}')];
             return [file.width, file.height, furthest(screen, file, {shown:?}, {at:?}, {part:?})];"
        ));
        assert_eq!(found[0], size[0] + 78 + 16, "{found}");
        assert!(
            found[2].as_u64().is_some_and(|most| most <= MAX_BLEND_DIFFERENCE),
            "{scheme}: pixels differ by {}",
            found[2]
        );
        assert_eq!(page.errors(), [] as [&str; 0]);
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn larger_pngs_are_rendered_not_interpolated() {
    let page = open_halves("dark", Adapter::Software);
    // In a high plot, a grid line lies inside a block. On a block's edge, one pixel at 1× would have two colours at 2×.
    let height = || page.bounding_box_now("canvas#timeline").height;
    let low = height();
    page.click("#answer-fold");
    page.wait_until("the plot is high", || height() > low * 1.5);
    let name = "halves-device0-events-0-121.png";
    let mut sizes = Vec::new();
    for key in ["1", "2", "4"] {
        page.evaluate("document.querySelector('#timeline').focus()");
        let path = save_from_page(&page, name, || {
            page.press("i");
            page.wait_until("the dialog is open", || is_open(&page));
            page.press(key);
        });
        screenshots::save_file(&path, &format!("export-{key}x-dark.png"));
        let times: u64 = key.parse().unwrap();
        let PlotPosition { origin, size, .. } = plot_position(&page);
        // This part has both blocks, their edges and grid lines, and no text.
        let found = run_reader(&format!(
            "const file = await image('/open/{name}');
             const colours = new Set();
             for (let y = {top}; y < {bottom}; y++) for (let x = {left}; x < {right}; x++)
                 colours.add(file.at(x, y).join());
             return [file.width, file.height, [...colours].sort()];",
            top = (origin[1] + size[1] * 6 / 10) * times,
            bottom = (origin[1] + size[1] * 95 / 100) * times,
            left = (origin[0] + size[0] / 2) * times,
            right = (origin[0] + size[0] * 9 / 10) * times,
        ));
        sizes.push((times, found));
    }
    let (_, first) = &sizes[0];
    for (times, found) in &sizes {
        for side in [0, 1] {
            let (once, now) = (first[side].as_u64().unwrap(), found[side].as_u64().unwrap());
            assert!(now.abs_diff(once * times) <= *times, "{times}×: {found}");
        }
        assert!(found[2].as_array().is_some_and(|colours| colours.len() >= 3), "{found}");
        assert_eq!(found[2], first[2], "the colours at {times}× differ");
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn svg_matches_png() {
    for scheme in ["light", "dark"] {
        let page = open_halves(scheme, Adapter::Software);
        let (x, y) = page.bounding_box("canvas#timeline").at(0.6, 0.75);
        page.click_at(x, y);
        page.wait_until("a block is selected", || page.attribute("#details", "data-size").is_some());
        page.move_to(1.0, 1.0);
        let [png, svg] = [("#export-png-1", "png"), ("#export-svg", "svg")].map(|(button, ending)| {
            let name = format!("halves-device0-events-0-121.{ending}");
            let path = save_from_page(&page, &name, || {
                page.click("#export-open");
                page.wait_until("the dialog is open", || is_open(&page));
                page.click(button);
            });
            screenshots::save_file(&path, &format!("export-{scheme}.{ending}"));
            name
        });
        let PlotPosition { origin, size, .. } = plot_position(&page);
        // Only the lower half is compared: it has no text, which may be rendered differently.
        let half = [size[0], size[1] / 2 - 1];
        let corner = [origin[0], origin[1] + size[1] - half[1]];
        let found = run_reader(&format!(
            "const [png, svg] = [await image('/open/{png}'), await image('/open/{svg}')];
             return [png.width - svg.width, png.height - svg.height, furthest(png, svg, {corner:?}, {corner:?}, {half:?})];"
        ));
        assert_eq!((&found[0], &found[1]), (&Value::from(0), &Value::from(0)));
        assert!(
            found[2].as_u64().is_some_and(|most| most <= MAX_BLEND_DIFFERENCE),
            "{scheme}: pixels differ by {}",
            found[2]
        );
        assert_eq!(page.errors(), [] as [&str; 0]);
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn escape_closes_dialog_and_keeps_selection() {
    let page = open_halves("light", Adapter::Software);
    let (x, y) = page.bounding_box("canvas#timeline").at(0.6, 0.75);
    page.click_at(x, y);
    page.wait_until("a block is selected", || page.attribute("#details", "data-size").is_some());
    page.press("i");
    page.wait_until("the dialog is open", || is_open(&page));
    page.press_escape_in("#export");
    page.wait_until("the dialog is closed", || !is_open(&page));
    assert!(page.attribute("#details", "data-size").is_some());
    page.press("i");
    page.wait_until("the dialog opens again", || is_open(&page));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn export_of_real_file_is_saved_as_screenshot() {
    let Some(files) = corpus::real_files() else { return };
    let Some(file) = files.iter().find(|file| file.path.ends_with("train-annotated-100.pickle")) else { return };
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 600)] {
        let page = open_with_scheme(scheme, Adapter::Software);
        page.resize(width, 800);
        page.drop_files(&[&file.path]);
        page.wait_for_state("ready");
        save_drawn_screenshot(&page, &format!("export-page-{scheme}-{width}"));
        for (button, ending) in [("#export-png-2", "png"), ("#export-svg", "svg")] {
            let path = save_from_page(&page, &format!("train-annotated-100-device0-events-0-11299.{ending}"), || {
                page.evaluate("document.querySelector('#export-open').click()");
                page.wait_until("the dialog is open", || is_open(&page));
                save_screenshot(&page, &format!("export-dialog-{scheme}-{width}"));
                page.click(button);
            });
            screenshots::save_file(&path, &format!("export-train-{scheme}-{width}.{ending}"));
        }
    }
}
