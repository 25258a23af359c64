//! Result of a query: table, chart and status line.

use super::node::Node;
use base::units::{Bytes, group_digits, pluralize};
use protocol::sql::{Chart, ChartLine, QueryResult, Row};

/// Width of the chart in SVG units, as in its `viewBox`.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// Returns the text of the status line after a query.
pub(super) fn status(result: &QueryResult) -> String {
    let rows = match result.is_cut {
        true => format!("The first {} rows", group_digits(result.row_count.into())),
        false => pluralize(result.row_count.into(), "row"),
    };
    let ms = result.seconds * 1e3;
    let time = if ms < 1000.0 { format!("{} ms", ms.ceil() as u64) } else { format!("{:.1} s", result.seconds) };
    format!("{rows} in {time}.")
}

/// Returns the table with its header. `sorted` is the index of the sort column, and whether the order is descending.
pub(super) fn table(result: &QueryResult, sorted: Option<(u32, bool)>) -> Vec<Node> {
    if result.columns.is_empty() {
        return Vec::new();
    }
    let heads = (0u32..).zip(&result.columns).map(|(index, (name, _))| {
        let order = match sorted {
            Some((column, true)) if column == index => "descending",
            Some((column, false)) if column == index => "ascending",
            _ => "none",
        };
        let button = Node::button("sort", index as usize).attr("title", "Sort").text(&**name);
        Node::new("th").attr("scope", "col").attr("aria-sort", order).children([button])
    });
    let head = Node::new("thead").children([Node::new("tr").children(heads)]);
    vec![head, Node::new("tbody").attr("id", "sql-rows").children(rows(result, 0))]
}

/// Returns the rows of the table from the index `first` on.
pub(super) fn rows(result: &QueryResult, first: usize) -> Vec<Node> {
    let row = |(index, row): (usize, &Row)| {
        let cells = row.cells.iter().zip(&result.columns).map(|(cell, (name, is_numeric))| {
            let bytes = cell.parse().ok().filter(|_| *is_numeric && name.ends_with("bytes"));
            let title = bytes.map_or_else(String::new, |bytes| Bytes(bytes).to_string());
            let class = if *is_numeric { "number" } else { "" };
            Node::new("td").attr("class", class).text(&**cell).attr("title", title)
        });
        let node = Node::new("tr").children(cells);
        if row.target.is_some() { node.act("row", index).attr("tabindex", "0") } else { node }
    };
    result.rows.iter().enumerate().skip(first).map(row).collect()
}

/// Returns the chart of a result.
pub(super) fn chart(chart: &Chart) -> Vec<Node> {
    let svg = Node::new("svg")
        .attr("viewBox", "0 0 1000 100")
        .attr("preserveAspectRatio", "none")
        .attr("role", "img")
        .attr("aria-label", "Chart of the result");
    let path = |(number, line): (usize, &ChartLine)| {
        let mut path = String::new();
        for [x, y] in &line.points {
            let command = if path.is_empty() { "M" } else { "L" };
            path.push_str(&format!("{command}{:.1} {:.2}", x * WIDTH, (1.0 - y) * HEIGHT));
        }
        Node::new("path").attr("class", format!("line-{number}")).attr("d", path)
    };
    let key = |(number, line): (usize, &ChartLine)| {
        Node::new("span").attr("class", format!("key line-{number}")).text(&*line.name)
    };
    let range = |text: String| Node::new("span").attr("class", "range").text(text);
    let [low, high] = &chart.bounds;
    let [first, last] = &chart.ends;
    let ranges = [range(format!("{low} to {high}")), range(format!("{}: {first} to {last}", chart.axis))];
    let lines = || chart.lines.iter().enumerate();
    vec![svg.children(lines().map(path)), Node::new("p").children(lines().map(key).chain(ranges))]
}
