//! Texts of the flame graph: card, status line, breadcrumb path.

use super::FlameGraph;
use crate::amount::{amount, change, exact, exact_change, percent, ratio};
use crate::features::tree_rows;
use crate::find::matches_text;
use crate::shared::Shared;
use base::units::{Bytes, group_digits, pluralize};
use engine::protocol::{FlameBox, FlamePage, NodeLabel, Scope, Weight};

/// Number of boxes at the end of the path that are named, besides the root.
const MAX_LAST_CRUMBS: usize = 2;

/// The card beside the pointer. All boxes have the same number of lines, so that its size is stable.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameCard {
    /// Bytes, abbreviated and exact.
    pub title: String,
    pub name: String,
    pub location: String,
    /// Shares of total and parent, and number of allocations.
    pub shares: String,
}

/// An entry of the breadcrumb path to the zoomed box.
#[derive(Clone, Debug, PartialEq)]
pub struct Crumb {
    pub node: u32,
    /// Name, preceded by `…` if boxes before it were left out.
    pub text: String,
}

/// Returns file name and line, such as `model.py:31`. Empty if unknown.
pub(super) fn short_location(label: &NodeLabel) -> String {
    with_line(label.file.rsplit(['/', '\\']).next().unwrap_or_default(), label)
}

/// Returns full path and line. Empty if unknown.
fn location(label: &NodeLabel) -> String {
    with_line(&label.file, label)
}

fn with_line(file: &str, label: &NodeLabel) -> String {
    match file {
        "" | "??" | "none" => String::new(),
        // The name of the box already is the file.
        _ if label.line.is_empty() && file == label.name => String::new(),
        _ if label.line.is_empty() => file.to_owned(),
        _ => [file, ":", &label.line].concat(),
    }
}

fn label<'a>(page: &'a FlamePage, of: &FlameBox) -> &'a NodeLabel {
    const NONE: &NodeLabel = &NodeLabel {
        name: String::new(),
        file: String::new(),
        line: String::new(),
        kind: engine::protocol::NodeKind::Note,
    };
    page.labels.get(of.label as usize).unwrap_or(NONE)
}

/// Returns the card of a box.
pub fn card(shared: &Shared, page: &FlamePage, of: &FlameBox) -> FlameCard {
    let scope = shared.views.scope;
    let bytes = of.weight.bytes;
    if let Scope::Change(_) = scope {
        return change_card(page, of);
    }
    let mut title = amount(scope, bytes);
    if bytes >= 1024 {
        title.push_str(" · ");
        title.push_str(&exact(scope, bytes));
    }
    let (name, location) = name_and_location(page, of);
    let mut shares = percent(bytes, page.total.bytes);
    shares.push_str(" of all");
    if let Some(parent) = page.boxes.get(of.parent as usize).filter(|_| of.row > 0) {
        shares.push_str(" · ");
        shares.push_str(&percent(bytes, parent.weight.bytes));
        shares.push_str(" of its parent");
    }
    shares.push_str(" · ");
    shares.push_str(&pluralize(of.weight.count.into(), "allocation"));
    if of.found > 0 {
        shares.push_str(" · found: ");
        shares.push_str(&amount(scope, of.found));
    }
    FlameCard { title, name, location, shares }
}

/// Returns the name of a box, and its location.
fn name_and_location(page: &FlamePage, of: &FlameBox) -> (String, String) {
    let label = label(page, of);
    if of.node_count > 1 {
        (group_digits(of.node_count.into()) + " frames narrower than a pixel", "The largest: ".to_owned() + &label.name)
    } else {
        (label.name.clone(), location(label))
    }
}

/// Returns the card of a box for [`Scope::Change`].
fn change_card(page: &FlamePage, of: &FlameBox) -> FlameCard {
    let (name, location) = name_and_location(page, of);
    let [begin, end] = of.ends;
    let title = [&change(begin.bytes, end.bytes), " · ", &exact_change(begin.bytes, end.bytes)].concat();
    let at = |name: &str, end: Weight| {
        [name, &Bytes(end.bytes).to_string(), " in ", &pluralize(end.count.into(), "allocation")].concat()
    };
    let shares = [at("A: ", begin), at("B: ", end), ratio(begin.bytes, end.bytes)].join(" · ");
    FlameCard { title, name, location, shares }
}

/// Returns the status line: the selected box, the box of the selected allocation, or a hint.
pub fn status(flame: &FlameGraph, shared: &Shared) -> String {
    let Some(page) = flame.page() else { return "…".to_owned() };
    let selected = flame.selected_box(shared).filter(|_| shared.views.node.is_some());
    let revealed = page.revealed.map(|place| place as usize).filter(|_| selected.is_none());
    let revealed = revealed.filter(|_| shared.selection.is_some());
    let Some(of) = selected.or(revealed).and_then(|place| page.boxes.get(place)) else {
        let hint = if page.is_truncated { "Some rows are not drawn. Zoom in to see them. " } else { "" };
        return hint.to_owned() + "Click to select, double-click or Enter to zoom in, Backspace to zoom out.";
    };
    let FlameCard { title, name, location, shares } = card(shared, page, of);
    let whose = if revealed.is_some() { "The selected allocation is in" } else { "" };
    [whose.to_owned(), title, name, shares, location]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" · ")
}

/// Returns the matches of the search. Empty without a search.
pub fn matches(flame: &FlameGraph, shared: &Shared) -> String {
    let Some((question, page)) = flame.answer.answered_question().zip(flame.page()) else { return String::new() };
    // Matches within a change have no single size.
    let find = question.find.filter(|_| !matches!(question.scope, Scope::Change(_)));
    matches_text(shared, find, question.scope, page.found)
}

/// Returns the text shown instead of boxes. Empty if there are any.
pub fn empty_message(flame: &FlameGraph, shared: &Shared) -> &'static str {
    let Some(page) = flame.page() else { return "" };
    let zoomed = page.boxes.get(page.zoom as usize);
    match (shared.views.scope, zoomed.map_or(0, |zoomed| zoomed.weight.count)) {
        (_, 1..) => "",
        (scope, _) if page.total.count == 0 => tree_rows::empty_message(scope),
        (Scope::At(_), _) => "Nothing in this frame is live at the cursor.",
        _ => "Nothing in this frame falls within this range.",
    }
}

/// Returns the path from the root to the zoomed box. Empty if the graph is not zoomed.
pub fn crumbs(page: &FlamePage) -> Vec<Crumb> {
    let last = page.zoom as usize;
    let way = page
        .boxes
        .iter()
        .take(last + 1)
        .enumerate()
        .filter(|(at, _)| last > 0 && (*at == 0 || at + MAX_LAST_CRUMBS > last));
    let crumb = |(at, of): (usize, &FlameBox)| {
        let before = if at > 1 && at + MAX_LAST_CRUMBS == last + 1 { "… " } else { "" };
        Crumb { node: of.node, text: [before, &label(page, of).name].concat() }
    };
    way.map(crumb).collect()
}
