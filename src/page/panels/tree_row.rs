//! Row element of the call tree, which is reused while scrolling.

use crate::dom::{Dom, append, set_attribute, set_flag, set_source_link, set_style, set_text};
use protocol::{FoldState, NodeKind};
use ui::features::tree_rows::TreeRowView;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// Reusable element of a row.
pub(super) struct Slot {
    pub(super) row: HtmlElement,
    function: [Element; 4],
    /// Cells: bytes, bar, share, three columns that depend on the scope, and search matches.
    cells: [Element; 7],
    pub(super) shown: Option<TreeRowView>,
    top: f64,
}

impl Slot {
    /// Appends a new row element to the list.
    pub(super) fn new(dom: &Dom, space: &HtmlElement) -> Slot {
        let cell = |class: &str| {
            let cell = dom.new_element("span", class, "");
            set_attribute(&cell, "role", "gridcell");
            cell
        };
        let part = |tag: &str, class: &str| dom.new_element(tag, class, "");
        let row: HtmlElement = part("div", "row").dyn_into().unwrap_or_else(|_| space.clone());
        set_attribute(&row, "role", "row");
        let function = [cell("function"), part("span", "twisty"), part("span", "name"), part("a", "place")];
        let [whole, inner @ ..] = &function;
        inner.iter().for_each(|part| append(whole, part));
        set_attribute(&function[1], "aria-hidden", "true");
        set_attribute(&function[3], "tabindex", "-1");
        let bar = cell("bar");
        let cells = [cell("bytes"), part("i", ""), part("span", ""), cell(""), cell(""), cell("own"), cell("found")];
        let [bytes, fill, share, others @ ..] = &cells;
        [fill, share].iter().for_each(|part| append(&bar, part));
        [whole, bytes, &bar].into_iter().chain(others).for_each(|cell| append(&row, cell));
        append(space, &row);
        Slot { row, function, cells, shown: None, top: -1.0 }
    }

    /// Shows a row at `top`, in CSS pixels.
    pub(super) fn show(&mut self, dom: &Dom, view: &TreeRowView, top: f64) {
        if self.top != top {
            self.top = top;
            set_px(&self.row, "top", top);
        }
        if self.shown.as_ref() == Some(view) {
            return;
        }
        self.row.set_hidden(false);
        let row = &self.row;
        let number = view.number.to_string();
        row.set_id(&["tree-row-", &number].concat());
        row.set_class_name(&class(view));
        let attributes = [
            ("data-row", number),
            ("data-node", view.node.to_string()),
            ("data-bytes", view.weight[0].to_string()),
            ("data-count", view.weight[1].to_string()),
            ("aria-rowindex", (u64::from(view.number) + 2).to_string()),
            ("aria-level", view.level.to_string()),
            ("aria-posinset", view.sibling[0].to_string()),
            ("aria-setsize", view.sibling[1].to_string()),
        ];
        for (name, value) in &attributes {
            set_attribute(row, name, value);
        }
        set_flag(row, "aria-current", view.has_selected_allocation);
        set_flag(row, "aria-selected", view.is_selected);
        match view.fold {
            FoldState::Leaf => drop(row.remove_attribute("aria-expanded")),
            FoldState::Open => set_attribute(row, "aria-expanded", "true"),
            FoldState::Closed => set_attribute(row, "aria-expanded", "false"),
        }
        set_px(row, "--indent", view.indent_px.into());
        let [function, twisty, name, place] = &self.function;
        set_attribute(function, "title", &view.title);
        set_text(twisty, if view.fold == FoldState::Leaf { "" } else { "›" });
        dom.set_name(name, &view.name, view.shared);
        set_text(place, &view.location);
        match &view.link {
            Some(link) => set_source_link(place, link),
            None => drop(place.remove_attribute("href")),
        }
        let [bytes, fill, share, of_parent, count, self_bytes, found] = &self.cells;
        set_attribute(bytes, "title", &view.exact);
        let width = [&(view.share / 10).to_string(), ".", &(view.share % 10).to_string(), "%"].concat();
        set_style(fill, "width", &width);
        for (cell, text) in [bytes, share, of_parent, count, self_bytes, found].into_iter().zip([
            &view.bytes,
            &view.of_total,
            &view.last_columns[0],
            &view.last_columns[1],
            &view.last_columns[2],
            &view.found,
        ]) {
            set_text(cell, text);
        }
        self.shown = Some(view.clone());
    }
}

fn class(view: &TreeRowView) -> String {
    let mut class = "row heat-".to_owned();
    class.push(char::from(b'0' + view.share_level.min(4)));
    class.push_str(match view.kind {
        NodeKind::User => " user",
        NodeKind::Library => " library",
        NodeKind::Native => " native",
        NodeKind::Note => " note",
    });
    let flags = [
        (view.is_active, " active"),
        (view.is_selected, " selected"),
        (view.has_selected_allocation, " marked"),
        (view.matches, " match"),
    ];
    flags.iter().filter(|(holds, _)| *holds).for_each(|(_, name)| class.push_str(name));
    class
}

/// Sets a style property to a length in whole CSS pixels.
pub(super) fn set_px(element: &HtmlElement, property: &str, px: f64) {
    set_style(element, property, &[&(px.round() as i64).to_string(), "px"].concat());
}
