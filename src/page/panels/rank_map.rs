//! The map of many ranks as elements: a curve each where they are few, else one picture with a row for each.

use crate::dom::{Dom, append, set_attribute, set_style};
use crate::labels::bare_context;
use crate::theme::Theme;
use base::units::Bytes;
use engine::protocol::ChartMap;
use picture::timeline::paint::SHADES;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{Element, HtmlCanvasElement, ImageData};

/// Ranks that have a curve of their own.
const MOST_CURVES: usize = 16;
/// Pixels of a curve, and of a row of the picture where they are few or many, from top to bottom.
const CURVE: usize = 26;
const ROWS: [usize; 2] = [6, 3];
/// Rows that are few.
const FEW: usize = 64;
/// The colour of the palette that bytes have.
const COLOUR: usize = SHADES as usize;
/// The least that is seen of anything, of 255.
const FAINT: u32 = 18;

/// The map.
pub(super) fn map_of(dom: &Dom, map: &ChartMap, theme: &Theme) -> Element {
    let figure = dom.new_element("div", "chart map", "");
    let are_curves = map.rows.len() <= MOST_CURVES;
    let together = if are_curves { 1 } else { map.rows.len() };
    let columns = map.columns as usize;
    let values = map.values.chunks(together.max(1) * columns.max(1));
    for (at, (rows, values)) in map.rows.chunks(together.max(1)).zip(values).enumerate() {
        let line = dom.add(&figure, "div", "row", "");
        let labels = dom.add(&line, "div", "labels", "");
        let (first, last) = (rows.first(), rows.last().filter(|_| !are_curves));
        for (place, row) in first.iter().chain(&last).enumerate() {
            let row_of_map = if place == 0 { at * together } else { map.rows.len() - 1 };
            let label = dom.new_button("", &row.name, ("data-rank", &row_of_map.to_string()));
            let oom = if row.is_oom { " · OOM" } else { "" };
            dom.add(&label, "span", "", &[&Bytes(row.peak).to_string(), oom].concat());
            set_attribute(&label, "title", "Open this snapshot (Shift: compare it with the open one)");
            append(&labels, &label);
        }
        let height = if are_curves { CURVE } else { rows.len() * ROWS[usize::from(rows.len() > FEW)] };
        let canvas = dom.add(&line, "canvas", "", "");
        set_attribute(&canvas, "data-ranks", &(at * together).to_string());
        set_attribute(&canvas, "data-count", &rows.len().to_string());
        set_attribute(&canvas, "aria-hidden", "true");
        set_style(&canvas, "height", &[&height.to_string(), "px"].concat());
        if let Ok(canvas) = canvas.dyn_into::<HtmlCanvasElement>() {
            // A picture that can't be drawn leaves its labels and the table.
            let _ = draw(&canvas, (columns, height), rows.len(), values, theme);
        }
    }
    figure
}

fn draw(
    canvas: &HtmlCanvasElement,
    (columns, height): (usize, usize),
    rows: usize,
    values: &[u8],
    theme: &Theme,
) -> Option<()> {
    let [red, green, blue, _] = theme.look.palette.get(COLOUR).copied()?;
    let mut pixels = vec![0; columns * height * 4];
    let row_height = height / rows.max(1);
    for (at, pixel) in pixels.chunks_exact_mut(4).enumerate() {
        let (x, y) = (at % columns, at / columns);
        let row = (y / row_height.max(1)).min(rows.saturating_sub(1));
        let value = u32::from(*values.get(row * columns + x)?);
        let alpha = match rows {
            // From the bottom up.
            1 => 255 * u32::from((height - 1 - y) as u32 * 255 < value * (height as u32 - 2)),
            _ => FAINT + value * (255 - FAINT) / 255,
        };
        pixel.copy_from_slice(&[red, green, blue, alpha as u8]);
    }
    canvas.set_width(columns as u32);
    canvas.set_height(height as u32);
    let data = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), columns as u32, height as u32).ok()?;
    bare_context(canvas)?.put_image_data(&data, 0.0, 0.0).ok()
}
