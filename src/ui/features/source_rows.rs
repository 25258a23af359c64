//! Contents of the Source tab: the table of files and lines.

pub mod text_view;

use crate::features::sources::{Sources, line_query};
use crate::state::shared::Shared;
use crate::text::amount::{change, exact_change, per_mille, percent, ratio};
use base::units::{Bytes, group_digits, pluralize};
use protocol::{LocationWeight, NodeLabel, Scope, SourceFile};

/// Maximum number of rows in the table.
const MAX_ROWS: usize = 1500;

/// Content of a table row: a file, a line of a file, or a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A source file.
    File(Expansion),
    Line,
    /// A note about rows that are not shown, or about bytes without a source file.
    Note,
}

/// State of a file row: its lines are visible or hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    Expanded,
    Collapsed,
}

/// Reasons to highlight a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Highlight {
    pub is_searched: bool,
    /// True if the line is the call site of the selected allocation or belongs to the selected node of the call tree.
    pub is_current: bool,
}

/// A row of the table of source files and lines.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceRow {
    pub kind: RowKind,
    /// File name or line number.
    pub label: String,
    pub path: String,
    /// Requested bytes in the scope, abbreviated.
    pub bytes: String,
    /// Exact value of `bytes`.
    pub exact: String,
    /// Share of all bytes in the scope. For [`Scope::Change`], the ratio B / A.
    pub share: String,
    pub per_mille: u32,
    /// Number of allocations. For [`Scope::Change`], bytes live at A.
    pub count: String,
    /// Bytes live at the device's peak. For [`Scope::Change`], bytes live at B.
    pub peak: String,
    /// Exact value of `peak`.
    pub exact_peak: String,
    /// Highlighting of the row. A collapsed file is highlighted if one of its lines is.
    pub highlight: Highlight,
    /// Source text of a line, if the snapshot contains it.
    pub code: String,
}

impl SourceRow {
    /// Returns the folder of the file, without a trailing separator.
    pub fn folder(&self) -> &str {
        self.path.strip_suffix(&self.label).unwrap_or_default().trim_end_matches(['/', '\\'])
    }
}

/// The table of source files and lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceView {
    /// Headings and tooltips of the number columns.
    pub heads: [(&'static str, &'static str); 4],
    /// Headings of the columns beside the lines of a dropped file.
    pub margin_heads: [&'static str; 2],
    pub rows: Vec<SourceRow>,
}

const CHANGE_HEADINGS: [(&str, &str); 4] = [
    ("Δ B − A", "Requested bytes live at B minus those live at A"),
    ("B / A", "Bytes at B divided by bytes at A"),
    ("At A", "Requested bytes live at A"),
    ("At B", "Requested bytes live at B"),
];

/// Returns the headings for scopes other than [`Scope::Change`].
fn heads(unit: &'static str) -> [(&'static str, &'static str); 4] {
    [
        (unit, "Bytes in the scope"),
        ("Share", "Share of all bytes in the scope"),
        ("Allocations", "Allocations in the scope"),
        ("At peak", "Requested bytes live at the peak of the device"),
    ]
}

/// Inputs that determine the highlighted lines.
struct HighlightCriteria<'a> {
    /// Search text, if it searches for call sites (starts with `@`).
    search: Option<&'a str>,
    /// File and line of the selected allocation's call site.
    selected: Option<(&'a str, &'a str)>,
    node: Option<&'a NodeLabel>,
}

impl HighlightCriteria<'_> {
    fn from_state(shared: &Shared) -> HighlightCriteria<'_> {
        let details = shared.selection.as_deref().filter(|details| !details.is_free_stack);
        let frame = details.and_then(|details| details.frames.iter().find(|frame| frame.is_user_code));
        HighlightCriteria {
            search: Some(shared.find.text.as_str()).filter(|text| text.starts_with('@')),
            selected: frame.map(|frame| (frame.filename.as_str(), frame.line.as_str())),
            node: shared.node_label(),
        }
    }

    /// Returns the highlighting of a line of a file.
    fn highlight(&self, path: &str, line: &str) -> Highlight {
        let is_searched = self.search.is_some_and(|typed| typed == line_query(path, line));
        // If frames of several lines are merged, the node is either a function, whose lines are unknown, or a whole
        // file.
        let is_node = |node: &NodeLabel| {
            node.file == path && (node.line == line || (node.line.is_empty() && node.name == file_name(path)))
        };
        Highlight { is_searched, is_current: self.selected == Some((path, line)) || self.node.is_some_and(is_node) }
    }
}

fn is_product(sources: &Sources) -> bool {
    matches!(sources.page.answered_question(), Some(Scope::ByteMoments(_)))
}

fn is_change(sources: &Sources) -> bool {
    matches!(sources.page.answered_question(), Some(Scope::Change(_)))
}

fn unit(sources: &Sources) -> &'static str {
    if is_product(sources) { " B·events" } else { " B requested" }
}

