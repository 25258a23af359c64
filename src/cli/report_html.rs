//! Writes an insight as a standalone HTML page without scripts, for a wiki, a mail or a folder of results.

use base::escape::Html;
use base::units::Bytes;
use protocol::{Chart, HeatMap, Report, Sheet, SheetRow, Tone};
use std::fmt::Write;
use ui::text::cell_text::{exact, is_numeric, left_out_text, printed_note, short, total_row};

/// Maximum number of ranks that are drawn as individual curves. With more ranks, a heat map is drawn.
const MAX_CURVES: usize = 16;
/// Height of a curve in CSS pixels.
const CURVE_PX: usize = 30;
/// Height of a row of the heat map in CSS pixels.
const ROW_PX: usize = 6;
/// Height, in CSS pixels, of the chart that shows the distribution over ranks.
const SPREAD_PX: usize = 56;
/// Width of the row labels in CSS pixels.
const NAMES_PX: usize = 190;
/// Width of a column of the heat map in CSS pixels.
const COLUMN_PX: usize = 3;
/// Number of shades of the heat map.
const SHADES: u32 = 24;

const STYLE: &str = "\
:root { color-scheme: light dark; --text: #171b21; --soft: #5b6470; --line: #d9dee5; --ground: #fff; --mark: #3b76d6; --alarm: #a4262c; }
@media (prefers-color-scheme: dark) { :root { --text: #e5e9ef; --soft: #9aa4b1; --line: #2c343f; --ground: #0f1318; --mark: #6ea1f2; --alarm: #ff9b94; } }
body { margin: 24px auto; max-width: 1240px; padding: 0 16px; background: var(--ground); color: var(--text); font: 14px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 20px; } h2 { font-size: 15px; margin: 26px 0 2px; } p, figcaption { margin: 2px 0; color: var(--soft); } figure { margin: 12px 0; }
li.alarm { color: var(--alarm); font-weight: 600; }
.sheet { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; } th { font-weight: 600; color: var(--soft); text-align: left; }
th, td { padding: 2px 10px 2px 0; border-bottom: 1px solid var(--line); vertical-align: top; } .number { text-align: right; white-space: nowrap; }
tr.alarm td { color: var(--alarm); } tfoot td { font-weight: 600; }
svg { max-width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: var(--text); } svg path { fill: var(--mark); } svg .axis { stroke: var(--line); }
";

/// Renders a report as an HTML page.
pub(super) fn render(report: &Report, title: &str) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n<style>\n{STYLE}</style>\n<h1>{0}</h1>\n<ul>\n",
        escaped(title)
    );
    for statement in &report.statements {
        let class = if statement.tone == Tone::Alarm { " class=\"alarm\"" } else { "" };
        let _ = writeln!(out, "<li{class}>{}</li>", escaped(&statement.text));
    }
    out += "</ul>\n";
    for statement in &report.statements {
        if let Some(Chart::HeatMap(map)) = &statement.chart {
            draw_map(&mut out, map);
        }
    }
    report.sheets.iter().for_each(|sheet| write_table(&mut out, sheet));
    out + "</html>\n"
}

/// Escapes text for HTML, and replaces control characters.
fn escaped(text: &str) -> String {
    Html(&text.replace(char::is_control, "\u{fffd}")).to_string()
}

fn write_table(out: &mut String, sheet: &Sheet) {
    let _ = write!(out, "<h2>{}</h2>\n<p>{}</p>\n", escaped(&sheet.title), escaped(printed_note(sheet)));
    *out += "<div class=\"sheet\"><table>\n<thead><tr>";
    let class = |column: usize| if is_numeric(sheet, column) { " class=\"number\"" } else { "" };
    for (at, column) in sheet.columns.iter().enumerate() {
        let _ = write!(out, "<th{}>{}</th>", class(at), escaped(&column.label));
    }
    *out += "</tr></thead>\n<tbody>\n";
    let line = |out: &mut String, row: &SheetRow| {
        *out += if row.tone == Tone::Alarm { "<tr class=\"alarm\">" } else { "<tr>" };
        for (at, cell) in row.cells.iter().enumerate() {
            let indent = if at == 0 { "\u{2003}".repeat(row.depth.min(24) as usize) } else { String::new() };
            let (short, exact) = (escaped(&short(cell)), escaped(&exact(cell)));
            let title = if short == exact { String::new() } else { format!(" title=\"{exact}\"") };
            let _ = write!(out, "<td{}{title}>{indent}{short}</td>", class(at));
        }
        *out += "</tr>\n";
    };
    sheet.rows.iter().for_each(|row| line(out, row));
    *out += "</tbody>\n";
    if let Some(row) = total_row(sheet) {
        *out += "<tfoot>";
        line(out, &row);
        *out += "</tfoot>\n";
    }
    *out += "</table></div>\n";
    if let Some(words) = left_out_text(sheet) {
        let _ = writeln!(out, "<p>{}</p>", escaped(&words));
    }
}

