//! The plot on the vertical axis: the stack, addresses or reserved bytes, of all memory or a part. Also sends the
//! requests to the worker that the plots need.
//!
//! A change of the plot does not change the horizontal range. The vertical range is stored separately for each plot and
//! device.

mod data;

pub use data::{NAMES, PlotAction, Plots, name};
pub(crate) use data::{lookup, push_bounded, unfiltered, with_filter, with_heights_of, without_curves};
pub(crate) use line::MemoryPart;
pub use selected_segment::{SegmentView, SelectedSegment};

pub mod axis;
pub mod curves;
pub mod line;
pub mod segment;
mod selected_segment;
pub mod view;

use super::change::{AskPhase, Change};
use super::effect::Effect;
use super::navigate::Plane;
use super::part::Part;
use super::shared::Shared;
use picture::timeline::View;
use protocol::{AddressMap, Answer, DeviceSummary, MemoryFilter, Overview, Plot, Question};

use std::rc::Rc;

impl Shared {
    /// Returns the plot of the device at `index`. A segment filter applies only to the focused device. The lanes of
    /// other devices show all segments.
    pub(super) fn plot_of(&self, index: usize) -> Plot {
        let only = self.plot_settings.plot.filter();
        if index == self.device_index {
            self.plot_settings.plot
        } else {
            with_filter(self.plot_settings.plot, MemoryFilter { address: None, ..only })
        }
    }

    fn memory_part(&self, index: usize) -> Option<MemoryPart> {
        Some((self.device_at(index)?.device, self.plot_of(index).filter()))
    }

    fn index_of_device(&self, device: &DeviceSummary) -> usize {
        let all = self.drawn_file().map_or(&[][..], |file| &file.devices);
        all.iter().position(|other| other.device == device.device).unwrap_or(self.device_index)
    }

    /// Returns the address map of the device at `index`, once it is known.
    pub fn address_map(&self, index: usize) -> Option<&Rc<AddressMap>> {
        lookup(&self.plots.maps, self.memory_part(index)?)
    }

    /// Returns the overview curve of the shown part of memory, once it is known. Without a filter, returns the overview
    /// of the stack plot.
    pub fn overview(&self) -> Option<&Rc<Overview>> {
        if self.partial().is_some() {
            return self.partial_overview();
        }
        let part = self.memory_part(self.device_index)?;
        if part.1 == MemoryFilter::default() {
            return self.surroundings.overview.answer_to(&self.axis);
        }
        lookup(&self.plots.overviews, (part, self.axis))
    }

    /// Returns the height of a device's plot, in bytes of the vertical axis. `None` until it is known.
    pub(super) fn plot_height(&self, device: &DeviceSummary) -> Option<u64> {
        let part = || self.memory_part(self.index_of_device(device));
        match self.plot_settings.plot {
            Plot::Stack => Some(device.drawn_peak),
            Plot::Addresses(_) => lookup(&self.plots.maps, part()?).map(|map| map.height),
            Plot::Reserved(only) if only == MemoryFilter::default() => u64::try_from(device.peak_reserved).ok(),
            Plot::Reserved(_) => {
                let overview = lookup(&self.plots.overviews, (part()?, self.axis))?;
                overview.reserved.iter().copied().max()
            }
        }
    }

    /// Extends the drawable area (`plane`) of a device to the height of its plot, the GPU capacity line, a planned
    /// curve and a compared device. In a plot of addresses, only the plot itself counts.
    pub(super) fn fit_plane_to_plot(&self, mut plane: Plane, device: &DeviceSummary) -> Plane {
        if self.plot_settings.plot != Plot::Stack {
            plane.extent.bytes = self.plot_height(device).unwrap_or(0).max(1);
        }
        let planned = self.drawn_peak().filter(|_| !matches!(self.plot_settings.plot, Plot::Addresses(_)));
        let compared = self.comparing.pair.filter(|_| !matches!(self.plot_settings.plot, Plot::Addresses(_)));
        // Compared lanes share one scale.
        let compared = compared.into_iter().flatten().filter_map(|index| {
            let device = self.device_at(index)?;
            match self.plot_settings.plot {
                Plot::Stack => Some(Plane::for_device(device, self.axis).extent.bytes),
                _ => self.plot_height(device),
            }
        });
        plane.extended_to(self.capacity_line().max(planned).max(compared.max()).unwrap_or(0))
    }

    /// Returns the typed GPU capacity, unless the vertical axis shows addresses.
    pub(super) fn capacity_line(&self) -> Option<u64> {
        self.tools.capacity.filter(|_| !matches!(self.plot_settings.plot, Plot::Addresses(_)))
    }

