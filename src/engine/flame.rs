//! Flame graphs of the stacks of a scope's allocations, in response to a [`FlameQuestion`].

use super::icicle::{Icicle, TreeNodes};
use super::open::OpenFile;
use super::stack_trees::{Population, Selection, TreeView};
use analysis::IdSet;
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, two_part_key};
use history::replay::AllocationId;
use protocol::{Ends, FlameBox, FlamePage, FlameQuestion, Weight};

/// Total length in bytes of the names that are sent in full. Once it is reached, further names are truncated. These
/// belong to the innermost rows.
const MAX_FULL_NAME_BYTES: usize = 2_000_000;
/// Length of a truncated name or path, in bytes.
const TRUNCATED_NAME_BYTES: usize = 60;

/// Builder of the flame graph that was requested last.
#[derive(Default)]
pub(super) struct FlameGraphs {
    in_progress: Option<FlameBuilder>,
}

/// Time-sliced builder of a flame graph.
struct FlameBuilder {
    device: i64,
    /// The query. Its allocation is cleared, because it does not affect the boxes.
    question: FlameQuestion,
    /// Number of searches that had finished when building started.
    search: u32,
    icicle: Icicle,
    /// Frame classes of the frames that match the search. `None` without a search.
    found: Option<IdSet>,
    page: FlamePage,
    /// Pairs of name id and box index, sorted by name id. Empty until all boxes are built.
    by_name: Vec<(u32, usize)>,
    /// Number of items at the start of `by_name` whose boxes have a label.
    labelled: usize,
    /// Total length of the labels so far, in bytes.
    label_bytes: usize,
}

impl FlameGraphs {
    /// Continues building the flame graph and returns it once complete. It has no boxes if the file has no such device.
    pub(super) fn page(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: FlameQuestion,
        slice: &mut TimeSlice,
    ) -> SliceResult<FlamePage> {
        let FlameQuestion { scope, arrangement, search_serial, .. } = question;
        let Some((data, answers)) = file.device_with_trees(device) else { return Ok(FlamePage::default()) };
        let selection = Selection { device, scope, found: search_serial };
        let (selected, found_total) = answers.weigh_with_found(data, selection, arrangement, slice)?;
        let view = answers.view(data, selected, arrangement).ok_or(OutOfTime)?;
        let found = found_total.and_then(|found_total| answers.view(data, found_total, arrangement));
        let tree = FlameTree { view, found };

        let plain = FlameQuestion { allocation: None, ..question };
        let is_it = |builder: &FlameBuilder| {
            (builder.device, builder.question, builder.search) == (device, plain, answers.searches)
        };
        if !self.in_progress.as_ref().is_some_and(is_it) {
            let zoom = question.zoom.filter(|&node| (node as usize) < view.len()).unwrap_or(0);
            self.in_progress = Some(FlameBuilder {
                device,
                question: plain,
                search: answers.searches,
                icicle: Icicle::new(&tree, zoom, question.width_px.max(1)),
                found: data.found.filter(|_| found_total.is_some()).map(|found| view.classes(&found.frames)),
                page: FlamePage {
                    total: view.weight(0),
                    ends: view.ends(0),
                    found: found.map_or_else(Default::default, |found| found.weight(0)),
                    ..FlamePage::default()
                },
                by_name: Vec::new(),
                labelled: 0,
                label_bytes: 0,
            });
        }
        let builder = self.in_progress.as_mut().ok_or(OutOfTime)?;
        builder.icicle.step(&tree, slice)?;
        builder.label_boxes(view, slice)?;
        let id = question.allocation.map(AllocationId);
        let id = id.filter(|&id| Population::new(data.history, selected.scope).contains(data.history, id));
        let revealed = id.and_then(|id| nearest_box(view, &builder.page.boxes, view.node_of(id)?));
        Ok(FlamePage { revealed, ..builder.page.clone() })
    }
}

/// Returns the index of the innermost box that shows a node or one of its ancestors.
fn nearest_box(view: TreeView<'_>, boxes: &[FlameBox], node: u32) -> Option<u32> {
    let path: Vec<u32> = std::iter::successors(Some(node), |&node| view.parent(node)).collect();
    // Parents have lower numbers than their children. So the path descends, and of two boxes on it, the one with the
    // higher number is the inner one.
    let is_on_path = |it: &FlameBox| it.node_count == 1 && path.binary_search_by(|known| it.node.cmp(known)).is_ok();
    (0..).zip(boxes).filter(|(_, it)| is_on_path(it)).max_by_key(|(_, it)| it.node).map(|(index, _)| index)
}

impl FlameBuilder {
    /// Continues setting the labels and colours of the boxes.
    fn label_boxes(&mut self, view: TreeView<'_>, slice: &mut TimeSlice) -> SliceResult {
        let page = &mut self.page;
        if page.boxes.is_empty() {
            page.boxes = std::mem::take(&mut self.icicle.boxes);
            (page.zoom, page.is_truncated) = (self.icicle.zoom as u32, self.icicle.is_cut);
            let by_name = page.boxes.iter().map(|it| view.name_id(it.node)).zip(0..).collect();
            self.by_name = sorted_by_key(by_name, |&(name, index)| two_part_key(name.into(), index as u64));
        }
        while let Some(&(name, index)) = self.by_name.get(self.labelled) {
            let before = self.labelled.checked_sub(1).and_then(|before| self.by_name.get(before));
            let Some(it) = page.boxes.get_mut(index) else { return Ok(()) };
            if before.is_none_or(|before| before.0 != name) {
                let mut label = view.label(it.node);
                if self.label_bytes > MAX_FULL_NAME_BYTES {
                    [&mut label.name, &mut label.file].into_iter().for_each(truncate);
                }
                self.label_bytes += label.name.len() + label.file.len();
                page.labels.push(label);
            }
            it.label = page.labels.len() as u32 - 1;
            if it.node_count == 1 {
                it.slot = view.slot(it.node);
                it.matches = self.found.as_ref().is_some_and(|classes| view.is_in_classes(classes, it.node));
            }
            self.labelled += 1;
            slice.spend(8)?;
        }
        Ok(())
    }
}

/// A tree weighted by all allocations, and a tree weighted only by those that match the search.
struct FlameTree<'a> {
    view: TreeView<'a>,
    found: Option<TreeView<'a>>,
}

impl TreeNodes for FlameTree<'_> {
    fn parent(&self, node: u32) -> Option<u32> {
        self.view.parent(node)
    }

    fn first_child(&self, node: u32) -> Option<u32> {
        self.view.first_child(node)
    }

    fn next_sibling(&self, node: u32) -> Option<u32> {
        self.view.next_sibling(node)
    }

    fn weight(&self, node: u32) -> Weight {
        self.view.weight(node)
    }

    fn ends(&self, node: u32) -> Ends {
        self.view.ends(node)
    }

    fn found(&self, node: u32) -> u64 {
        self.found.map_or(0, |found| found.weight(node).bytes)
    }
}

/// Truncates a long text and marks the end with `…`.
fn truncate(text: &mut String) {
    if text.len() > TRUNCATED_NAME_BYTES {
        let end = (0..=TRUNCATED_NAME_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
}
