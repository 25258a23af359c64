//! The call tree: the rows that are seen, each in an element that is used again when it has left the view.

use super::Shown;
use crate::dom::{Elements, append, clear, set_attribute, set_text, source_link};
use engine::protocol::{FoldState, Internal, NodeKind, Root};
use ui::State;
use ui::tree::ROW_PX;
use ui::tree_keys::MERGES;
use ui::tree_rows::{RowView, Seen, Tools, seen, tools, view};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// No browser draws an element that is higher; Firefox ends first, at 17.9 million.
const MOST_PX: f64 = 16_000_000.0;
/// Of the way to the top, so many nodes at its end are shown, beside the first one.
const LAST_OF_WAY: usize = 5;

#[derive(Default)]
pub(crate) struct Panel {
    seen: Shown<Option<Seen>>,
    tools: Shown<Tools>,
    way: Shown<Vec<(u32, String)>>,
    moved: u32,
    slots: Vec<Slot>,
}

/// An element for a row.
struct Slot {
    row: HtmlElement,
    /// Twisty, name, place.
    function: [Element; 4],
    /// Bytes, bar, share, share of the parent, count, own, found.
    cells: [Element; 7],
    shown: Option<RowView>,
    top: f64,
}

/// CSS pixels of the list to a pixel of rows: less than 1 where the rows are higher than a browser can draw.
pub(crate) fn scale(state: &State) -> f64 {
    let rows_px = f64::from(state.tree.page().map_or(0, |page| page.row_count)) * ROW_PX;
    if rows_px > MOST_PX { MOST_PX / rows_px } else { 1.0 }
}

impl Panel {
    pub(super) fn show(&mut self, elements: &Elements, state: &State) {
        let focus = elements.document.active_element().filter(|focus| elements.tree.contains(Some(focus)));
        self.fill(elements, state);
        // The rows are what is left of it where a link, a button of the way, or what could be pressed, is gone.
        let is_gone = |focus: &Element| {
            !focus.is_connected() || focus.matches(":disabled, a:not([href]), [hidden], [hidden] *").unwrap_or(false)
        };
        if focus.is_some_and(|focus| is_gone(&focus)) {
            // It fails only for an element that is gone.
            let _ = elements.tree_rows.focus();
        }
    }

