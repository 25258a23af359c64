//! Call tree tab. Only visible rows have elements, which are reused while scrolling.

use super::tree_row::{Slot, set_px};
use crate::app::{App, LastShown, Listeners, Part};
use crate::dom::{
    Dom, append, clear, fill_table_head, focus_element, hit_element, observe_sizes, set_attribute, set_flag, set_text,
};
use crate::elements::elements;
use protocol::{Internal, Merge, Root};
use ui::features::State;
use ui::features::tree::ROW_PX;
use ui::features::tree_keys::TreeAction;
use ui::features::tree_rows::{Heads, RowsInputs, ToolbarState, rows_inputs, toolbar_state, view};
use ui::shell::action::Action;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement};

elements! {
    HtmlButtonElement: tree_back, tree_selection, tree_whole;
    HtmlElement: tree, tree_empty, tree_found, tree_head, tree_internal, tree_invert, tree_matches, tree_rows, tree_scroll,
        tree_select, tree_space, tree_way;
    HtmlSelectElement: tree_merge;
}

/// Maximum height, in CSS pixels, of the scrolled element. Of all browsers, Firefox has the lowest limit: 17.9 million.
const MAX_PX: f64 = 16_000_000.0;
/// Number of nodes that are shown at the end of the path, in addition to the first node.
const PATH_TAIL: usize = 5;

#[derive(Default)]
pub(super) struct Panel {
    visible: LastShown<Option<RowsInputs>>,
    tools: LastShown<ToolbarState>,
    path: LastShown<Vec<(u32, String)>>,
    heads: LastShown<Option<&'static Heads>>,
    scroll_count: u32,
    slots: Vec<Slot>,
}

/// Ratio of the scroll position to the position in the list. Less than 1 if the list is higher than a browser allows.
fn scale(state: &State) -> f64 {
    let offset_px = f64::from(state.tree.page().map_or(0, |page| page.row_count)) * ROW_PX;
    if offset_px > MAX_PX { MAX_PX / offset_px } else { 1.0 }
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        observe_sizes(&[&elements.tree_scroll], move |_| on_scroll(app, elements))
    }

    fn listen(elements: &Elements, on: &Listeners<Elements>) {
        on.event(&elements.tree_scroll, "scroll", |app, elements, _| on_scroll(app, elements));
        on.event(&elements.tree_rows, "click", on_click);
        on.event(&elements.tree_rows, "dblclick", |app, _, event| {
            if let Some(row) = row_number(event, ".row", "data-row")
                .filter(|_| row_number(event, ".twisty, a[href]", "data-row").is_none())
            {
                app.dispatch(Action::feature(TreeAction::Toggled(row)));
            }
        });
        on.event(&elements.tree_way, "click", |app, elements, event| {
            if let Some(node) = row_number(event, "button", "data-node") {
                app.dispatch(Action::feature(TreeAction::Focused(node)));
                focus_element(&elements.tree_rows);
            }
        });
        on.choice(&elements.tree_merge, |index| Some(TreeAction::Merged(*Merge::ALL.get(index)?).into()));
    }

    fn show_details(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let focus = elements.focused_element().filter(|focus| elements.tree.contains(Some(focus)));
        self.fill(elements, state);
        // If the focused element was removed, disabled or hidden, the rows get the focus.
        let is_off = |focus: &Element| {
            !focus.is_connected() || focus.matches(":disabled, a:not([href]), [hidden], [hidden] *").unwrap_or(false)
        };
        if focus.is_some_and(|focus| is_off(&focus)) {
            focus_element(&elements.tree_rows);
        }
    }
}

