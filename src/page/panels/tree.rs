//! Call tree tab. Only visible rows have elements, which are reused while scrolling.

use super::tree_row::{Slot, set_px};
use crate::app::{App, On, Part, Shown};
use crate::dom::{Dom, append, clear, fill_heads, give_focus, hit, observe, set_attribute, set_flag, set_text};
use crate::elements::elements;
use engine::protocol::{Internal, Root};
use ui::tree::ROW_PX;
use ui::tree_keys::{MERGES, TreeAction};
use ui::tree_rows::{Heads, Seen, Tools, seen, tools, view};
use ui::{Action, State};
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement};

elements! {
    HtmlButtonElement: tree_back, tree_selection, tree_whole;
    HtmlElement: tree, tree_empty, tree_found, tree_head, tree_internal, tree_invert, tree_matches, tree_rows, tree_scroll,
        tree_select, tree_space, tree_way;
    HtmlSelectElement: tree_merge;
}

/// Maximum height of an element, in CSS pixels. The lowest limit of a browser is Firefox's, 17.9 million.
const MOST_PX: f64 = 16_000_000.0;
/// Number of nodes shown at the end of the path to the root, besides the first one.
const LAST_OF_WAY: usize = 5;

#[derive(Default)]
pub(super) struct Panel {
    seen: Shown<Option<Seen>>,
    tools: Shown<Tools>,
    way: Shown<Vec<(u32, String)>>,
    heads: Shown<Option<&'static Heads>>,
    moved: u32,
    slots: Vec<Slot>,
}

/// Ratio of scroll position to row position. Less than 1 if the rows are higher than a browser allows.
fn scale(state: &State) -> f64 {
    let rows_px = f64::from(state.tree.page().map_or(0, |page| page.row_count)) * ROW_PX;
    if rows_px > MOST_PX { MOST_PX / rows_px } else { 1.0 }
}

impl Part for Panel {
    type Elements = Elements;

    fn start(app: &'static App, elements: &'static Elements) -> Result<(), String> {
        observe(&[&elements.tree_scroll], move |_| scrolled(app, elements))
    }

    fn listen(elements: &Elements, on: On<'_, Elements>) {
        on(&elements.tree_scroll, "scroll", |app, elements, _| scrolled(app, elements));
        on(&elements.tree_rows, "click", click);
        on(&elements.tree_rows, "dblclick", |app, _, event| {
            if let Some(row) =
                number(event, ".row", "data-row").filter(|_| number(event, ".twisty, a[href]", "data-row").is_none())
            {
                app.dispatch(Action::of(TreeAction::Toggled(row)));
            }
        });
        on(&elements.tree_way, "click", |app, elements, event| {
            if let Some(node) = number(event, "button", "data-node") {
                app.dispatch(Action::of(TreeAction::Focused(node)));
                give_focus(&elements.tree_rows);
            }
        });
        on(&elements.tree_merge, "change", |app, elements, _| {
            let wanted = elements.tree_merge.value();
            if let Some((merge, _)) = MERGES.iter().find(|(_, name)| *name == wanted) {
                app.dispatch(Action::of(TreeAction::Merged(*merge)));
            }
        });
    }

    fn show(&mut self, _: &'static App, elements: &Elements, state: &State) {
        let focus = elements.focus().filter(|focus| elements.tree.contains(Some(focus)));
        self.fill(elements, state);
        // If the focused element was removed, disabled or hidden, the rows get the focus.
        let is_gone = |focus: &Element| {
            !focus.is_connected() || focus.matches(":disabled, a:not([href]), [hidden], [hidden] *").unwrap_or(false)
        };
        if focus.is_some_and(|focus| is_gone(&focus)) {
            give_focus(&elements.tree_rows);
        }
    }
}

impl Panel {
    fn fill(&mut self, elements: &Elements, state: &State) {
        if let Some(tools) = self.tools.changed(tools(&state.tree, state)) {
            show_tools(elements, tools);
        }
        let Some(Some(_)) = self.seen.changed(seen(&state.tree, state)) else { return };
        let view = view(&state.tree, state);
        let (scale, scroll) = (scale(state), state.tree.scroll);
        if let Some(heads) = self.heads.changed(view.heads) {
            fill_heads(&elements.tree_head, heads.iter().copied().flatten());
        }
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
            self.slots.push(Slot::new(elements, &elements.tree_space));
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

fn show_tools(elements: &Elements, tools: &Tools) {
    let pressed = |element: &Element, holds: bool| {
        set_flag(element, "aria-pressed", holds);
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
                let text = ["… ", &hidden.len().to_string(), " more …"].concat();
                elements.add(&elements.tree_way, "span", "", &text);
            }
            continue;
        }
        let button = elements.new_button("", name, ("data-node", &node.to_string()));
        set_attribute(&button, "title", name);
        if at + 1 == way.len() {
            set_attribute(&button, "aria-current", "true");
        }
        append(&elements.tree_way, &button);
    }
}

/// Opens the source link of the active row.
pub(crate) fn follow(dom: &Dom) {
    let link = dom.document.query_selector("#tree-space .active a[href]").ok().flatten();
    if let Some(link) = link.and_then(|link| link.dyn_into::<HtmlElement>().ok()) {
        link.click();
    }
}

fn scrolled(app: &App, elements: &Elements) {
    let scroll = &elements.tree_scroll;
    let (top, height_px) = (f64::from(scroll.scroll_top()), f64::from(scroll.client_height()));
    let known = app.state.borrow().tree.scroll;
    let top_px = top / scale(&app.state.borrow());
    // Our own scroll position is reported back rounded.
    let top_px = if (top_px - known.top_px).abs() <= 1.0 { known.top_px } else { top_px };
    if (top_px, height_px) != (known.top_px, known.height_px) {
        app.dispatch(Action::of(TreeAction::Scrolled { top_px, height_px }));
    }
}

fn click(app: &'static App, elements: &'static Elements, event: &Event) {
    let Some(row) = number(event, ".row", "data-row") else { return };
    // A click on a link only opens it. The focus still moves to the tree, because the link's row may be reused for
    // another one.
    if number(event, "a[href]", "data-row").is_some() {
        return give_focus(&elements.tree_rows);
    }
    let twisty = number(event, ".twisty", "data-row").is_some();
    app.dispatch(Action::of(if twisty { TreeAction::Toggled(row) } else { TreeAction::Clicked(row) }));
    give_focus(&elements.tree_rows);
}

/// Returns the number in `attribute` of the clicked row or button, if the click was on an element that matches
/// `selector`.
fn number(event: &Event, selector: &str, attribute: &str) -> Option<u32> {
    let found = hit(event, selector)?;
    let holder = if attribute == "data-row" { found.closest(".row").ok()?? } else { found };
    holder.get_attribute(attribute)?.parse().ok()
}
