//! Contents of the call tree: the visible rows as text.

use crate::features::tree::{SelectionRow, Tree, TreeScroll};
use crate::scope::find;
use crate::state::shared::Shared;
use crate::text::amount::{amount, change, count_change, exact, exact_change, per_mille, percent, ratio, sign};
use crate::text::names::shared_beginnings;
use crate::text::tab::Tab;
use base::units::{Bytes, group_digits, pluralize};
use protocol::{Arrangement, FoldState, NodeKind, Scope, TreeRow, Weight};

/// Number of rows rendered beyond the visible ones, on either side, so that they exist before the user scrolls to
/// them.
const OVERSCAN: u32 = 12;
/// Maximum number of forks (ancestors with several children) that indent a row.
const MAX_FORKS: u32 = 24;
/// Indentation per fork in CSS pixels.
const FORK_PX: u32 = 14;
/// Additional indentation of an only child, in CSS pixels.
const ONLY_CHILD_PX: u32 = 7;

/// A visible row of the call tree, as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeRowView {
    /// Index of the row.
    pub number: u32,
    /// Id of the node.
    pub node: u32,
    /// Depth of the row, from 1 for the first row.
    pub level: u32,
    /// Position among the siblings, from 1, followed by the number of siblings.
    pub sibling: [u32; 2],
    /// Indentation in CSS pixels.
    pub indent_px: u32,
    pub fold: FoldState,
    pub name: String,
    /// Length in bytes of the beginning of the name that is cut first, see [`shared_beginnings`].
    pub shared: usize,
    /// Shortened `file:line`. Empty if unknown.
    pub location: String,
    /// Tooltip with the full name and location.
    pub title: String,
    pub link: Option<String>,
    pub kind: NodeKind,
    /// Share of the total, in tenths of a percent.
    pub share: u32,
    /// Colour level of the share, from 0 to 4. It increases at 5, 20, 40 and 70 %.
    pub share_level: u8,
    /// Bytes, abbreviated. For [`Scope::Change`], the difference.
    pub bytes: String,
    /// Exact bytes, and number of allocations.
    pub exact: String,
    /// Share of the total. For [`Scope::Change`], the ratio B / A.
    pub of_total: String,
    /// Last three columns of [`Heads`]: share of the parent, count, bytes of the frame itself. For [`Scope::Change`]:
    /// bytes at A, bytes at B, difference of the counts.
    pub last_columns: [String; 3],
    /// Bytes of the subtree that match the search, abbreviated.
    pub found: String,
    /// True if the row's frame matches the search.
    pub matches: bool,
    pub is_active: bool,
    pub is_selected: bool,
    /// True if the selected allocation has this stack.
    pub has_selected_allocation: bool,
    /// Requested bytes (or bytes × events) and number of allocations, for scripts. For [`Scope::Change`], bytes at A
    /// and at B.
    pub weight: [u64; 2],
}

/// Names and tooltips of the columns after the one with the frames.
pub type Heads = [(&'static str, &'static str); 5];

const WEIGHT_HEADINGS: Heads = [
    ("Total", "Requested bytes of the frame and its callees"),
    ("of all", "Share of all bytes of the tree"),
    ("of parent", "Share of the parent row"),
    ("Count", "Allocations"),
    ("Self", "Requested bytes of the frame alone"),
];
const CHANGE_HEADINGS: Heads = [
    ("Δ B − A", "Requested bytes live at B minus those live at A"),
    ("B / A", "Bytes at B divided by bytes at A; the bar shows the change relative to the larger total"),
    ("At A", "Requested bytes live at A"),
    ("At B", "Requested bytes live at B"),
    ("Δ count", "Allocations live at B minus those live at A"),
];

/// Returns the column names for a scope.
pub fn heads(scope: Scope) -> &'static Heads {
    if matches!(scope, Scope::Change(_)) { &CHANGE_HEADINGS } else { &WEIGHT_HEADINGS }
}

