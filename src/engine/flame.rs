//! Flame graphs of the stacks of some allocations: the answer to a [`FlameQuestion`].

use super::answers::{Population, Selection, TreeView};
use super::icicle::{Icicle, Nodes};
use super::open::OpenFile;
use super::protocol::{Ends, FlameBox, FlamePage, FlameQuestion, Weight};
use analysis::IdSet;
use base::slice::{Slice, Sliced, Spent};
use base::sorted::{pair, sorted_by_key};
use history::replay::AllocationId;

/// Bytes of names that are sent in full. Later ones, which belong to the innermost rows, are truncated.
const LONG_NAMES: usize = 2_000_000;
/// Length of a truncated name or path, in bytes.
const CUT_NAME: usize = 60;

/// The flame graph requested last.
#[derive(Default)]
pub(super) struct Flames {
    begun: Option<FlameInWork>,
}

/// A flame graph being built.
struct FlameInWork {
    device: i64,
    /// The question without its allocation, which does not affect the boxes.
    question: FlameQuestion,
    /// Number of searches finished when it was started.
    search: u32,
    icicle: Icicle,
    /// Classes of the frames that the search found.
    found: Option<IdSet>,
    page: FlamePage,
    /// Boxes sorted by name: the number of the name and the index of the box. Empty until all boxes are built.
    by_name: Vec<(u32, usize)>,
    /// Number of these boxes that have a label.
    named: usize,
    /// Bytes of the labels so far.
    bytes: usize,
}

impl Flames {
    /// Returns the boxes. There are none if the file has no such device.
    pub(super) fn page(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: FlameQuestion,
        slice: &mut Slice,
    ) -> Sliced<FlamePage> {
        let FlameQuestion { scope, arrangement, find, .. } = question;
        let Some((open, answers)) = file.open(device) else { return Ok(FlamePage::default()) };
        let asked = Selection { device, scope, found: find };
        let (of, of_found) = answers.weigh_with_found(open, asked, arrangement, slice)?;
        let view = answers.view(open, of, arrangement).ok_or(Spent)?;
        let found = of_found.and_then(|of_found| answers.view(open, of_found, arrangement));
        let lent = Lent { view, found };

        let plain = FlameQuestion { allocation: None, ..question };
        let is_it =
            |begun: &FlameInWork| (begun.device, begun.question, begun.search) == (device, plain, answers.searches);
        if !self.begun.as_ref().is_some_and(is_it) {
            let zoom = question.zoom.filter(|&node| (node as usize) < view.len()).unwrap_or(0);
            self.begun = Some(FlameInWork {
                device,
                question: plain,
                search: answers.searches,
                icicle: Icicle::new(&lent, zoom, question.width_px.max(1)),
                found: open.found.filter(|_| of_found.is_some()).map(|found| view.classes(&found.frames)),
                page: FlamePage {
                    total: view.weight(0),
                    ends: view.ends(0),
                    found: found.map_or_else(Default::default, |found| found.weight(0)),
                    ..FlamePage::default()
                },
                by_name: Vec::new(),
                named: 0,
                bytes: 0,
            });
        }
        let begun = self.begun.as_mut().ok_or(Spent)?;
        begun.icicle.step(&lent, slice)?;
        begun.name(view, slice)?;
        let id = question.allocation.map(AllocationId);
        let id = id.filter(|&id| Population::new(open.history, of.scope).holds(open.history, id));
        let revealed = id.and_then(|id| nearest_box(view, &begun.page.boxes, view.node_of(id)?));
        Ok(FlamePage { revealed, ..begun.page.clone() })
    }
}

/// Returns the index of the innermost box that shows a node or one of its ancestors.
fn nearest_box(view: TreeView<'_>, boxes: &[FlameBox], node: u32) -> Option<u32> {
    let way: Vec<u32> = std::iter::successors(Some(node), |&node| view.parent(node)).collect();
    // Parents have lower numbers than their children. So the path descends, and of two boxes on it, the one with the
    // higher number is the inner one.
    let is_on_it = |it: &FlameBox| it.nodes == 1 && way.binary_search_by(|known| it.node.cmp(known)).is_ok();
    (0..).zip(boxes).filter(|(_, it)| is_on_it(it)).max_by_key(|(_, it)| it.node).map(|(place, _)| place)
}

impl FlameInWork {
    /// Labels and colours the boxes.
    fn name(&mut self, view: TreeView<'_>, slice: &mut Slice) -> Sliced {
        let page = &mut self.page;
        if page.boxes.is_empty() {
            page.boxes = std::mem::take(&mut self.icicle.boxes);
            (page.zoom, page.is_cut) = (self.icicle.zoom as u32, self.icicle.is_cut);
            let by_name = page.boxes.iter().map(|it| view.name(it.node)).zip(0..).collect();
            self.by_name = sorted_by_key(by_name, |&(name, place)| pair(name.into(), place as u64));
        }
        while let Some(&(name, place)) = self.by_name.get(self.named) {
            let before = self.named.checked_sub(1).and_then(|before| self.by_name.get(before));
            let Some(it) = page.boxes.get_mut(place) else { return Ok(()) };
            if before.is_none_or(|before| before.0 != name) {
                let mut label = view.label(it.node);
                if self.bytes > LONG_NAMES {
                    [&mut label.name, &mut label.file].into_iter().for_each(cut);
                }
                self.bytes += label.name.len() + label.file.len();
                page.labels.push(label);
            }
            it.label = page.labels.len() as u32 - 1;
            if it.nodes == 1 {
                it.slot = view.slot(it.node);
                it.matches = self.found.as_ref().is_some_and(|classes| view.is_of(classes, it.node));
            }
            self.named += 1;
            slice.spend(8)?;
        }
        Ok(())
    }
}

/// A weighed tree, and the tree of the matches of a search.
struct Lent<'a> {
    view: TreeView<'a>,
    found: Option<TreeView<'a>>,
}

impl Nodes for Lent<'_> {
    fn above(&self, node: u32) -> Option<u32> {
        self.view.parent(node)
    }

    fn first_below(&self, node: u32) -> Option<u32> {
        self.view.first_child(node)
    }

    fn beside(&self, node: u32) -> Option<u32> {
        self.view.next_child(node)
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

/// Truncates a long text.
fn cut(text: &mut String) {
    if text.len() > CUT_NAME {
        let end = (0..=CUT_NAME).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
}
