//! Answers queries for rows of a tree of call stacks ([`TreeQuestion`]).

mod folds;
mod layout;
mod reveal;

use super::device::DeviceData;
use super::open::OpenFile;
use super::stack_trees::{Population, Selection, TreeView};
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use folds::Folds;
use history::replay::AllocationId;
use layout::{RowLayout, ancestors};
use protocol::{Arrangement, Fold, Reveal, TreePage, TreeQuestion, TreeRow};
use reveal::MatchPaths;

/// Maximum number of rows in a result.
const MAX_ROWS: u32 = 2000;
/// Maximum number of ancestors of the top node in a result. The nearest ancestors are returned.
const MAX_ANCESTORS: usize = 200;

/// Cache for the row layout, the search matches and the revealed node of the last query.
#[derive(Default)]
pub(super) struct TreeCache {
    rows: Option<(RowsKey, RowLayout)>,
    trail: Option<(MatchesKey, MatchPaths)>,
    /// Parameters and result of the last search for the node to reveal.
    target: Option<(Option<TargetKey>, Option<u32>)>,
}

base::heap_bytes!(TreeCache: rows, trail);

/// Cache key of a row layout.
#[derive(Clone, PartialEq)]
struct RowsKey {
    of: Selection,
    arrangement: Arrangement,
    top: u32,
    folds: Vec<Fold>,
}

/// Cache key of the nodes that match a search.
#[derive(Clone, Copy, PartialEq)]
struct MatchesKey {
    of: Selection,
    arrangement: Arrangement,
    /// Number of searches that had finished. It identifies the search.
    search: u32,
}

/// Cache key of the node to reveal.
#[derive(Clone, Copy, PartialEq)]
struct TargetKey {
    of: Selection,
    arrangement: Arrangement,
    top: u32,
    search: Option<u32>,
    reveal: Reveal,
}

impl TreeCache {
    /// Continues computing the requested rows of a tree and returns them once complete. They are empty if the file does
    /// not have the device. If `only_found` is true, only the matches of the search have weights.
    pub(super) fn page(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        (question, only_found): (&TreeQuestion, bool),
        slice: &mut TimeSlice,
    ) -> SliceResult<TreePage> {
        let TreeQuestion { scope, arrangement, search_serial, .. } = *question;
        let Some((data, answers)) = file.device_with_trees(device) else { return Ok(TreePage::default()) };
        let selection = Selection { device, scope, found: search_serial };
        let (all, found_total) = answers.weigh_with_found(data, selection, arrangement, slice)?;
        let of = found_total.filter(|_| only_found).unwrap_or(all);
        let view = answers.view(data, of, arrangement).ok_or(OutOfTime)?;
        let found = found_total.and_then(|found_total| answers.view(data, found_total, arrangement));
        let top = question.focus.filter(|&node| (node as usize) < view.len()).unwrap_or(0);

        if let Some(search) = data.found.filter(|_| found_total.is_some()) {
            let trail_of = MatchesKey { of, arrangement, search: answers.searches };
            if self.trail.as_ref().is_none_or(|(known, _)| *known != trail_of) {
                self.trail = Some((trail_of, MatchPaths::new(view, view.classes(&search.frames))));
            }
            let (_, trail) = self.trail.as_mut().ok_or(OutOfTime)?;
            trail.step(view, slice)?;
        }
        let trail = self.trail.as_ref().filter(|_| found_total.is_some()).map(|(_, trail)| trail);

        let search = trail.map(|_| answers.searches);
        let target_of = question.reveal.map(|reveal| TargetKey { of, arrangement, top, search, reveal });
        if self.target.as_ref().is_none_or(|(known, _)| *known != target_of) {
            let found = question.reveal.and_then(|reveal| target(data, view, trail, top, of, reveal));
            self.target = Some((target_of, found));
        }
        let target = self.target.as_ref().and_then(|&(_, target)| target);
        let mut folds = question.folds.clone();
        let opened =
            target.map_or_else(Vec::new, |target| reveal::nodes_to_open(view, top, target, &Folds::new(&folds)));
        folds.extend(&opened);
        let rules = Folds::new(&folds);
        let rows_of = RowsKey { of, arrangement, top, folds };
        if self.rows.as_ref().is_none_or(|(known, _)| *known != rows_of) {
            self.rows = Some((rows_of, RowLayout::new(view, top, &rules)));
        }
        let (_, layout) = self.rows.as_mut().ok_or(OutOfTime)?;
        layout.step(view, &rules, slice)?;

        let revealed = target.and_then(|target| {
            let row = layout.rows.iter().position(|row| row.node == target)?;
            Some((row as u32, target))
        });
        let [mut first, count] = question.rows;
        let count = count.min(MAX_ROWS);
        if let Some((row, _)) = revealed.filter(|&(row, _)| row < first || row - first >= count) {
            first = row.saturating_sub(count / 2);
        }
        let rows = layout.rows.range(first as usize..(first as usize).saturating_add(count as usize));
        let above = ancestors(view, top);
        let nearest = above.len().saturating_sub(MAX_ANCESTORS);
        Ok(TreePage {
            total: view.weight(0),
            ends: view.ends(0),
            found: found.map_or_else(Default::default, |found| found.weight(0)),
            ancestors: above.into_iter().skip(nearest).map(|node| (node, view.label(node))).collect(),
            row_count: layout.rows.len() as u32,
            first,
            rows: rows
                .map(|row| {
                    let parent = view.parent(row.node).unwrap_or(row.node);
                    TreeRow {
                        node: row.node,
                        parent,
                        depth: row.depth,
                        indent: row.indent,
                        sibling: [row.sibling_index, row.siblings],
                        weight: view.weight(row.node),
                        ends: view.ends(row.node),
                        self_weight: view.self_weight(row.node),
                        parent_bytes: view.weight(parent).bytes,
                        label: view.label(row.node),
                        fold: row.fold,
                        matches: trail.is_some_and(|trail| view.is_in_classes(&trail.classes, row.node)),
                        found: found.map_or(0, |found| found.weight(row.node).bytes),
                    }
                })
                .collect(),
            revealed,
            opened: opened.into_iter().map(|fold| fold.node).collect(),
        })
    }
}

/// Returns the node to reveal. `None` if it is neither `top` nor one of its descendants.
fn target(
    data: DeviceData<'_>,
    view: TreeView<'_>,
    trail: Option<&MatchPaths>,
    top: u32,
    of: Selection,
    reveal: Reveal,
) -> Option<u32> {
    let is_shown = |node: u32| view.weight(node).count > 0 && reveal::is_within(view, top, node);
    // From a node that does not exist, the search starts at the top.
    let start = |node: u32| if is_shown(node) { node } else { top };
    match reveal {
        Reveal::Node(node) => Some(node),
        Reveal::Allocation(id) => {
            let id = AllocationId(id);
            let is_in_scope = Population::new(data.history, of.scope).contains(data.history, id);
            is_in_scope.then(|| view.node_of(id)).flatten()
        }
        Reveal::MatchAfter(node) => trail?.after(view, top, start(node)),
        Reveal::MatchBefore(node) => trail?.before(view, top, start(node)),
    }
    .filter(|&node| is_shown(node))
}
