//! Series of numbers in a query result: columns over events, times or steps, for a chart.

use crate::result::{Rows, number};
use base::units::Bytes;
use protocol::sql::Chart;

/// Width of the chart in SVG units.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;
/// Maximum number of lines in the chart. The style sheet has a colour for each.
const LINES: usize = 4;
/// Names of columns that can be the x axis.
const AXES: [&str; 9] =
    ["event", "time_us", "step", "id", "allocated_at", "freed_at", "begin_us", "first_event", "last_event"];
/// Names of numeric columns that are not drawn, because they are ids or indices and not quantities.
const NAMES: [&str; 12] = [
    "device",
    "stack",
    "stream",
    "allocation",
    "segment",
    "line",
    "block",
    "rank",
    "node",
    "parent",
    "position",
    "depth",
];

/// Returns the chart of a query result. `None` if the rows do not form a series.
pub(crate) fn chart(rows: &Rows) -> Option<Chart> {
    let numeric: Vec<usize> = (0..rows.names.len()).filter(|&column| rows.is_numeric(column)).collect();
    let named =
        |column: &usize, names: &[&str]| rows.names.get(*column).is_some_and(|name| names.contains(&name.as_str()));
    let axis = *numeric.iter().find(|column| named(column, &AXES)).or_else(|| {
        // A result of two numeric columns.
        numeric.first().filter(|_| rows.names.len() == 2 && numeric.len() == 2)
    })?;
    let is_amount = |column: &&usize| **column != axis && !named(column, &AXES) && !named(column, &NAMES);
    let lines: Vec<usize> = numeric.iter().filter(is_amount).take(LINES).copied().collect();
    let at = |row: usize, column: usize| rows.rows.get(row).and_then(|row| row.get(column)).and_then(number);
    let xs: Vec<f64> = (0..rows.rows.len()).filter_map(|row| at(row, axis)).collect();
    // If x goes back and forth, the rows are not a series.
    if xs.len() < 3 || lines.is_empty() || xs.len() < rows.rows.len() || !xs.is_sorted() {
        return None;
    }
    let (first, last) = (*xs.first()?, *xs.last()?);
    let values = lines.iter().flat_map(|&column| (0..xs.len()).filter_map(move |row| at(row, column)));
    let (low, high) = values.fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let (wide, tall) = ((last - first).max(f64::MIN_POSITIVE), (high - low).max(f64::MIN_POSITIVE));
    let is_bytes = lines.iter().all(|&column| rows.names.get(column).is_some_and(|name| name.ends_with("bytes")));
    let amount = |value: f64| match is_bytes {
        true if value >= 0.0 => Bytes(value as u64).to_string(),
        true => format!("−{}", Bytes((-value) as u64)),
        false => value.to_string(),
    };
    let name = |column: usize| rows.names.get(column).cloned().unwrap_or_default();
    let line = |&column: &usize| {
        let mut path = String::new();
        for (row, x) in xs.iter().enumerate() {
            let Some(y) = at(row, column) else { continue };
            let (x, y) = ((x - first) / wide * WIDTH, HEIGHT - (y - low) / tall * HEIGHT);
            path += &format!("{}{x:.1} {y:.2}", if path.is_empty() { "M" } else { "L" });
        }
        (name(column), path)
    };
    let ranges = [format!("{} to {}", amount(low), amount(high)), format!("{}: {first} to {last}", name(axis))];
    Some(Chart { lines: lines.iter().map(line).collect(), ranges })
}
