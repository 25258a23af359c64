//! An open file: its snapshot, the history of each device, and data derived from them.

mod drawing;
mod summary;

use super::backend::backend;
use super::backward_stacks::BackwardStacks;
use super::categories::Categories;
use super::device::DeviceData;
use super::groups::Groups;
use super::plots::PlotCache;
use super::search_matches::SearchMatches;
use super::stack_match::{FORWARD_QUERY, StackMatch};
use super::stack_trees::StackTrees;
use analysis::Sites;
use analysis::category::compiled::CompiledSet;
use base::slice::{SliceResult, TimeSlice};
use history::replay::{DeviceHistory, Rounding, SegmentLifetimes, Versions};
use history::snapshot::{FrameId, Snapshot, StackId, Warnings};
use intake::LoadedFile;
use picture::timeline::{Order, OrderBuilder};
use protocol::{Backend, Grouping, Query};
use std::sync::Arc;

/// A file that is completely loaded.
pub(super) struct OpenFile {
    pub(super) snapshot: Snapshot,
    /// Kind of the devices.
    pub(super) backend: Backend,
    pub(super) histories: Vec<DeviceHistory>,
    /// Mapped ranges over time, with one item for each device history. See [`OpenFile::compute_segments`].
    segments: Vec<SegmentLifetimes>,
    /// Versions, which count how often an address was reused, with one item for each device history. See
    /// [`OpenFile::compute_versions`].
    versions: Vec<Versions>,
    pub(super) sites: Sites,
    /// Stacks of the backward pass. Complete after [`OpenFile::categorize`] or [`OpenFile::find_backward`].
    pub(super) backward: BackwardStacks,
    /// Stacks of the forward pass. Complete after [`OpenFile::find_forward`].
    forward: StackMatch,
    pub(super) rounding: Rounding,
    name: String,
    format: String,
    warnings: Warnings,
    pub(super) groups: Groups,
    /// Cached stacking orders. The most recently used one is the last.
    orders: Vec<StackingOrder>,
    pub(super) found: Option<SearchMatches>,
    pub(super) stack_trees: StackTrees,
    /// Cached data of all plots except the stacked allocations.
    pub(super) plots: PlotCache,
    /// Encoded reports of a cache file, see [`FinishedReports`](super::report::FinishedReports).
    pub(super) encoded_reports: Vec<u8>,
}

/// Order of stacking the allocations of a device by group instead of by time of allocation.
struct StackingOrder {
    device: i64,
    by: Grouping,
    /// Number of allocations of the device.
    count: usize,
    /// Builder of the order, with the groups of the allocations that were sorted so far.
    builder: OrderBuilder,
    order: Option<Order>,
}

impl OpenFile {
    pub(super) fn new(loaded: LoadedFile) -> OpenFile {
        let LoadedFile { name, format, snapshot, histories, warnings, results } = loaded;
        let backend = backend(&snapshot);
        let sites = Sites::new(&snapshot);
        let rounding = Rounding::from_settings(&snapshot.settings);
        let groups = Groups::new(&snapshot);
        let orders = Vec::new();
        let (backward, forward, stack_trees, plots) = Default::default();
        let segments = histories.iter().map(|_| SegmentLifetimes::default()).collect();
        let versions = histories.iter().map(|_| Versions::default()).collect();
        OpenFile {
            snapshot,
            backend,
            histories,
            segments,
            versions,
            sites,
            backward,
            forward,
            rounding,
            name,
            format,
            warnings,
            groups,
            orders,
            found: None,
            stack_trees,
            plots,
            encoded_reports: results,
        }
    }

    /// Returns the formats of the file, from the outermost to the innermost.
    pub(super) fn format(&self) -> &str {
        &self.format
    }

    /// Returns the warnings about the file's history.
    pub(super) fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// Continues building the groups of allocations, which is the last step of opening a file.
    pub(super) fn build_groups(&mut self, slice: &mut TimeSlice) -> SliceResult {
        self.groups.step(&self.snapshot, &self.histories, &mut self.sites, slice)
    }

    /// Continues precomputing live checkpoints, categories, segments and versions. This is optional and only makes
    /// answers faster.
    pub(super) fn prepare(&mut self, slice: &mut TimeSlice) -> SliceResult {
        for history in &mut self.histories {
            history.live.step(&history.allocations, history.event_count() + 1, slice)?;
        }
        self.categorize(slice)?;
        for (history, segments) in self.histories.iter().zip(&mut self.segments) {
            segments.step(&self.snapshot, history, slice)?;
        }
        self.histories.iter().zip(&mut self.versions).try_for_each(|(history, versions)| versions.step(history, slice))
    }

    /// Does all the work of [`OpenFile::prepare`] in a single call.
    pub(super) fn prepare_all(&mut self) {
        let has_time = &mut || true;
        let mut slice = TimeSlice::new(has_time);
        while self.prepare(&mut slice).is_err() {}
    }

