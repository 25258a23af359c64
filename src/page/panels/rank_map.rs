//! Chart of all ranks: a curve for each rank, or a heat map with a row for each rank if there are many.

use crate::dom::{Dom, append, set_attribute, set_style};
use crate::labels::context_2d;
use crate::theme::Theme;
use base::units::Bytes;
use picture::timeline::paint::SHADES;
use protocol::HeatMap;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{Element, HtmlCanvasElement, ImageData};

/// Maximum number of ranks that are drawn as curves instead of a heat map.
const MAX_CURVES: usize = 16;
/// Height of the curve of a rank, in pixels.
const CURVE_PX: usize = 26;
/// Height, in pixels, of the ribbon that shows the spread over all ranks.
const RIBBON_PX: usize = 48;
/// Height of a row of the heat map, in pixels: for at most [`MAX_TALL_ROWS`] rows, and for more.
const ROW_PX: [usize; 2] = [6, 3];
/// Maximum number of rows that have the first height in [`ROW_PX`].
const MAX_TALL_ROWS: usize = 64;
/// Palette index of the colour of the curves, the heat map and the ribbon.
const COLOUR: usize = SHADES as usize;
/// Minimum opacity, out of 255, of a value above 0.
const MIN_ALPHA: u32 = 18;

/// Creates the elements of the chart.
pub(super) fn new_map(dom: &Dom, map: &HeatMap, theme: &Theme) -> Element {
    let figure = dom.new_element("div", "chart map", "");
    let draws_curves = map.rows.len() <= MAX_CURVES;
    let together = if draws_curves { 1 } else { map.rows.len() };
    let columns = map.columns as usize;
    let values = map.values.chunks(together.max(1) * columns.max(1));
    for (at, (rows, values)) in map.rows.chunks(together.max(1)).zip(values).enumerate() {
        let line = dom.append_new(&figure, "div", "row", "");
        let labels = dom.append_new(&line, "div", "labels", "");
        let (first, last) = (rows.first(), rows.last().filter(|_| !draws_curves));
        for (place, row) in first.iter().chain(&last).enumerate() {
            let row_of_map = if place == 0 { at * together } else { map.rows.len() - 1 };
            let label = dom.new_button("", &row.name, ("data-rank", &row_of_map.to_string()));
            let oom = if row.is_oom { " · OOM" } else { "" };
            dom.append_new(&label, "span", "", &[&Bytes(row.peak).to_string(), oom].concat());
            set_attribute(&label, "title", "Open this snapshot (Shift: compare it with the open one)");
            append(&labels, &label);
        }
        let height = if draws_curves { CURVE_PX } else { rows.len() * ROW_PX[usize::from(rows.len() > MAX_TALL_ROWS)] };
        let canvas = dom.append_new(&line, "canvas", "", "");
        set_attribute(&canvas, "data-ranks", &(at * together).to_string());
        set_attribute(&canvas, "data-count", &rows.len().to_string());
        set_attribute(&canvas, "aria-hidden", "true");
        set_style(&canvas, "height", &[&height.to_string(), "px"].concat());
        if let Ok(canvas) = canvas.dyn_into::<HtmlCanvasElement>() {
            // If the canvas cannot be drawn, the labels and the table remain.
            let _ = draw(&canvas, (columns, height), rows.len(), values, theme);
        }
    }
    add_ribbon(dom, &figure, map, theme);
    figure
}

/// Adds the spread over all ranks: the ranges from minimum to maximum and from 5 % to 95 %, the median, and a line at
/// the start of each step.
fn add_ribbon(dom: &Dom, figure: &Element, map: &HeatMap, theme: &Theme) {
    let (columns, height) = (map.columns as usize, RIBBON_PX);
    let line = dom.append_new(figure, "div", "row spread", "");
    dom.append_new(&line, "div", "labels", "min, 5 %, median, 95 %, max over ranks");
    let canvas = dom.append_new(&line, "canvas", "", "");
    set_attribute(&canvas, "aria-hidden", "true");
    set_style(&canvas, "height", &[&height.to_string(), "px"].concat());
    let mut alphas = vec![0; columns * height];
    for (x, [min, p5, median, p95, max]) in map.ribbon.iter().enumerate() {
        let row = |value: &u8| usize::from(*value) * (height - 1) / 255;
        for y in 0..height {
            let within = |from: &u8, to: &u8| (row(from)..=row(to)).contains(&y);
            let alpha = match () {
                _ if within(median, median) => 255,
                _ if within(p5, p95) => 130,
                _ if within(min, max) => 60,
                _ if map.step_columns.contains(&(x as u32)) => 34,
                _ => 0,
            };
            // Rows count from the bottom.
            alphas.get_mut((height - 1 - y) * columns + x).into_iter().for_each(|pixel| *pixel = alpha);
        }
    }
    if let Ok(canvas) = canvas.dyn_into::<HtmlCanvasElement>() {
        let _ = paint(&canvas, (columns, height), &alphas, theme);
    }
}

fn draw(
    canvas: &HtmlCanvasElement,
    (columns, height): (usize, usize),
    rows: usize,
    values: &[u8],
    theme: &Theme,
) -> Option<()> {
    let row_height = height / rows.max(1);
    let mut alphas = vec![0; columns * height];
    for (at, pixel) in alphas.iter_mut().enumerate() {
        let (x, y) = (at % columns, at / columns);
        let row = (y / row_height.max(1)).min(rows.saturating_sub(1));
        let value = u32::from(*values.get(row * columns + x)?);
        let alpha = match rows {
            // Rows count from the bottom.
            1 => 255 * u32::from((height - 1 - y) as u32 * 255 < value * (height as u32 - 2)),
            _ => MIN_ALPHA + value * (255 - MIN_ALPHA) / 255,
        };
        *pixel = alpha as u8;
    }
    paint(canvas, (columns, height), &alphas, theme)
}

/// Fills a canvas with one colour. `alphas` is the opacity of each pixel.
fn paint(canvas: &HtmlCanvasElement, (columns, height): (usize, usize), alphas: &[u8], theme: &Theme) -> Option<()> {
    let [red, green, blue, _] = theme.look.palette.get(COLOUR).copied()?;
    let pixels: Vec<u8> = alphas.iter().flat_map(|&alpha| [red, green, blue, alpha]).collect();
    canvas.set_width(columns as u32);
    canvas.set_height(height as u32);
    let data = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), columns as u32, height as u32).ok()?;
    context_2d(canvas)?.put_image_data(&data, 0.0, 0.0).ok()
}