/// Draws the live bytes of all ranks over time, and their distribution below.
fn draw_map(out: &mut String, map: &HeatMap) {
    let columns = map.columns as usize;
    let draws_curves = map.rows.len() <= MAX_CURVES;
    let row_height = if draws_curves { CURVE_PX + 4 } else { ROW_PX };
    let (height, width) = (map.rows.len() * row_height, NAMES_PX + columns * COLUMN_PX);
    let whole = height + 12 + SPREAD_PX;
    let _ = writeln!(
        out,
        "<figure><svg viewBox=\"0 0 {width} {whole}\" width=\"{width}\" height=\"{whole}\" role=\"img\" aria-label=\"Live bytes of each rank\">"
    );
    let rows: Vec<&[u8]> = map.values.chunks(columns.max(1)).collect();
    // Draw only as many names as fit.
    let every = 14_usize.div_ceil(row_height);
    for (index, row) in map.rows.iter().enumerate().filter(|(index, _)| index % every == 0) {
        let oom = if row.is_oom { " · OOM" } else { "" };
        let y = index * row_height + if draws_curves { CURVE_PX / 2 + 4 } else { ROW_PX + 3 };
        let _ = writeln!(out, "<text x=\"0\" y=\"{y}\">{} · {}{oom}</text>", escaped(&row.name), Bytes(row.peak));
    }
    match draws_curves {
        true => draw_curves(out, &rows),
        false => draw_shades(out, &rows),
    }
    draw_spread(out, map, height + 8);
    *out += "</svg>\n";
    let what = if map.is_reserved { "the highest peak reserved" } else { "the highest peak" };
    let aligned = match map.steps {
        0 => "from the first event to the last".to_owned(),
        steps => format!("aligned by {}", base::units::pluralize(steps.into(), "step")),
    };
    let _ = writeln!(
        out,
        "<figcaption>Live bytes (requested) of each rank, {aligned}; below, min, 5 %, median, 95 % and max over ranks. Scale: 0 to {}, {what}.</figcaption></figure>",
        Bytes(map.max)
    );
}

/// Draws one curve for each row.
fn draw_curves(out: &mut String, rows: &[&[u8]]) {
    for (at, row) in rows.iter().enumerate() {
        let foot = at * (CURVE_PX + 4) + CURVE_PX;
        let _ = write!(out, "<path d=\"M{NAMES_PX} {foot}");
        for (x, value) in row.iter().enumerate() {
            let (left, top) = (NAMES_PX + x * COLUMN_PX, foot - usize::from(*value) * CURVE_PX / 255);
            let _ = write!(out, "L{left} {top}h{COLUMN_PX}");
        }
        let _ = writeln!(out, "V{foot}z\"/>");
    }
}

/// Draws a heat map. Each shade is one SVG path, with a rectangle for each run of equal columns.
fn draw_shades(out: &mut String, rows: &[&[u8]]) {
    for shade in 1..=SHADES {
        let shade_of = |value: u8| (u32::from(value) * SHADES).div_ceil(255);
        let mut path = String::new();
        for (at, row) in rows.iter().enumerate() {
            let mut x = 0;
            for run in row.chunk_by(|a, b| shade_of(*a) == shade_of(*b)) {
                if run.first().is_some_and(|value| shade_of(*value) == shade) {
                    let (left, top, wide) = (NAMES_PX + x * COLUMN_PX, at * ROW_PX, run.len() * COLUMN_PX);
                    let _ = write!(path, "M{left} {top}h{wide}v{ROW_PX}h-{wide}z");
                }
                x += run.len();
            }
        }
        if !path.is_empty() {
            let _ = writeln!(out, "<path d=\"{path}\" opacity=\"{:.2}\"/>", f64::from(shade) / f64::from(SHADES));
        }
    }
}

/// Draws the distribution over ranks: minimum to maximum, 5 % to 95 %, the median, and a vertical line at the start of
/// each step.
fn draw_spread(out: &mut String, map: &HeatMap, top: usize) {
    let foot = top + SPREAD_PX;
    for column in &map.step_columns {
        let x = NAMES_PX + *column as usize * COLUMN_PX;
        let _ = writeln!(out, "<path class=\"axis\" d=\"M{x} {top}V{foot}\"/>");
    }
    let y = |value: u8| foot - usize::from(value) * SPREAD_PX / 255;
    for (low, high, opacity) in [(0, 4, "0.25"), (1, 3, "0.5")] {
        let mut path = String::new();
        for (x, spread) in map.ribbon.iter().enumerate() {
            let y_of = |place: usize| y(spread.get(place).copied().unwrap_or(0));
            let (left, upper, lower) = (NAMES_PX + x * COLUMN_PX, y_of(high), y_of(low) + 1);
            let _ = write!(path, "M{left} {upper}h{COLUMN_PX}V{lower}h-{COLUMN_PX}z");
        }
        let _ = writeln!(out, "<path d=\"{path}\" opacity=\"{opacity}\"/>");
    }
    let mut path = String::new();
    for (x, spread) in map.ribbon.iter().enumerate() {
        let (left, middle) = (NAMES_PX + x * COLUMN_PX, y(spread[2]));
        let _ = write!(path, "M{left} {middle}h{COLUMN_PX}v2h-{COLUMN_PX}z");
    }
    let _ = writeln!(out, "<path d=\"{path}\"/>");
}