    /// Continues computing the mapped ranges of a device over time. Once finished, [`OpenFile::segments`] returns all
    /// ranges. Does nothing if there is no such device.
    pub(super) fn compute_segments(&mut self, device: i64, slice: &mut TimeSlice) -> SliceResult {
        let OpenFile { snapshot, histories, segments, .. } = self;
        let known = histories.iter().zip(segments).find(|(history, _)| history.device == device);
        known.map_or(Ok(()), |(history, segments)| segments.step(snapshot, history, slice))
    }

    /// Returns the mapped ranges of a device over time. Complete once [`OpenFile::compute_segments`] has finished.
    pub(super) fn segments(&self, device: i64) -> Option<&SegmentLifetimes> {
        let known = self.histories.iter().zip(&self.segments).find(|(history, _)| history.device == device);
        known.map(|(_, segments)| segments)
    }

    /// Continues computing the versions for the events of a device. Once finished, [`OpenFile::version_of`] returns
    /// them.
    pub(super) fn compute_versions(&mut self, device: i64, slice: &mut TimeSlice) -> SliceResult {
        let known = self.histories.iter().zip(&mut self.versions).find(|(history, _)| history.device == device);
        known.map_or(Ok(()), |(history, versions)| versions.step(history, slice))
    }

    /// Returns the version of the block or segment of an event. [`OpenFile::compute_versions`] must have finished.
    pub(super) fn version_of(&self, history: &DeviceHistory, event: u32) -> u32 {
        let mut known = self.histories.iter().zip(&self.versions);
        let known = known.find(|(known, _)| known.device == history.device);
        known.map_or(0, |(_, versions)| versions.event_version(history, event))
    }

    /// Returns whether any device has events.
    pub(super) fn has_events(&self) -> bool {
        self.histories.iter().any(|history| history.event_count() > 0)
    }

    pub(super) fn history(&self, device: i64) -> Option<&DeviceHistory> {
        self.histories.iter().find(|history| history.device == device)
    }

    /// Returns the data of a device, and the cached stack trees. `None` if there is no such device.
    pub(super) fn device_with_trees(&mut self, device: i64) -> Option<(DeviceData<'_>, &mut StackTrees)> {
        let OpenFile { snapshot, histories, rounding, groups, found, stack_trees, .. } = self;
        let history = histories.iter().find(|history| history.device == device)?;
        Some((DeviceData { snapshot, history, groups, rounding, found: found.as_ref() }, stack_trees))
    }

    /// Returns the data of the device with this history. The result has no search matches.
    pub(super) fn device_data<'a>(&'a self, history: &'a DeviceHistory) -> DeviceData<'a> {
        DeviceData { snapshot: &self.snapshot, history, groups: &self.groups, rounding: &self.rounding, found: None }
    }

    /// Sets the category rules.
    pub(super) fn set_categories(&mut self, set: Arc<CompiledSet>) {
        self.groups.categories = Categories::new(set);
        self.orders.retain(|stacked| stacked.by != Grouping::Category);
    }

    /// Continues classifying the allocations into categories.
    pub(super) fn categorize(&mut self, slice: &mut TimeSlice) -> SliceResult {
        self.find_backward(slice)?;
        self.groups.categories.step((&self.snapshot, &self.backward), &self.histories, slice)
    }

    /// Continues searching for the stacks of the backward pass.
    pub(super) fn find_backward(&mut self, slice: &mut TimeSlice) -> SliceResult {
        self.backward.step(&self.snapshot, slice)
    }

    /// Continues searching for the stacks of the forward pass.
    pub(super) fn find_forward(&mut self, slice: &mut TimeSlice) -> SliceResult {
        self.forward.match_query(&self.snapshot, FORWARD_QUERY, slice)
    }

    /// Returns whether a stack has a frame of the forward pass. [`OpenFile::find_forward`] must have finished.
    pub(super) fn is_forward(&self, stack: StackId) -> bool {
        self.forward.stacks.contains(stack.0)
    }

    /// Returns whether a stack has one frame of the forward pass, and its caller. [`OpenFile::find_forward`] must have
    /// finished.
    pub(super) fn is_of_outer_module(&self, stack: StackId) -> bool {
        let is_forward = |frame: FrameId| self.forward.frames.contains(frame.0);
        let mut frames = self.snapshot.stacks.frames(stack).skip_while(|&frame| !is_forward(frame));
        frames.next();
        let has_caller = frames.next().map(|frame| !is_forward(frame));
        has_caller == Some(true) && !frames.any(is_forward)
    }

    /// Continues matching stacks or metadata against a query until all are tested or the time slice is used up. For a
    /// query about categories, classifies allocations instead. Does nothing for other queries.
    pub(super) fn match_stacks(
        &mut self,
        stacks: &mut StackMatch,
        query: &Query,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        match query {
            Query::Category(_) => self.categorize(slice),
            Query::Frame(matcher) => stacks.match_frames(&self.snapshot, matcher, slice),
            Query::Metadata(matcher) => stacks.match_metadata(&self.snapshot, matcher, slice),
            Query::Site(matcher) => stacks.match_sites(&self.snapshot, matcher, &mut self.sites, slice),
            _ => Ok(()),
        }
    }
}
