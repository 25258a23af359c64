//! Plots of an open file: stacking orders, scenes, hit tests and outlines.

use super::{OpenFile, StackingOrder};
use crate::origin::{has_stack, site_with_name, stack_of};
use analysis::site;
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, Curve, DeviceHistory};
use history::snapshot::StackId;
use picture::timeline::{self, Axis, OrderBuilder, OutlineRect, Paint, View};
use protocol::{Grouping, Highlight, HitAllocation, Overview, Plot, PlotSettings};

/// Number of stacking orders to cache if each covers all allocations of the file. An order takes eight bytes per
/// allocation.
const ORDERS_KEPT: usize = 2;

impl OpenFile {
    /// Returns the colour of an allocation.
    pub(crate) fn paint(&self, history: &DeviceHistory, id: AllocationId, by: Grouping) -> Paint {
        if history.allocations.is_unexplained(id) {
            return Paint::UNEXPLAINED;
        }
        Paint::new(self.groups.slot(by, self.groups.group_of(&self.snapshot, history, id, by)), id.0)
    }

    /// Calls `work` with the data that a plot is drawn from: the history of a device, or its reserved memory. The
    /// stacking order must have been computed by [`OpenFile::prepare_picture`].
    pub(crate) fn with_source<R>(
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

    /// Continues computing the data that a plot needs with these display settings: categories, and a stacking order or
    /// a layout.
    pub(crate) fn prepare_picture(
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
    pub(crate) fn prepare_picture_now(&mut self, device: i64, plot_settings: PlotSettings) {
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
    pub(crate) fn collect_highlight(
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
    pub(crate) fn hit(
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
    pub(crate) fn hit_allocation(&mut self, device: i64, id: AllocationId, lowest_byte: u64) -> Option<HitAllocation> {
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
    pub(crate) fn overview(&self, device: i64, axis: Axis, width_px: u32) -> Option<Overview> {
        let first = self.history(device)?.events.first();
        self.with_source(device, PlotSettings::default(), |source| {
            let (total, reserved) = timeline::silhouette(source, axis, first, width_px);
            Overview { axis, total, reserved }
        })
    }

    /// Returns the outline of an allocation in a window. `None` if there is no such device.
    pub(crate) fn outline(
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
}