    /// Returns the reason why the byte axis cannot be fitted to the window. `None` if it can.
    pub fn no_fit_reason(&self) -> Option<&'static str> {
        matches!(self.plot_settings.plot, Plot::Addresses(_)).then_some("Not available in the Addresses view")
    }

    /// Returns the reason why the stacking order of the plot cannot be chosen. `None` if it can.
    pub fn no_order_reason(&self) -> Option<&'static str> {
        match self.plot_settings.plot {
            Plot::Stack | Plot::Reserved(_) => None,
            Plot::Addresses(_) => Some("Only the Live and Reserved views have an order"),
        }
    }

    /// Shows another plot or another part of memory.
    pub(super) fn show_plot(&mut self, plot: Plot) {
        if plot == self.plot_settings.plot {
            return;
        }
        let windows: Vec<(i64, Plot, View)> = self
            .shown_lanes()
            .filter(|lane| self.plot_height(lane.device).is_some())
            .map(|lane| (lane.device.device, self.plot_of(lane.index), *lane.view))
            .collect();
        for window in windows {
            self.plots.windows.retain(|(device, plot, _)| (*device, *plot) != (window.0, window.1));
            push_bounded(&mut self.plots.windows, window);
        }
        let is_other_kind = name(plot) != name(self.plot_settings.plot);
        self.plot_settings.plot = plot;
        // Scenes, ruler and hover depend on the height, which has another meaning now.
        self.drop_scenes();
        self.reset_heights();
        if is_other_kind && plot == Plot::Stack {
            self.plots.selected_segment = None;
        }
        self.lane_indices().into_iter().for_each(|index| self.restore_heights(index));
    }

    /// Clears the ruler, the hover state and drags, because heights now have another meaning.
    fn reset_heights(&mut self) {
        self.remove_ruler();
        self.follow_pointer();
        (self.hover, self.question, self.tools.kept_selection) = (None, None, None);
        self.tools.drag = super::drag::Drag::None;
    }

    /// Clears the selected segment and the segment filter, which do not apply to another device.
    pub(super) fn clear_segment(&mut self) {
        self.plots.selected_segment = None;
        let only = self.plot_settings.plot.filter();
        if only.address.is_some() {
            self.show_plot(with_filter(self.plot_settings.plot, MemoryFilter { address: None, ..only }));
        }
    }

    /// Restores the vertical window that a lane last had with its current plot. Shows the full height if there is none.
    fn restore_heights(&mut self, index: usize) {
        let Some(device) = self.device_at(index) else { return };
        let (plane, ordinal, plot) = (self.plane_of(device), device.device, self.plot_of(index));
        let kept = self.plots.windows.iter().find(|(device, of, _)| (*device, *of) == (ordinal, plot));
        let kept = kept.map(|(_, _, view)| *view);
        self.navigate_lane(index, |_, now| with_heights_of(plane, now, kept));
    }

    /// Returns the pools and streams to choose from. Empty until the worker has replied.
    pub fn pools_and_streams(&self) -> (&[(u64, u64)], &[u64]) {
        self.address_map(self.device_index).map_or((&[], &[]), |map| (&map.pools, &map.streams))
    }
}

/// Handles a choice in the pickers.
pub(super) fn handle_action(state: &mut Shared, action: PlotAction) {
    let plot = state.plot_settings.plot;
    let (pools, streams) = state.pools_and_streams();
    let only = plot.filter();
    let wanted = match action {
        PlotAction::KindChosen(index) => match index {
            0 => Plot::Stack,
            1 => Plot::Addresses(only),
            _ => Plot::Reserved(only),
        },
        PlotAction::Pool(index) => {
            let pool = index.and_then(|index| pools.get(index)).copied();
            with_filter(plot, MemoryFilter { pool, address: None, ..only })
        }
        PlotAction::Stream(index) => {
            let stream = index.and_then(|index| streams.get(index)).copied();
            with_filter(plot, MemoryFilter { stream, address: None, ..only })
        }
    };
    state.show_plot(wanted);
}

/// Requests data that the plot needs, with at most one pending request of each kind.
fn ask(state: &mut Shared, _: i64, effects: &mut Vec<Effect>) {
    if state.plot_settings.plot == Plot::Stack {
        return;
    }
    if state.plots.pending_map.is_none() {
        let mut shown = state.lane_indices().into_iter().filter_map(|place| state.memory_part(place));
        let missing = shown.find(|part| lookup(&state.plots.maps, *part).is_none());
        if let Some(part) = missing {
            let serial = state.next_serial();
            state.plots.pending_map = Some((serial, part));
            effects.push(Effect::ask(serial, part.0, Question::Map(part.1)));
        }
    }
    if state.plots.pending_curves.is_none()
        && let Some(wanted) = state.missing_curves()
    {
        let serial = state.next_serial();
        let (device, query) = wanted.query();
        state.plots.pending_curves = Some((serial, wanted));
        effects.push(Effect::ask(serial, device, query));
    }
}

/// Registration of the plots: callbacks for changes, requests and replies.
pub(super) const PART: Part = Part { reset, asks: &[(AskPhase::BeforeScene, ask)], take };

/// Handles a change of device. Keeps the user's settings, except for the shown part of memory.
fn reset(state: &mut Shared, change: Change) {
    if change == Change::Device {
        state.plots = Plots { hidden_lines: std::mem::take(&mut state.plots.hidden_lines), ..Plots::default() };
        state.plot_settings.plot = unfiltered(state.plot_settings.plot);
    }
}

fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    match answer {
        Answer::Map(map) => {
            if let Some((_, part)) = state.plots.pending_map.take_if(|(asked, _)| *asked == serial) {
                state.apply_reply(|plots| push_bounded(&mut plots.maps, (part, Rc::from(map))));
            }
        }
        Answer::Curves(curves) => curves::on_curves(state, serial, *curves),
        other => return Some(other),
    }
    None
}

impl Shared {
    /// Applies a reply that may determine the heights of plots. Then restores the vertical window of each lane whose
    /// height became known.
    fn apply_reply(&mut self, take: impl FnOnce(&mut Plots)) {
        let unknown = |state: &Shared| -> Vec<usize> {
            let is_unknown = |index: &usize| state.device_at(*index).is_some_and(|it| state.plot_height(it).is_none());
            state.lane_indices().into_iter().filter(is_unknown).collect()
        };
        let before = unknown(self);
        take(&mut self.plots);
        let after = unknown(self);
        before.into_iter().filter(|index| !after.contains(index)).for_each(|index| self.restore_heights(index));
    }
}