impl Panel {
    fn fill(&mut self, elements: &Elements, state: &State) {
        if let Some(tools) = self.tools.update(toolbar_state(&state.tree, state)) {
            show_tools(elements, tools);
        }
        let Some(Some(_)) = self.visible.update(rows_inputs(&state.tree, state)) else { return };
        let view = view(&state.tree, state);
        let (scale, scroll) = (scale(state), state.tree.scroll);
        if let Some(heads) = self.heads.update(view.heads) {
            fill_table_head(&elements.tree_head, heads.iter().copied().flatten());
        }
        set_text(&elements.tree_empty, view.empty);
        elements.tree_empty.set_hidden(view.empty.is_empty());
        set_attribute(&elements.tree_rows, "aria-rowcount", &(u64::from(view.row_count) + 1).to_string());
        set_attribute(&elements.tree_rows, "data-total", &view.total.to_string());
        set_text(&elements.tree_found, &view.found);
        elements.tree_rows.set_class_name(if view.has_matches { "searched" } else { "" });
        set_attribute(&elements.tree_rows, "aria-colcount", if view.has_matches { "7" } else { "6" });
        set_px(&elements.tree_space, "height", f64::from(view.row_count) * ROW_PX * scale);
        if self.scroll_count != scroll.version {
            self.scroll_count = scroll.version;
            elements.tree_scroll.set_scroll_top((scroll.top_px * scale).round() as i32);
        }
        let above = if scale < 1.0 { scroll.top_px * (scale - 1.0) } else { 0.0 };
        while self.slots.len() < view.rows.len() {
            self.slots.push(Slot::new(elements, &elements.tree_space));
        }
        let mut active = None;
        let count = self.slots.len().max(1);
        let mut used = vec![SlotUse::No; count];
        for (number, row) in (view.first..).zip(&view.rows) {
            let at = number as usize % count;
            let (Some(slot), Some(row)) = (self.slots.get_mut(at), row) else { continue };
            if let Some(used) = used.get_mut(at) {
                *used = SlotUse::Yes;
            }
            slot.show(elements, row, f64::from(number) * ROW_PX + above);
            if row.is_active {
                active = Some(slot.row.id());
            }
        }
        for (slot, used) in self.slots.iter_mut().zip(used) {
            if used == SlotUse::No && slot.shown.take().is_some() {
                slot.row.set_hidden(true);
            }
        }
        match active {
            Some(id) => set_attribute(&elements.tree_rows, "aria-activedescendant", &id),
            None => drop(elements.tree_rows.remove_attribute("aria-activedescendant")),
        }
        if let Some(path) = self.path.update(view.path) {
            show_path(elements, path);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum SlotUse {
    No,
    Yes,
}

fn show_tools(elements: &Elements, tools: &ToolbarState) {
    let pressed = |element: &Element, holds: bool| {
        set_flag(element, "aria-pressed", holds);
    };
    pressed(&elements.tree_invert, tools.arrangement.root == Root::Innermost);
    pressed(&elements.tree_internal, tools.arrangement.internal == Internal::Hidden);
    pressed(&elements.tree_select, tools.is_selected);
    elements.tree_merge.set_value(tools.arrangement.merge.name());
    elements.tree_back.set_disabled(!tools.can_go_back);
    elements.tree_whole.set_disabled(!tools.is_focused);
    elements.tree_selection.set_disabled(!tools.has_selection);
    elements.tree_matches.set_hidden(!tools.has_matches);
}

fn show_path(elements: &Elements, path: &[(u32, String)]) {
    clear(&elements.tree_way);
    elements.tree_way.set_hidden(path.is_empty());
    let hidden = 1..path.len().saturating_sub(PATH_TAIL).max(1);
    for (index, (node, name)) in path.iter().enumerate() {
        if hidden.contains(&index) {
            if index == hidden.start {
                let text = ["… ", &hidden.len().to_string(), " more …"].concat();
                elements.append_new(&elements.tree_way, "span", "", &text);
            }
            continue;
        }
        let button = elements.new_button("", name, ("data-node", &node.to_string()));
        set_attribute(&button, "title", name);
        if index + 1 == path.len() {
            set_attribute(&button, "aria-current", "true");
        }
        append(&elements.tree_way, &button);
    }
}

/// Opens the source link of the active row.
pub(crate) fn open_source(dom: &Dom) {
    let link = dom.document.query_selector("#tree-space .active a[href]").ok().flatten();
    if let Some(link) = link.and_then(|link| link.dyn_into::<HtmlElement>().ok()) {
        link.click();
    }
}

fn on_scroll(app: &App, elements: &Elements) {
    let scroll = &elements.tree_scroll;
    let (top, height_px) = (f64::from(scroll.scroll_top()), f64::from(scroll.client_height()));
    let known = app.state.borrow().tree.scroll;
    let top_px = top / scale(&app.state.borrow());
    // Our own scroll position is reported back rounded.
    let top_px = if (top_px - known.top_px).abs() <= 1.0 { known.top_px } else { top_px };
    if (top_px, height_px) != (known.top_px, known.height_px) {
        app.dispatch(Action::feature(TreeAction::Scrolled { top_px, height_px }));
    }
}

fn on_click(app: &'static App, elements: &'static Elements, event: &Event) {
    let Some(row) = row_number(event, ".row", "data-row") else { return };
    // A click on a link only opens it. The focus still moves to the tree, because the link's row may be reused for
    // another one.
    if row_number(event, "a[href]", "data-row").is_some() {
        return focus_element(&elements.tree_rows);
    }
    let twisty = row_number(event, ".twisty", "data-row").is_some();
    app.dispatch(Action::feature(if twisty { TreeAction::Toggled(row) } else { TreeAction::Clicked(row) }));
    focus_element(&elements.tree_rows);
}

/// Returns the number in `attribute` of the clicked row or button. `None` if the click was not on an element that
/// matches `selector`.
fn row_number(event: &Event, selector: &str, attribute: &str) -> Option<u32> {
    let found = hit_element(event, selector)?;
    let holder = if attribute == "data-row" { found.closest(".row").ok()?? } else { found };
    holder.get_attribute(attribute)?.parse().ok()
}