/// Returns the contents of the table of files and lines.
pub fn view(sources: &Sources, shared: &Shared) -> SourceView {
    let Some(page) = sources.page.latest() else { return SourceView::default() };
    let criteria = HighlightCriteria::from_state(shared);
    let mut rows = Vec::new();
    let row = |kind, label: String, path: String, weights: &LocationWeight, highlight: Highlight| {
        let (now, peak, total) = (weights.now, weights.peak, page.total.now.bytes);
        if is_change(sources) {
            return SourceRow {
                kind,
                label,
                path,
                bytes: change(peak.bytes, now.bytes),
                exact: exact_change(peak.bytes, now.bytes) + " requested",
                share: ratio(peak.bytes, now.bytes),
                per_mille: per_mille(now.bytes.abs_diff(peak.bytes), total.max(page.total.peak.bytes)),
                count: Bytes(peak.bytes).to_string(),
                peak: Bytes(now.bytes).to_string(),
                exact_peak: group_digits(now.bytes) + " B requested",
                highlight,
                code: String::new(),
            };
        }
        SourceRow {
            kind,
            label,
            path,
            bytes: Bytes(now.bytes).to_string(),
            exact: group_digits(now.bytes) + unit(sources),
            share: percent(now.bytes, total),
            per_mille: per_mille(now.bytes, total),
            count: group_digits(now.count.into()),
            peak: Bytes(peak.bytes).to_string(),
            exact_peak: group_digits(peak.bytes) + " B requested",
            highlight,
            code: String::new(),
        }
    };
    for (index, file) in page.files.iter().enumerate() {
        if rows.len() >= MAX_ROWS {
            let label = pluralize((page.files.len() - index) as u64, "smaller file") + " not shown";
            rows.push(row(RowKind::Note, label, String::new(), &sum_from(&page.files, index), Highlight::default()));
            break;
        }
        let is_open = sources.is_expanded(index, &file.path);
        let line_highlight = || {
            let each = file.lines.iter().map(|line| criteria.highlight(&file.path, &line.line));
            each.fold(Highlight::default(), |all, one| Highlight {
                is_searched: all.is_searched || one.is_searched,
                is_current: all.is_current || one.is_current,
            })
        };
        let file_highlight = if is_open { Highlight::default() } else { line_highlight() };
        let kind = RowKind::File(if is_open { Expansion::Expanded } else { Expansion::Collapsed });
        rows.push(row(kind, file_name(&file.path).to_owned(), file.path.clone(), &file.weights, file_highlight));
        if !is_open {
            continue;
        }
        let room = MAX_ROWS.saturating_sub(rows.len());
        rows.extend(file.lines.iter().take(room).map(|line| {
            let marked = criteria.highlight(&file.path, &line.line);
            let code = line.code.clone();
            SourceRow { code, ..row(RowKind::Line, line.line.clone(), file.path.clone(), &line.weights, marked) }
        }));
        let left_out = u64::from(file.left_out) + file.lines.len().saturating_sub(room) as u64;
        if left_out > 0 {
            let label = pluralize(left_out, "smaller line") + " not shown";
            let mut weights = file.weights;
            file.lines.iter().take(room).for_each(|line| subtract(&mut weights, &line.weights));
            rows.push(row(RowKind::Note, label, String::new(), &weights, Highlight::default()));
        }
    }
    let notes = [("no frame in your code", &page.elsewhere), ("files beyond the first 2,000", &page.left_out)];
    for (label, weights) in notes {
        if weights.now.count > 0 || weights.peak.count > 0 {
            rows.push(row(RowKind::Note, label.to_owned(), String::new(), weights, Highlight::default()));
        }
    }
    if rows.is_empty() {
        let label = super::tree_rows::empty_message(shared.views.scope).to_owned();
        rows.push(row(RowKind::Note, label, String::new(), &LocationWeight::default(), Highlight::default()));
    }
    let heads = match (is_change(sources), is_product(sources)) {
        (true, _) => CHANGE_HEADINGS,
        (_, true) => heads("Bytes × lifetime"),
        _ => heads("Requested"),
    };
    let margin_heads = if is_change(sources) { ["At B", "At A"] } else { [heads[0].0, heads[3].0] };
    SourceView { heads, margin_heads, rows }
}

fn subtract(from: &mut LocationWeight, subtrahend: &LocationWeight) {
    for (from, subtrahend) in [(&mut from.now, subtrahend.now), (&mut from.peak, subtrahend.peak)] {
        from.bytes = from.bytes.saturating_sub(subtrahend.bytes);
        from.count = from.count.saturating_sub(subtrahend.count);
    }
}

/// Returns the total of the files from `index` to the end.
fn sum_from(files: &[SourceFile], index: usize) -> LocationWeight {
    let mut sum = LocationWeight::default();
    for file in files.iter().skip(index) {
        for (to, more) in [(&mut sum.now, file.weights.now), (&mut sum.peak, file.weights.peak)] {
            to.bytes = to.bytes.saturating_add(more.bytes);
            to.count = to.count.saturating_add(more.count);
        }
    }
    sum
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