/// The visible rows and totals of the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeView {
    /// Number of rows in the whole tree.
    pub row_count: u32,
    /// Index of the row that `rows` starts with.
    pub first: u32,
    /// The visible rows and a few more. `None` for a row that is not loaded yet.
    pub rows: Vec<Option<TreeRowView>>,
    /// Path from the root to the focused node: ids and names of nodes. Empty if no node is focused.
    pub path: Vec<(u32, String)>,
    pub empty: &'static str,
    /// True if the rows show matches of a search.
    pub has_matches: bool,
    /// Summary of the matches.
    pub found: String,
    /// Total bytes of the tree. For [`Scope::Change`], the total at B.
    pub total: u64,
    pub heads: Option<&'static Heads>,
}

/// State that the rows depend on. If it is unchanged, so are the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowsInputs {
    answer: u32,
    scroll: TreeScroll,
    active: u32,
    node: Option<u32>,
    marked: Option<SelectionRow>,
    settings: u32,
    searched: bool,
}

/// State of the buttons above the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolbarState {
    pub arrangement: Arrangement,
    /// True if the active row is the selected node.
    pub is_selected: bool,
    /// True if Back can restore a previously focused node.
    pub can_go_back: bool,
    /// True if a node is focused.
    pub is_focused: bool,
    pub has_selection: bool,
    pub has_matches: bool,
}

/// Returns the state that the rows depend on. `None` while the tree is hidden.
pub fn rows_inputs(tree: &Tree, shared: &Shared) -> Option<RowsInputs> {
    (shared.views.visible() == Some(Tab::CallTree)).then_some(RowsInputs {
        answer: tree.reply_count,
        scroll: tree.scroll,
        active: tree.active(),
        node: shared.views.node,
        marked: tree.selection_row,
        settings: shared.settings.version,
        searched: find::match_serial(shared).is_some(),
    })
}

/// Returns the state of the buttons above the rows.
pub fn toolbar_state(tree: &Tree, shared: &Shared) -> ToolbarState {
    ToolbarState {
        arrangement: shared.views.arrangement,
        is_selected: shared.views.node.is_some() && shared.views.node == tree.position.node,
        can_go_back: !tree.position.history.is_empty(),
        is_focused: tree.position.focus.is_some(),
        has_selection: shared.selection.is_some(),
        has_matches: find::match_serial(shared).is_some(),
    }
}

/// Returns the colour level, from 0 to 4, of a share in tenths of a percent.
pub fn share_level(share: u32) -> u8 {
    match share {
        ..50 => 0,
        50..200 => 1,
        200..400 => 2,
        400..700 => 3,
        _ => 4,
    }
}

/// Returns the visible rows and totals. Empty before the first reply.
pub fn view(tree: &Tree, shared: &Shared) -> TreeView {
    let (Some(page), Some(question)) = (tree.page(), tree.last_question()) else { return TreeView::default() };
    let [first, beyond] = tree.scroll.visible_rows();
    let is_change = matches!(question.scope, Scope::Change(_));
    let (first, beyond) = (first.saturating_sub(OVERSCAN), beyond.saturating_add(OVERSCAN).min(page.row_count));
    let first = first.min(beyond);
    let total =
        if is_change { page.ends.map(|end| end.bytes).into_iter().max() } else { None }.unwrap_or(page.total.bytes);
    let row = |number| Some(row(tree, shared, question.scope, total, number, tree.row(number)?));
    let mut rows: Vec<Option<TreeRowView>> = (first..beyond).map(row).collect();
    let names: Vec<&str> = rows.iter().flatten().map(|row| row.name.as_str()).collect();
    let shared_bytes = shared_beginnings(&names);
    rows.iter_mut().flatten().zip(shared_bytes).for_each(|(row, shared)| row.shared = shared);
    let mut path: Vec<(u32, String)> = page.ancestors.iter().map(|(node, label)| (*node, label.name.clone())).collect();
    if !path.is_empty() {
        path.push((question.focus.unwrap_or(0), tree.top_name.clone()));
    }
    TreeView {
        row_count: page.row_count,
        first,
        rows,
        path,
        empty: if page.total.count == 0 && page.total.bytes == 0 { empty_message(question.scope) } else { "" },
        heads: Some(heads(question.scope)),
        // Matches within a change would need columns of their own.
        has_matches: question.search_serial.is_some() && find::match_serial(shared).is_some() && !is_change,
        found: crate::scope::find::matches_text(shared, question.search_serial, question.scope, page.found),
        total: if is_change { page.ends[1].bytes } else { page.total.bytes },
    }
}

