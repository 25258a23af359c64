//! Texts of the flame graph: hover card, status line, breadcrumb path.

use crate::features::flame::FlameGraph;
use crate::features::tree_rows;
use crate::scope::find::matches_text;
use crate::state::shared::Shared;
use crate::text::amount::{amount, change, exact, exact_change, percent, ratio};
use base::units::{Bytes, group_digits, pluralize};
use protocol::{FlameBox, FlamePage, NodeLabel, Scope, Weight};

/// Maximum number of breadcrumbs after the root. They name the last boxes of the path.
const MAX_LAST_CRUMBS: usize = 2;

/// Hover card of a box. All boxes have the same number of lines, so that the size of the card does not change.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameCard {
    /// Bytes of the box: abbreviated, then exact.
    pub title: String,
    pub name: String,
    pub location: String,
    /// Share of all bytes, share of the parent's bytes, and number of allocations.
    pub shares: String,
}

/// An entry of the breadcrumb path to the zoomed box.
#[derive(Clone, Debug, PartialEq)]
pub struct Crumb {
    pub node: u32,
    /// Name of the box, preceded by `…` if boxes between the root and this box are omitted.
    pub text: String,
}

/// Returns the file name and line, such as `model.py:31`. Empty if unknown.
pub(super) fn short_location(label: &NodeLabel) -> String {
    with_line(label.file.rsplit(['/', '\\']).next().unwrap_or_default(), label)
}

/// Returns the full path and line. Empty if unknown.
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

fn label<'a>(page: &'a FlamePage, flame_box: &FlameBox) -> &'a NodeLabel {
    const NONE: &NodeLabel =
        &NodeLabel { name: String::new(), file: String::new(), line: String::new(), kind: protocol::NodeKind::Note };
    page.labels.get(flame_box.label as usize).unwrap_or(NONE)
}

/// Returns the hover card of a box.
pub fn card(shared: &Shared, page: &FlamePage, flame_box: &FlameBox) -> FlameCard {
    let scope = shared.views.scope;
    let bytes = flame_box.weight.bytes;
    if let Scope::Change(_) = scope {
        return change_card(page, flame_box);
    }
    let mut title = amount(scope, bytes);
    if bytes >= 1024 {
        title.push_str(" · ");
        title.push_str(&exact(scope, bytes));
    }
    let (name, location) = name_and_location(page, flame_box);
    let mut shares = percent(bytes, page.total.bytes);
    shares.push_str(" of all");
    if let Some(parent) = page.boxes.get(flame_box.parent as usize).filter(|_| flame_box.row > 0) {
        shares.push_str(" · ");
        shares.push_str(&percent(bytes, parent.weight.bytes));
        shares.push_str(" of its parent");
    }
    shares.push_str(" · ");
    shares.push_str(&pluralize(flame_box.weight.count.into(), "allocation"));
    if flame_box.found > 0 {
        shares.push_str(" · found: ");
        shares.push_str(&amount(scope, flame_box.found));
    }
    FlameCard { title, name, location, shares }
}

/// Returns the name and location of a box. If the box stands for several frames, returns their number and the name of
/// the largest one.
fn name_and_location(page: &FlamePage, flame_box: &FlameBox) -> (String, String) {
    let label = label(page, flame_box);
    if flame_box.node_count > 1 {
        (
            group_digits(flame_box.node_count.into()) + " frames narrower than a pixel",
            "The largest: ".to_owned() + &label.name,
        )
    } else {
        (label.name.clone(), location(label))
    }
}

/// Returns the hover card of a box for [`Scope::Change`]: the difference, and the sizes at A and B.
fn change_card(page: &FlamePage, flame_box: &FlameBox) -> FlameCard {
    let (name, location) = name_and_location(page, flame_box);
    let [begin, end] = flame_box.ends;
    let title = [&change(begin.bytes, end.bytes), " · ", &exact_change(begin.bytes, end.bytes)].concat();
    let side = |name: &str, end: Weight| {
        [name, &Bytes(end.bytes).to_string(), " in ", &pluralize(end.count.into(), "allocation")].concat()
    };
    let shares = [side("A: ", begin), side("B: ", end), ratio(begin.bytes, end.bytes)].join(" · ");
    FlameCard { title, name, location, shares }
}

/// Returns the status line. Describes the selected box or the box of the selected allocation, or gives a hint.
pub fn status(flame: &FlameGraph, shared: &Shared) -> String {
    let Some(page) = flame.page() else { return "…".to_owned() };
    let selected = flame.selected_box(shared).filter(|_| shared.views.node.is_some());
    let revealed = page.revealed.map(|index| index as usize).filter(|_| selected.is_none());
    let revealed = revealed.filter(|_| shared.selection.is_some());
    let Some(flame_box) = selected.or(revealed).and_then(|index| page.boxes.get(index)) else {
        let hint = if page.is_truncated { "Some rows are not drawn. Zoom in to see them. " } else { "" };
        return hint.to_owned() + "Click to select, double-click or Enter to zoom in, Backspace to zoom out.";
    };
    let FlameCard { title, name, location, shares } = card(shared, page, flame_box);
    let whose = if revealed.is_some() { "The selected allocation is in" } else { "" };
    [whose.to_owned(), title, name, shares, location]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" · ")
}

/// Returns a summary of the search matches. Empty without a search.
pub fn matches(flame: &FlameGraph, shared: &Shared) -> String {
    let Some((question, page)) = flame.answer.answered_question().zip(flame.page()) else { return String::new() };
    // Matches within a change have no single size.
    let search_serial = question.search_serial.filter(|_| !matches!(question.scope, Scope::Change(_)));
    matches_text(shared, search_serial, question.scope, page.found)
}

/// Returns the text shown instead of boxes. Empty if the graph has boxes.
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

/// Returns the breadcrumb path from the root to the zoomed box. Empty if the graph is not zoomed.
pub fn crumbs(page: &FlamePage) -> Vec<Crumb> {
    let last = page.zoom as usize;
    let path = page
        .boxes
        .iter()
        .take(last + 1)
        .enumerate()
        .filter(|(index, _)| last > 0 && (*index == 0 || index + MAX_LAST_CRUMBS > last));
    let crumb = |(index, flame_box): (usize, &FlameBox)| {
        let before = if index > 1 && index + MAX_LAST_CRUMBS == last + 1 { "… " } else { "" };
        Crumb { node: flame_box.node, text: [before, &label(page, flame_box).name].concat() }
    };
    path.map(crumb).collect()
}