    fn fill(&mut self, elements: &Elements, state: &State) {
        if let Some(tools) = self.tools.changed(tools(&state.tree, state)) {
            show_tools(elements, tools);
        }
        let Some(Some(_)) = self.seen.changed(seen(&state.tree, state)) else { return };
        let view = view(&state.tree, state);
        let (scale, scroll) = (scale(state), state.tree.scroll);
        set_text(&elements.tree_empty, view.empty);
        elements.tree_empty.set_hidden(view.empty.is_empty());
        set_attribute(&elements.tree_rows, "aria-rowcount", &(u64::from(view.row_count) + 1).to_string());
        set_attribute(&elements.tree_rows, "data-total", &view.total.to_string());
        set_text(&elements.tree_found, &view.found);
        elements.tree_rows.set_class_name(if view.searched { "searched" } else { "" });
        set_attribute(&elements.tree_rows, "aria-colcount", if view.searched { "7" } else { "6" });
        set_px(&elements.tree_space, "height", f64::from(view.row_count) * ROW_PX * scale);
        if self.moved != scroll.moved {
            self.moved = scroll.moved;
            elements.tree_scroll.set_scroll_top((scroll.top_px * scale).round() as i32);
        }
        let above = if scale < 1.0 { scroll.top_px * (scale - 1.0) } else { 0.0 };
        while self.slots.len() < view.rows.len() {
            self.slots.push(Slot::new(elements));
        }
        let mut active = None;
        let count = self.slots.len().max(1);
        let mut used = vec![Used::No; count];
        for (number, row) in (view.first..).zip(&view.rows) {
            let at = number as usize % count;
            let (Some(slot), Some(row)) = (self.slots.get_mut(at), row) else { continue };
            if let Some(used) = used.get_mut(at) {
                *used = Used::Yes;
            }
            slot.show(row, f64::from(number) * ROW_PX + above);
            if row.is_active {
                active = Some(slot.row.id());
            }
        }
        for (slot, used) in self.slots.iter_mut().zip(used) {
            if used == Used::No && slot.shown.take().is_some() {
                slot.row.set_hidden(true);
            }
        }
        match active {
            Some(id) => set_attribute(&elements.tree_rows, "aria-activedescendant", &id),
            None => drop(elements.tree_rows.remove_attribute("aria-activedescendant")),
        }
        if let Some(way) = self.way.changed(view.way) {
            show_way(elements, way);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Used {
    No,
    Yes,
}

impl Slot {
    fn new(elements: &Elements) -> Slot {
        let cell = |class: &str| {
            let cell = elements.new_element("span", class, "");
            set_attribute(&cell, "role", "gridcell");
            cell
        };
        let part = |tag: &str, class: &str| elements.new_element(tag, class, "");
        let row: HtmlElement = part("div", "row").dyn_into().unwrap_or_else(|_| elements.tree_space.clone());
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
        append(&elements.tree_space, &row);
        Slot { row, function, cells, shown: None, top: -1.0 }
    }

    fn show(&mut self, view: &RowView, top: f64) {
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
            ("aria-posinset", view.among[0].to_string()),
            ("aria-setsize", view.among[1].to_string()),
        ];
        for (name, value) in &attributes {
            set_attribute(row, name, value);
        }
        set_attribute(row, "aria-current", if view.is_marked { "true" } else { "false" });
        set_attribute(row, "aria-selected", if view.is_selected { "true" } else { "false" });
        match view.fold {
            FoldState::Leaf => drop(row.remove_attribute("aria-expanded")),
            FoldState::Open => set_attribute(row, "aria-expanded", "true"),
            FoldState::Closed => set_attribute(row, "aria-expanded", "false"),
        }
        set_px(row, "--indent", view.indent_px.into());
        let [function, twisty, name, place] = &self.function;
        set_attribute(function, "title", &view.title);
        set_text(twisty, if view.fold == FoldState::Leaf { "" } else { "›" });
        set_text(name, &view.name);
        set_text(place, &view.place);
        match &view.link {
            Some(link) => source_link(place, link),
            None => drop(place.remove_attribute("href")),
        }
        let [bytes, fill, share, of_parent, count, own, found] = &self.cells;
        set_attribute(bytes, "title", &view.exact);
        if let Some(fill) = fill.dyn_ref::<HtmlElement>() {
            let share = [&(view.share / 10).to_string(), ".", &(view.share % 10).to_string(), "%"].concat();
            // It fails for no property of ours.
            let _ = fill.style().set_property("width", &share);
        }
        for (cell, text) in [bytes, share, of_parent, count, own, found].into_iter().zip([
            &view.bytes,
            &view.of_total,
            &view.of_parent,
            &view.count,
            &view.own,
            &view.found,
        ]) {
            set_text(cell, text);
        }
        self.shown = Some(view.clone());
    }
}

fn class(view: &RowView) -> String {
    let mut class = "row heat-".to_owned();
    class.push(char::from(b'0' + view.heat.min(4)));
    class.push_str(match view.kind {
        NodeKind::User => " user",
        NodeKind::Library => " library",
        NodeKind::Native => " native",
        NodeKind::Note => " note",
    });
    let flags = [
        (view.is_active, " active"),
        (view.is_selected, " selected"),
        (view.is_marked, " marked"),
        (view.matches, " match"),
    ];
    flags.iter().filter(|(holds, _)| *holds).for_each(|(_, name)| class.push_str(name));
    class
}

fn set_px(element: &HtmlElement, property: &str, px: f64) {
    let mut text = (px.round() as i64).to_string();
    text.push_str("px");
    // It fails for no property of ours.
    let _ = element.style().set_property(property, &text);
}

fn show_tools(elements: &Elements, tools: &Tools) {
    let pressed = |element: &Element, holds: bool| {
        set_attribute(element, "aria-pressed", if holds { "true" } else { "false" });
    };
    pressed(&elements.tree_invert, tools.arrangement.root == Root::Innermost);
    pressed(&elements.tree_internal, tools.arrangement.internal == Internal::Hidden);
    pressed(&elements.tree_select, tools.is_selected);
    let merge = MERGES.iter().find(|(merge, _)| *merge == tools.arrangement.merge);
    elements.tree_merge.set_value(merge.map_or("line", |(_, name)| name));
    elements.tree_back.set_disabled(!tools.can_go_back);
    elements.tree_whole.set_disabled(!tools.is_focused);
    elements.tree_selection.set_disabled(!tools.has_selection);
    elements.tree_matches.set_hidden(!tools.has_matches);
}

fn show_way(elements: &Elements, way: &[(u32, String)]) {
    clear(&elements.tree_way);
    elements.tree_way.set_hidden(way.is_empty());
    let hidden = 1..way.len().saturating_sub(LAST_OF_WAY).max(1);
    for (at, (node, name)) in way.iter().enumerate() {
        if hidden.contains(&at) {
            if at == hidden.start {
                append(
                    &elements.tree_way,
                    &elements.new_element("span", "", &["… ", &hidden.len().to_string(), " more …"].concat()),
                );
            }
            continue;
        }
        let button = elements.new_element("button", "", name);
        set_attribute(&button, "type", "button");
        set_attribute(&button, "data-node", &node.to_string());
        set_attribute(&button, "title", name);
        if at + 1 == way.len() {
            set_attribute(&button, "aria-current", "true");
        }
        append(&elements.tree_way, &button);
    }
}