/// Returns the message for a scope without allocations.
pub(crate) fn empty_message(scope: Scope) -> &'static str {
    match scope {
        Scope::All => "No allocations recorded.",
        Scope::At(_) => "Nothing is live at the cursor.",
        Scope::Allocated(_) => "Nothing was allocated in this range.",
        Scope::Freed(_) => "Nothing was freed in this range.",
        Scope::StillLive(_) => "Everything allocated in this range was freed in it.",
        Scope::ByteMoments(_) => "Nothing is live in this range.",
        Scope::Change(_) => "Nothing changed between A and B.",
    }
}

fn row(tree: &Tree, shared: &Shared, scope: Scope, total: u64, number: u32, row: &TreeRow) -> TreeRowView {
    let label = &row.label;
    let [begin, end] = row.ends;
    let is_change = matches!(scope, Scope::Change(_));
    let share = per_mille(if is_change { begin.bytes.abs_diff(end.bytes) } else { row.weight.bytes }, total);
    let only_child = row.depth > 0 && row.sibling[1] <= 1;
    let extra_px = if only_child { ONLY_CHILD_PX } else { 0 };
    let mut title = label.name.clone();
    let file = crate::text::source_links::location(&label.file, &label.line, "");
    if !file.is_empty() {
        title.push('\n');
        title.push_str(&file);
    }
    let node_of_selection =
        tree.selection_row.and_then(|it| it.node.filter(|_| it.arrangement == shared.views.arrangement));
    TreeRowView {
        number,
        node: row.node,
        level: row.depth.saturating_add(1),
        sibling: [row.sibling[0].saturating_add(1), row.sibling[1].max(1)],
        indent_px: row.indent.min(MAX_FORKS) * FORK_PX + extra_px,
        fold: row.fold,
        name: label.name.clone(),
        shared: 0,
        location: shared.settings.location(&label.file, &label.line),
        title,
        link: shared.settings.link(&label.file, &label.line).ok(),
        kind: label.kind,
        share,
        share_level: share_level(share),
        bytes: if is_change { change(begin.bytes, end.bytes) } else { amount(scope, row.weight.bytes) },
        exact: if is_change {
            let count = pluralize(begin.count.abs_diff(end.count).into(), "allocation");
            [&exact_change(begin.bytes, end.bytes), ", ", sign(begin.count.into(), end.count.into()), &count].concat()
        } else {
            [&exact(scope, row.weight.bytes), " in ", &pluralize(row.weight.count.into(), "allocation")].concat()
        },
        of_total: if is_change { ratio(begin.bytes, end.bytes) } else { percent(row.weight.bytes, total) },
        last_columns: if is_change {
            let at = |end: Weight| if end.count == 0 { "–".to_owned() } else { Bytes(end.bytes).to_string() };
            [at(begin), at(end), count_change(begin.count, end.count)]
        } else {
            let has_own = row.self_weight.count > 0 || row.self_weight.bytes > 0;
            [
                percent(row.weight.bytes, row.parent_bytes),
                group_digits(row.weight.count.into()),
                if has_own { amount(scope, row.self_weight.bytes) } else { String::new() },
            ]
        },
        found: if row.found == 0 || is_change { String::new() } else { amount(scope, row.found) },
        matches: row.matches,
        is_active: number == tree.active(),
        is_selected: shared.views.node == Some(row.node),
        has_selected_allocation: node_of_selection == Some(row.node),
        weight: if is_change { row.ends.map(|end| end.bytes) } else { [row.weight.bytes, u64::from(row.weight.count)] },
    }
}
