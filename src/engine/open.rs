//! An open file: its snapshot, the history of each device, and data derived from them.

use super::backend::backend;
use super::backward_stacks::BackwardStacks;
use super::categories::Categories;
use super::device::DeviceData;
use super::groups::Groups;
use super::origin::{has_stack, site_with_name, stack_of};
use super::plots::PlotCache;
use super::recorder_facts;
use super::search_matches::SearchMatches;
use super::stack_trees::StackTrees;
use analysis::{CategorySet, Sites, site};
use base::heap::{self, HeapBytes};
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, Curve, DeviceHistory, Rounding, SegmentLifetimes, Versions};
use history::snapshot::{Action, Snapshot, StackId, WarningKind, Warnings};
use intake::LoadedFile;
use picture::timeline::{self, Axis, Order, OrderBuilder, OutlineRect, Paint, View};
use protocol::{
    Backend, DeviceSummary, FileSummary, Grouping, Highlight, HitAllocation, Overview, Plot, PlotSettings, SCHEMA,
    Warning,
};

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

/// Number of stacking orders to cache if each covers all allocations of the file. An order takes eight bytes per
/// allocation.
const ORDERS_KEPT: usize = 2;

impl OpenFile {
    pub(super) fn new(loaded: LoadedFile) -> OpenFile {
        let LoadedFile { name, format, snapshot, histories, warnings } = loaded;
        let backend = backend(&snapshot);
        let sites = Sites::new(&snapshot);
        let rounding = Rounding::from_settings(&snapshot.settings);
        let groups = Groups::new(&snapshot);
        let orders = Vec::new();
        let (backward, stack_trees, plots) = Default::default();
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
            rounding,
            name,
            format,
            warnings,
            groups,
            orders,
            found: None,
            stack_trees,
            plots,
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

    /// Returns the stack of an allocation, which is recorded at its alloc event or its block. If neither has a stack,
    /// returns the stack of its free.
    pub(super) fn stack(&self, history: &DeviceHistory, id: AllocationId) -> StackId {
        stack_of(&self.snapshot, history, id)
    }

    /// Returns the colour of an allocation.
    pub(super) fn paint(&self, history: &DeviceHistory, id: AllocationId, by: Grouping) -> Paint {
        if history.allocations.is_unexplained(id) {
            return Paint::UNEXPLAINED;
        }
        Paint::new(self.groups.slot(by, self.groups.group_of(&self.snapshot, history, id, by)), id.0)
    }

    /// Calls `work` with the data that a plot is drawn from: the history of a device, or its reserved memory. The
    /// stacking order must have been computed by [`OpenFile::prepare_picture`].
    pub(super) fn with_source<R>(
        &self,
        device: i64,
        plot_settings: PlotSettings,
        work: impl FnOnce(&timeline::Source<'_>) -> R,
    ) -> Option<R> {
        if let Plot::Reserved(_) = plot_settings.plot {
            return self.with_reserved(device, plot_settings, work);
        }
        let history = self.history(device)?;
        let order = self.orders.iter().find(|it| it.device == device && Some(it.by) == plot_settings.stacking);
        let drawn = |event: EventIdx| history.drawn_change(event);
        let reserved = |event: EventIdx| history.reserved_change(event);
        let pending = |event: EventIdx| history.awaiting_free_change(event);
        let paint = |id: AllocationId| self.paint(history, id, plot_settings.colouring);
        let found = match (plot_settings.highlight, &self.found) {
            (Highlight::Found(serial), Some(found)) if (found.serial, found.device) == (serial, device) => Some(found),
            _ => None,
        };
        let is_found = found.map(|found| |id: AllocationId| found.matches.contains(id.0));
        let has_stack = match plot_settings.highlight {
            Highlight::Stack(stack) => {
                Some(move |id: AllocationId| has_stack(&self.snapshot, history, id, StackId(stack)))
            }
            _ => None,
        };
        let by_stack = has_stack.as_ref().map(|is_highlighted| is_highlighted as &dyn Fn(AllocationId) -> bool);
        let data = self.device_data(history);
        let is_below = match plot_settings.highlight {
            Highlight::Node(arrangement, node) => self.stack_trees.subtree(arrangement, node),
            _ => None,
        };
        let is_below =
            is_below.map(|subtree| |id: AllocationId| subtree.contains(&self.stack_trees.stack_keys, data, id));
        let by_node = is_below.as_ref().map(|is_highlighted| is_highlighted as &dyn Fn(AllocationId) -> bool);
        Some(work(&timeline::Source {
            allocations: &history.allocations,
            live: &history.live,
            order: order.and_then(|it| it.order.as_ref()),
            clock: history.events.times.time_axis(),
            requested: Curve::new(&history.drawn, &drawn),
            reserved: Curve::new(&history.reserved, &reserved),
            pending: Curve::new(&history.awaiting_free, &pending),
            paint: &paint,
            highlight: is_found.as_ref().map(|is_highlighted| is_highlighted as _).or(by_stack).or(by_node),
        }))
    }

    /// Sets the category rules.
    pub(super) fn set_categories(&mut self, set: &CategorySet) {
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

    /// Continues computing the data that a plot needs with these display settings: categories, and a stacking order or
    /// a layout.
    pub(super) fn prepare_picture(
        &mut self,
        device: i64,
        plot_settings: PlotSettings,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let uses_categories =
            [plot_settings.stacking, Some(plot_settings.colouring)].contains(&Some(Grouping::Category));
        if uses_categories {
            self.categorize(slice)?;
        }
        if plot_settings.plot != Plot::Stack {
            return self.prepare_plot(device, plot_settings, slice);
        }
        let Some(by) = plot_settings.stacking else { return Ok(()) };
        let known = self.orders.iter().position(|it| it.device == device && it.by == by);
        let count = self.history(device).map_or(0, |history| history.allocations.len());
        let new = || StackingOrder { device, by, count, builder: OrderBuilder::default(), order: None };
        let mut stacked = known.map_or_else(new, |index| self.orders.remove(index));
        let result = self.build_order(&mut stacked, slice);
        self.keep_order(stacked);
        result
    }

    /// Does all the work of [`OpenFile::prepare_picture`] in a single call. Usually nothing is left to do, because the
    /// scene was prepared before.
    pub(super) fn prepare_picture_now(&mut self, device: i64, plot_settings: PlotSettings) {
        let _ = self.prepare_picture(device, plot_settings, &mut TimeSlice::new(&mut || true));
    }

    fn build_order(&self, stacked: &mut StackingOrder, slice: &mut TimeSlice) -> SliceResult {
        let StackingOrder { device, by, count, builder, order } = stacked;
        let Some(history) = self.history(*device).filter(|_| order.is_none()) else { return Ok(()) };
        if builder.is_empty() {
            *builder = OrderBuilder::new(*count);
        }
        let mut next = builder.len();
        while let Some(part) = slice.next_range(&mut next, *count, 1)? {
            part.for_each(|id| {
                builder.push(self.groups.group_of(&self.snapshot, history, AllocationId(id as u32), *by));
            });
        }
        *order = Some(builder.step(slice)?);
        *builder = OrderBuilder::default();
        Ok(())
    }

    /// Continues collecting the stacks of a highlighted node.
    pub(super) fn collect_highlight(
        &mut self,
        device: i64,
        highlight: Highlight,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let Highlight::Node(arrangement, node) = highlight else { return Ok(()) };
        match self.device_with_trees(device) {
            Some((data, answers)) => answers.collect_subtree(data, arrangement, node, slice),
            None => Ok(()),
        }
    }

    /// Caches a stacking order and drops the oldest orders. If several devices are shown side by side, the current and
    /// the previous order of each device stay cached.
    fn keep_order(&mut self, newest: StackingOrder) {
        self.orders.push(newest);
        let limit = ORDERS_KEPT * self.histories.iter().map(|history| history.allocations.len()).sum::<usize>();
        let kept = self.orders.iter().rev().scan(0, |sum, stacked| {
            *sum += stacked.count;
            (*sum <= limit).then_some(())
        });
        let dropped = self.orders.len() - kept.count().max(1);
        self.orders.drain(..dropped);
    }

    /// Returns the allocation at a moment and a height in the plot, in bytes. `None` if there is none.
    pub(super) fn hit(
        &mut self,
        device: i64,
        plot_settings: PlotSettings,
        moment: u32,
        byte: u64,
    ) -> Option<HitAllocation> {
        self.prepare_picture_now(device, plot_settings);
        let hit =
            self.with_source(device, plot_settings, |source| timeline::stack_at(source, Moment(moment), byte))??;
        self.hit_allocation(device, hit.allocation, hit.lowest_byte)
    }

    /// Returns the facts about an allocation for a tooltip. `lowest_byte` is the height of its lower edge in the plot,
    /// in bytes.
    pub(super) fn hit_allocation(&mut self, device: i64, id: AllocationId, lowest_byte: u64) -> Option<HitAllocation> {
        let history = self.histories.iter().find(|history| history.device == device)?;
        let stack = stack_of(&self.snapshot, history, id);
        let site = self.sites.call_site(&self.snapshot, stack);
        let site = site.map(|frame| site::short(&self.snapshot, self.snapshot.frames.frame(frame))).unwrap_or_default();
        Some(HitAllocation {
            allocation: id.0,
            requested: history.allocations.size(id),
            allocated_at: history.allocations.allocated_at(id).0,
            freed_at: history.allocations.freed_at(id).map(|moment| moment.0),
            lowest_byte,
            call_site: Some(site_with_name(&self.snapshot, history, id, site)).filter(|site| !site.is_empty()),
            category: self.groups.categories.name(history, id),
        })
    }

    /// Returns the overview curves of a device. `None` if there is no such device.
    pub(super) fn overview(&self, device: i64, axis: Axis, width_px: u32) -> Option<Overview> {
        let first = self.history(device)?.events.first();
        self.with_source(device, PlotSettings::default(), |source| {
            let (total, reserved) = timeline::silhouette(source, axis, first, width_px);
            Overview { axis, total, reserved }
        })
    }

    /// Returns the outline of an allocation in a window. `None` if there is no such device.
    pub(super) fn outline(
        &mut self,
        device: i64,
        plot_settings: PlotSettings,
        view: &View,
        allocation: u32,
    ) -> Option<Vec<OutlineRect>> {
        if plot_settings.plot != Plot::Stack {
            return self.outline_in_plot(device, plot_settings, view, AllocationId(allocation));
        }
        self.prepare_picture_now(device, plot_settings);
        self.with_source(device, plot_settings, |source| {
            timeline::exact_outline(source, view, AllocationId(allocation))
        })
    }

    pub(super) fn summary(&self) -> FileSummary {
        let warnings = self.snapshot.warnings.iter().chain(self.warnings.iter());
        FileSummary {
            schema: SCHEMA,
            file: self.name.clone(),
            format: self.format.clone(),
            torch: self.snapshot.torch.map(|(since, _)| format!("{since} or later")),
            warnings: warnings
                .map(|(kind, count, example)| Warning {
                    kind: kind.name().to_owned(),
                    message: self.warning_message(kind),
                    count,
                    example: example.to_owned(),
                })
                .collect(),
            devices: self.histories.iter().map(|history| self.device_summary(history)).collect(),
            settings: self.snapshot.settings.clone(),
            pools: self.groups.named_pools(),
            recorder: self.snapshot.recorder.process_facts(),
        }
    }

    /// Returns the message of a warning. Functions that it names are those for the devices of the file.
    pub(super) fn warning_message(&self, kind: &WarningKind) -> String {
        let message = kind.message();
        match kind {
            WarningKind::NoStacks | WarningKind::NotRecorded | WarningKind::FromProfiler(_) => {
                message.replace(Backend::Cuda.module(), self.backend.module())
            }
            _ => message,
        }
    }

    fn device_summary(&self, history: &DeviceHistory) -> DeviceSummary {
        let recorder = recorder_facts::recorder_facts(&self.snapshot, history);
        DeviceSummary { recorder, ..device_summary(history, self.backend) }
    }

    /// Returns the heap usage in bytes of each table.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.snapshot.heap_bytes();
        bytes.extend(self.histories.iter().flat_map(DeviceHistory::heap_bytes));
        bytes.push(("orders", heap::sum(self.orders.iter().map(|stacked| &stacked.order))));
        bytes.push((
            "call sites and colours",
            self.groups.heap_bytes() + self.sites.heap_bytes() + self.backward.heap_bytes(),
        ));
        bytes.push(("segments over time", heap::sum(&self.segments)));
        bytes.push(("pictures", self.plots.heap_bytes()));
        bytes.push(("versions", heap::sum(&self.versions)));
        bytes.push(("answers", self.stack_trees.heap_bytes()));
        bytes.push(("search", self.found.heap_bytes()));
        bytes
    }
}

fn device_summary(history: &DeviceHistory, backend: Backend) -> DeviceSummary {
    let numbers = &history.numbers;
    let actions = Action::ALL.iter().zip(history.action_counts);
    DeviceSummary {
        device: history.device,
        backend,
        events: u64::from(history.event_count()),
        loaded: history.loaded().map(|loaded| (loaded.first, loaded.later_events)),
        actions: actions.filter(|&(_, count)| count > 0).map(|(a, count)| (a.name().to_owned(), count)).collect(),
        allocations: numbers.allocations,
        base_requested: numbers.baseline,
        peak_requested: numbers.peak,
        peak_event: numbers.peak_event,
        min_requested: numbers.min,
        mean_requested: numbers.mean,
        median_requested: numbers.median,
        time_weighted_mean_requested: numbers.time_weighted_mean,
        end_requested: numbers.end,
        end_rounded: numbers.end_rounded,
        unmatched_frees: numbers.unmatched_frees,
        unmatched_free_bytes: numbers.unmatched_free_bytes,
        static_blocks: numbers.static_blocks,
        static_requested: numbers.static_bytes,
        identity: numbers.remainder == 0,
        unexplained_requested: u64::try_from(numbers.remainder).unwrap_or(0),
        reserved_start: numbers.reserved_start,
        reserved_end: numbers.reserved_end,
        peak_reserved: numbers.peak_reserved,
        segments: numbers.segments,
        annotations: numbers.annotations,
        time_us: numbers.time_us,
        drawn_peak: numbers.drawn_peak,
        recorder: Vec::new(),
    }
}
