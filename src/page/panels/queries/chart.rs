//! Chart of a result of the SQL tab.

use crate::dom::{Dom, append, clear, set_attribute};
use protocol::sql::Chart;
use web_sys::Element;

const SVG: &str = "http://www.w3.org/2000/svg";

/// Shows the chart of a result in `place`, or nothing.
pub(super) fn show_chart(dom: &Dom, place: &Element, chart: Option<&Chart>) {
    clear(place);
    let Some(chart) = chart else { return };
    let add = |to: &Element, tag, attributes: &[(&str, &str)]| {
        // Cannot fail for these tags.
        let element = dom.document.create_element_ns(Some(SVG), tag).unwrap_or_else(|_| to.clone());
        attributes.iter().for_each(|(name, value)| set_attribute(&element, name, value));
        append(to, &element);
        element
    };
    let [size, fit] = [("viewBox", "0 0 1000 100"), ("preserveAspectRatio", "none")];
    let svg = add(place, "svg", &[size, fit, ("role", "img"), ("aria-label", "Chart of the result")]);
    let legend = dom.append_new(place, "p", "", "");
    for (index, (name, path)) in chart.lines.iter().enumerate() {
        let class = ["line-", &index.to_string()].concat();
        add(&svg, "path", &[("class", &class), ("d", path)]);
        dom.append_new(&legend, "span", &["key ", &class].concat(), name);
    }
    chart.ranges.iter().for_each(|range| drop(dom.append_new(&legend, "span", "range", range)));
}
